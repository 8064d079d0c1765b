"""What a collection is written in, what the embedding model can read of it, and what to tell the user about that."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import StorageBusy, StorageFull, StorageReadOnly
from amem.language import written_in_cjk
from amem.protocols import Literate
from amem.storage.rows import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem.collection import Collection
    from amem.protocols import Embedder
    from amem.storage.store import Session

# What the embedding model can read of a question, and of a collection: how far nearness by meaning is to be trusted.
#
# An English model puts Chinese texts somewhere, and near to each other, without knowing what they say. Its opinion on
# a question counts for as much of the question as its vocabulary has words for: nearly nothing for a Chinese one,
# something for a mixed one. Words, names, facts and times then carry the answer.

#: Notes looked at, spread over the collection, and characters of each.
_SAMPLE = 200
_LONGEST = 200
#: Fewer notes say nothing yet of what a collection will be written in.
_LEAST = 5
_MOSTLY = 0.5
#: Fewer notes in another language are a quotation or two.
_SOME = 0.02
#: Notes that the model is tried on.
_TRIED = 20
#: Share of the collection that may change before its language is looked at again.
_DRIFT = 0.02

_TEXTS = f"SELECT substr(content, 1, {_LONGEST}) FROM notes WHERE status = 'active'"


# GLOB takes ranges of characters: kana, Han and hangul. Few notes that hold one are written in another script.
_HOLDS_CJK = f"{_TEXTS} AND content GLOB '*[\u3041-\u9fff\uac00-\ud7af]*' LIMIT {_SAMPLE}"


def written_in_other_script(session: Session) -> str:
    """The beginning of a note in Chinese, Japanese or Korean; '' where there is none. Looks at every note."""
    found = session.column(_HOLDS_CJK)
    return next((text for text in found if written_in_cjk(text)), "")


def dense_trust(embedder: Embedder, text: str) -> float:
    """What nearness by meaning is worth for this question, 0..1, a factor on the dense leg's weight.

    1 for ASCII text (at no cost), and for a model that cannot tell, as those on a server.
    """
    if text.isascii():
        return 1.0
    return embedder.knows(text) if isinstance(embedder, Literate) else 1.0


@dataclass(frozen=True, slots=True)
class Languages:
    """What a sample of a collection's notes is written in: `cjk` is the share in Chinese, Japanese or Korean, 0..1.

    `tried` are some of the latter. The same notes are looked at by every process.
    """

    notes: int
    cjk: float
    tried: tuple[str, ...]

    @property
    def mostly_cjk(self) -> bool:
        """Whether most notes are, and there are enough of them to tell."""
        return self.notes >= _LEAST and self.cjk > _MOSTLY

    def read_by(self, embedder: Embedder) -> bool:
        """Whether the model has words for most of what the collection is written in; may load it."""
        if not self.mostly_cjk:
            return True
        return sum(dense_trust(embedder, text) for text in self.tried) > _MOSTLY * len(self.tried)

    def foreign_to(self, question: str, embedder: Embedder) -> bool:
        """Whether some notes are in another script than the question, and the model cannot read one of the two."""
        if written_in_cjk(question):
            return self.cjk <= 1.0 - _SOME and dense_trust(embedder, question) < _MOSTLY
        if self.cjk < _SOME or not self.tried:
            return False
        return sum(dense_trust(embedder, text) for text in self.tried) < _MOSTLY * len(self.tried)


class LanguagesOf:
    """The languages of one collection, looked at anew when a fiftieth of it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counter = -1
        self._found = Languages(0, 0.0, ())

    def of(self, session: Session) -> Languages:
        """What the collection is written in."""
        counter = session.counter
        with self._lock:
            # A bulk write moves the counter once for many notes: the drift allowed is small beside the collection.
            if self._counter < 0 or abs(counter - self._counter) > _DRIFT * self._found.notes / 64:
                self._found, self._counter = _look(session), counter
            return self._found


def _look(session: Session) -> Languages:
    texts = _sample(session)
    cjk = [text for text in texts if written_in_cjk(text)]
    return Languages(session.notes.count(), len(cjk) / len(texts) if texts else 0.0, tuple(cjk[:_TRIED]))


def _sample(session: Session) -> list[str]:
    ((first, last),) = session.rows("SELECT min(key), max(key) FROM notes")
    if first is None:
        return []
    step = max(1, (last - first) // _SAMPLE)
    keys = listed(range(first, last + 1, step))
    spread = session.column(f"{_TEXTS} AND key IN (SELECT value FROM json_each(:keys))", keys=keys)
    # Where most of those keys are gone, any notes will do.
    return spread or session.column(f"{_TEXTS} LIMIT {_SAMPLE}")


# What to tell the user where most notes are in a language that the model cannot read: once, or when asked.

_log = logging.getLogger("amem")

#: Small and quick by sentence-transformers, and the best that Ollama serves; both read about a hundred languages.
MULTILINGUAL = ("paraphrase-multilingual-MiniLM-L12-v2", "ollama/bge-m3")
_ABOUT = "languages"
_READS, _CANNOT = "reads", "cannot-read"
_PATIENCE = 0.25
#: Share of a note's words that a model must know to read it.
_READABLE = 0.5
#: Looked at again when a tenth as many such texts have been met as there are notes.
_TIPS = 10


@dataclass(frozen=True, slots=True)
class Advice:
    """What is wrong, and what helps."""

    what: str
    hint: str

    def __str__(self) -> str:
        return f"{self.what}: {self.hint}"


class LanguageAdvice:
    """Costs nothing until a text in Chinese, Japanese or Korean is met, and nothing once the matter is settled."""

    def __init__(self, collection: Collection, notify: Callable[[str], None] | None) -> None:
        self._store, self._settings = collection.store, collection.settings
        self._embedder = collection.vectorizer.embedder
        self._notify = notify
        self._languages = LanguagesOf()
        self._met = self._settled = False
        self._rest = 0

    def meet(self, texts: Iterable[str]) -> None:
        """Take note of what is asked and noted, and notify the user where the model cannot read most of the notes."""
        self._look_at(texts)
        if self._notify is not None and (advice := self.once()) is not None:
            self._notify(str(advice))

    def _look_at(self, texts: Iterable[str]) -> None:
        if self._met or self._settled:
            return
        for text in texts:
            if not text.isascii() and written_in_cjk(text):
                self._rest -= 1
                if self._rest < 0:
                    self._met = True
                    return

    def once(self) -> Advice | None:
        """What to say; None when it was said before (by any process), no such text was met, or all is well."""
        if not self._met or self._settled or self._store.read_only:
            return None
        model = self._embedder.name
        with self._store.read() as session:
            if (session.remarks.last(_ABOUT) or "").partition(" ")[2] == model:
                self._settled = True
                return None
            languages = self._languages.of(session)
        if not languages.mostly_cjk:
            # It takes more than a few notes to tip that.
            self._met, self._rest = False, languages.notes // _TIPS
            return None
        readable = languages.read_by(self._embedder)
        try:
            with self._store.write(wait=_PATIENCE) as session:
                first = session.remarks.make(_ABOUT, f"{_READS if readable else _CANNOT} {model}")
        except (StorageBusy, StorageFull, StorageReadOnly) as error:
            _log.debug("what there is to say of languages waits: %s", error)
            return None
        self._settled = True
        return self._advice() if first and not readable else None

    def always(self, *, first: bool = False) -> Advice | None:
        """What to say of the collection as it is now; None when all is well, or where only a download could tell.

        With `first` one note that the model cannot read is enough, else it takes most of them.
        """
        from amem.embedding import describe  # what only searches needs none of the embedders

        with self._store.read() as session:
            languages = self._languages.of(session)
            known, _, model = (session.remarks.last(_ABOUT) or "").partition(" ")
            one = "" if languages.mostly_cjk or not first else written_in_other_script(session)
        if one and describe(self._settings).ready and dense_trust(self._embedder, one) < _READABLE:
            return self._advice("some")
        if not languages.mostly_cjk:
            return None
        if model == self._embedder.name:
            return self._advice() if known == _CANNOT else None
        if not describe(self._settings).ready or languages.read_by(self._embedder):
            return None
        return self._advice()

    def _advice(self, share: str = "most") -> Advice:
        small, large = MULTILINGUAL
        place = self._settings.home / "config.toml"
        return Advice(
            f"{share} notes are in Chinese, Japanese or Korean, which {self._embedder.name} cannot read; words, names,"
            " facts and times find them, meaning does not",
            f'write embed_model = "{small}" (or "{large}") into {place}, then run amem reindex',
        )

"""An open collection: what its services share, the embedding of its notes, the languages its model can read."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from amem.clock import Clock, zone
from amem.errors import BadModelAnswer, EmbedderMismatch, StorageBusy, StorageFull, StorageReadOnly
from amem.language import written_in_cjk
from amem.note import Kind, MemoryNote, Status
from amem.protocols import Embedder, Literate, TokenEmbedder
from amem.storage.rows import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.index.vector_rows import Described, VectorDelta
    from amem.language.predicates import Predicates
    from amem.settings import Settings
    from amem.storage.store import Session, Store
    from amem.storage.vectors import Space


@dataclass(frozen=True, slots=True)
class Collection:
    """An open collection, as the services that work on it share it.

    `dense` finds notes by their vectors, which `vectorizer` makes; both are made when first asked for, since a command
    may need neither. `predicates` reads the table of predicates, `folder` is None in memory.
    """

    store: Store
    get_dense: Callable[[], DenseLeg]
    get_vectorizer: Callable[[], Vectorizer]
    settings: Settings
    clock: Clock
    predicates: Callable[[], Predicates]
    folder: Path | None = None

    @property
    def dense(self) -> DenseLeg:
        """Finds notes by their vectors."""
        return self.get_dense()

    @property
    def vectorizer(self) -> Vectorizer:
        """Makes vectors of texts."""
        return self.get_vectorizer()

    @property
    def zone(self) -> tzinfo:
        """That of times given without one."""
        return zone(self.settings.timezone)


# Texts of notes to vectors. NumPy is imported where it is needed: most commands read no vector.

#: The share of a text's words that a model must know for its vector to mean much.
_LITERATE = 0.5
#: Notes that are embedded together.
_PAGE = 256
_EMBEDDED = {"content": ("content", "speaker"), "paper": ("content", "context", "keywords", "tags")}


def embedded_text(note: MemoryNote, recipe: str) -> str:
    """What of a note is embedded: who said what, or A-Mem's concatenation of all it knows (``paper``).

    Of a topic's page its title and summary: the rest are the words of its notes, which have vectors of their own.
    """
    if note.kind is Kind.TOPIC:
        return "\n\n".join(note.content.split("\n\n", 2)[:2])
    if recipe == "content":
        # Questions name people, and what a person said seldom does (docs/adr/0005).
        return f"{note.speaker}: {note.content}" if note.speaker else note.content
    return f"{note.content} {note.context} {' '.join(note.keywords)} {' '.join(note.tags)}".strip()


#: How many numbers a vector has (None: there is none yet), and some vectors by text hash.
Known = tuple[int | None, "dict[bytes, NDArray[np.float32]]"]


class Vectorizer:
    """Embeds notes for one collection and guards that all its vectors are of one model and recipe."""

    def __init__(self, store: Store, embedder: Embedder, recipe: str, *, tokens: bool = True) -> None:
        self._store = store
        self._tokens = tokens
        self.embedder = embedder
        self.recipe = recipe

    def packing(self) -> str:
        """How the words of texts will be kept beside their vectors; '' where they are not wanted or not to be had."""
        from amem.token_vectors import PACKING

        return PACKING if self._by_word is not None and self._by_word.gives_tokens else ""

    @cached_property
    def _by_word(self) -> TokenEmbedder | None:
        """The embedder where the words of texts are wanted and it may give them; each add asks several times."""
        return self.embedder if self._tokens and isinstance(self.embedder, TokenEmbedder) else None

    def reads(self, fields: Iterable[str]) -> bool:
        """True when one of these fields is part of what is embedded."""
        return not set(fields).isdisjoint(_EMBEDDED[self.recipe])

    def text(self, note: MemoryNote) -> str:
        """What of this note is embedded."""
        return embedded_text(note, self.recipe)

    def can_read(self, note: MemoryNote) -> bool:
        """Whether the model has words for at least half of what of this note is embedded.

        Where it has not, notes look alike that have nothing in common. A model that cannot tell is believed.
        """
        text = self.text(note)
        return text.isascii() or not isinstance(self.embedder, Literate) or self.embedder.knows(text) >= _LITERATE

    def hash(self, note: MemoryNote) -> bytes:
        """Address of this note's vector."""
        from amem.storage.vectors import text_hash

        return text_hash(self.text(note))

    def check(self) -> None:
        """Raise EmbedderMismatch when the collection holds vectors of another model or recipe. Loads no model.

        Asks anew each time: another process may have re-indexed the collection since.
        """
        with self._store.read() as session:
            self._compare(session.vectors.space())

    def known(self, session: Session, texts: Sequence[str]) -> Known:
        """What the collection has of these texts' vectors. Raises EmbedderMismatch."""
        from amem.storage.vectors import text_hash

        space = session.vectors.space()
        self._compare(space)
        if space is None:
            return None, {}
        return space.dimension, session.vectors.known(space, list(dict.fromkeys(map(text_hash, texts))))

    def embed(
        self, texts: Sequence[str], known: Known | None = None
    ) -> tuple[dict[bytes, NDArray[np.float32]], set[bytes]]:
        """Vectors by text hash, taken from the collection where it has them; and which had to be computed.

        `known` is what `known` said of these texts; asked in a snapshot of its own where it is not given. Raises
        EmbedderMismatch, and what `compute` raises.
        """
        from amem.storage.vectors import text_hash

        wanted = {text_hash(text): text for text in texts}
        if known is None:
            with self._store.read() as session:
                known = self.known(session, texts)
        dimension, vectors = known
        fresh = [hashed for hashed in wanted if hashed not in vectors]
        if fresh:
            rows = self.compute([wanted[hashed] for hashed in fresh], dimension)
            vectors = vectors | dict(zip(fresh, rows, strict=True))
        return vectors, set(fresh)

    def compute(self, texts: Sequence[str], dimension: int | None = None) -> Sequence[NDArray[np.float32]]:
        """A vector of each text, with its words where they are kept.

        Raises BadModelAnswer for what is not a vector of `dimension`.
        """
        import numpy as np

        given: Sequence[NDArray[np.float32]] | None = None
        if self._by_word is not None:
            given = self._by_word.embed_tokens(texts)
        rows = np.asarray(self.embedder.embed(texts) if given is None else given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or (dimension is not None and rows.shape[1] != dimension):
            shape = " x ".join(map(str, rows.shape))
            raise BadModelAnswer(
                f"{self.embedder.name} gave {shape} numbers for {len(texts)} texts in a space of {dimension or 'any'}",
                hint="if the model behind this name has changed, run amem reindex",
            )
        if not np.isfinite(rows).all():
            raise BadModelAnswer(
                f"{self.embedder.name} gave a vector that is not made of numbers", hint="try another AMEM_EMBED_MODEL"
            )
        return list(rows) if given is None else given

    def embed_missing(self, ids: Sequence[str] | None = None, *, after: int = 0) -> int:
        """Embed notes (of `ids`; None: all) whose present text has no vector yet, and only those; returns how many.

        With `after` only notes that changed since that value of the change counter. Raises as `embed` does.
        """
        self.check()
        with self._store.read() as session:
            missing = session.vectors.missing(ids, after=after)
        for some in chunks(missing, _PAGE):
            with self._store.read() as session:
                notes = session.notes.get_many(some, history=False)
            vectors, _ = self.embed([self.text(note) for note in notes.values()])
            with self._store.write() as session:
                self.keep(session, vectors)
                # Read again: one that was changed meanwhile needs another vector than the one just made.
                for note in session.notes.get_many(some, history=False).values():
                    session.notes.address(note.id, self.hash(note))
        return len(missing)

    def keep(self, session: Session, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store vectors, pinning the collection to this embedder with its very first one."""
        if not vectors:
            return
        space = session.vectors.space()
        if space is None:
            dimension = len(next(iter(vectors.values())))
            space = session.vectors.add_space(
                self.embedder.name, dimension, self.recipe, active=True, tokens=self.packing()
            )
        self._compare(space)
        session.vectors.announce(space, list(vectors))
        session.vectors.put(space, vectors)

    def _compare(self, space: Space | None) -> None:
        if space is None or (space.model, space.recipe) == (self.embedder.name, self.recipe):
            return
        raise EmbedderMismatch(
            f"the collection was embedded with {space.model} (recipe {space.recipe}), "
            f"not with {self.embedder.name} (recipe {self.recipe})",
            hint="amem reindex re-embeds it; or set AMEM_EMBED_MODEL and AMEM_EMBED_RECIPE back",
        )


class StoreFeed:
    """The store as the dense leg sees it (the ``VectorFeed`` protocol)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def counter(self) -> int:
        with self._store.read() as session:
            return session.counter

    def delta(self, after: int) -> VectorDelta:
        import numpy as np

        from amem.index.vector_rows import VectorDelta

        with self._store.read() as session:
            counter = session.counter
            keys, states = session.vectors.states(after)
            space = session.vectors.space()
            if space is None:
                empty = np.empty((0, 0), dtype=np.float32)
                return VectorDelta(counter, "", keys, states, np.empty(0, dtype=np.int64), empty)
            vector_keys, vectors = session.vectors.changed(space, after)
        return VectorDelta(counter, space.fingerprint, keys, states, vector_keys, vectors)

    def touched(self, after: int) -> tuple[int, NDArray[np.int64]]:
        with self._store.read() as session:
            return session.counter, session.vectors.states(after)[0]

    def described(self, keys: Sequence[int]) -> dict[int, Described]:
        from amem.index.vector_rows import Described

        with self._store.read() as session:
            notes = {key: note for key, (note, _) in session.notes.bare(keys).items()}
        return {
            key: Described(note.id, note.content, chroma_metadata(note))
            for key, note in notes.items()
            if note.status is not Status.DELETED
        }

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        with self._store.read() as session:
            return session.notes.keys_of(ids)


def chroma_metadata(note: MemoryNote) -> dict[str, Any]:
    """A note's fields as Chroma keeps them: text, numbers, lists of text, times as ISO 8601; what is empty is None."""
    times = {"time": note.at, "recorded_at": note.recorded_at, "valid_from": note.valid_from, "valid_to": note.valid_to}
    return {
        "kind": str(note.kind),
        "status": str(note.status),
        "layer": str(note.layer),
        "keywords": note.keywords or None,
        "tags": note.tags or None,
        "entities": note.entities or None,
        "context": note.context or None,
        "category": note.category or None,
        "importance": note.importance,
        "timestamp": note.timestamp or None,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
        "speaker": note.speaker,
        "conversation_id": note.conversation_id,
        "superseded_by": note.superseded_by,
    }


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
#: Share of the collection that may change before what was counted in it is counted anew.
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


def has_drifted(counter: int, known: int, notes: int) -> bool:
    """Whether too much of so many notes may have changed since the change counter was `known` (-1: never looked)."""
    # A bulk write moves the counter once for many notes: the drift allowed is small beside the collection.
    return known < 0 or abs(counter - known) > _DRIFT * notes / 64


class LanguageCache:
    """The languages of one collection, looked at anew when a fiftieth of it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counter = -1
        self._found = Languages(0, 0.0, ())

    def of(self, session: Session) -> Languages:
        """What the collection is written in."""
        counter = session.counter
        with self._lock:
            if has_drifted(counter, self._counter, self._found.notes):
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
    spread = session.column(f"{_TEXTS} AND key IN :keys", keys=range(first, last + 1, step))
    # Where most of those keys are gone, any notes will do.
    return spread or session.column(f"{_TEXTS} LIMIT {_SAMPLE}")


# What to tell the user where most notes are in a language that the model cannot read: once, or when asked.

_log = logging.getLogger("amem")

#: Small and quick by sentence-transformers, and the best that Ollama serves; both read about a hundred languages.
MULTILINGUAL = ("paraphrase-multilingual-MiniLM-L12-v2", "ollama/bge-m3")
_ABOUT = "languages"
_READS, _CANNOT = "reads", "cannot-read"
_PATIENCE = 0.25
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
        self._languages = LanguageCache()
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
        if one and describe(self._settings).ready and dense_trust(self._embedder, one) < _LITERATE:
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

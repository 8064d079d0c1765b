"""Says that most notes are in a language which the embedding model cannot read, and what to do: once, or when asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.embedding import describe
from amem.errors import StorageBusy, StorageFull, StorageReadOnly
from amem.language import written_in_cjk
from amem.retrieval.fusion import LanguagesOf, dense_trust, written_in_other_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem.collection import Collection

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

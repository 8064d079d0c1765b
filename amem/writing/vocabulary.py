"""What the collection says, as analysts see it: cached, and including the notes of the batch being written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from amem.language import index_terms
from amem.note import NOBODY, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.note import MemoryNote
    from amem.storage.store import Session, Store

#: Document frequencies only weigh words, so they may lag behind a growing collection by this share.
_STALE_AFTER = 0.05


class FrequencyCache:
    """Document frequencies remembered across writes, forgotten when the collection grew by a few percent."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._total = 0

    def look_up(self, session: Session, terms: Sequence[str], total: int) -> dict[str, int]:
        """For each term how many notes hold it."""
        if total < 1_000 or abs(total - self._total) > _STALE_AFTER * self._total:
            self._held, self._total = {}, total
        held = self._held
        unknown = [term for term in dict.fromkeys(terms) if term not in held]
        if unknown:
            held |= session.text.document_frequency(unknown)
        return {term: held[term] for term in terms}


class StoreVocabulary:
    """The ``Vocabulary`` of what is stored, read anew at each question: a model thinks too long to hold a snapshot.

    Its tags are those of one scope; how rare a word is, is counted among all notes, and tells nothing of any.
    """

    def __init__(self, store: Store, cache: FrequencyCache, scope: Scope = NOBODY) -> None:
        self._store = store
        self._cache = cache
        self._scope = scope

    def of(self, note: MemoryNote) -> StoreVocabulary:
        """The vocabulary of the scope that the note is of."""
        return StoreVocabulary(self._store, self._cache, Scope.of(note.metadata))

    @property
    def total(self) -> int:
        with self._store.read() as session:
            return session.notes.count()

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        with self._store.read() as session:
            return self._cache.look_up(session, terms, session.notes.count())

    def tags(self) -> Mapping[str, int]:
        with self._store.read() as session, session.within(self._scope):
            return session.text.tags()


class BatchVocabularies:
    """What is stored, plus what a batch has brought so far: a vocabulary for each scope that its notes are of."""

    def __init__(self, session: Session, cache: FrequencyCache) -> None:
        self._session = session
        self._cache = cache
        self._held: dict[Scope, BatchVocabulary] = {}

    def of(self, note: MemoryNote) -> BatchVocabulary:
        """That of the scope that the note is of."""
        scope = Scope.of(note.metadata)
        if scope not in self._held:
            self._held[scope] = BatchVocabulary(self._session, self._cache, scope)
        return self._held[scope]


class BatchVocabulary:
    """The ``Vocabulary`` of one batch in one scope; see `StoreVocabulary` for what is counted among all notes."""

    def __init__(self, session: Session, cache: FrequencyCache, scope: Scope) -> None:
        self._session = session
        self._cache = cache
        self._scope = scope
        self._stored_total = session.notes.count()
        self._stored_tags: Mapping[str, int] | None = None
        self._added = 0
        self._terms: Counter[str] = Counter()
        self._tags: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return self._stored_total + self._added

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        stored = self._cache.look_up(self._session, terms, self._stored_total)
        return {term: n + self._terms[term] for term, n in stored.items()}

    def tags(self) -> Mapping[str, int]:
        if self._stored_tags is None:
            with self._session.within(self._scope):
                self._stored_tags = self._session.text.tags()
        stored = self._stored_tags
        return {**stored, **{tag: stored.get(tag, 0) + n for tag, n in self._tags.items()}} if self._tags else stored

    def include(self, content: str, tags: Iterable[str]) -> None:
        """Count a note of the batch that is not stored yet."""
        self._added += 1
        self._terms.update(set(index_terms(content)))
        self._tags.update({tag.casefold() for tag in tags})

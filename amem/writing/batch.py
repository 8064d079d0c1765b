"""A batch of notes made ready outside any transaction, and what the collection says, as analysts see it.

numpy and the rules of evolution are imported with the first note that is new: a text that is known needs neither.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from time import perf_counter
from typing import TYPE_CHECKING

from amem.errors import EmbedderMismatch, MissingExtra, MissingModel
from amem.language import index_terms
from amem.note import NOBODY, MemoryNote, Scope
from amem.storage.note_reading import normal_hash
from amem.writing.fields import ANALYSED, PREVIOUS_TURNS, Canon, draft_of, fill_in

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection, Known
    from amem.conflict.candidates import Candidate
    from amem.protocols import Analyst
    from amem.storage.store import Session, Store
    from amem.writing.intake import Intake

_log = logging.getLogger("amem")
#: These mean that amem is not set up, not that something failed under way: nothing is stored, the caller is told.
_NOT_SET_UP = (MissingModel, MissingExtra, EmbedderMismatch)


#: Vectors by text hash, and which of them had to be computed.
Embedded = tuple[dict[bytes, "NDArray[np.float32]"], set[bytes]]


@dataclass(slots=True)
class Batch:
    """Some notes on their way in, and the keys of those that the running transaction has stored.

    `ahead` brings their vectors where they are embedded in another thread. `is_behind` tells whether another process
    wrote since `prepare`, so that a text may be known now that was not.
    """

    entries: Sequence[Intake]
    collection: Collection
    canon: Canon
    ahead: Future[Embedded] | None = None
    is_behind: bool = True
    started: float = 0.0
    #: What the running transaction has stored: the place of each key, and the keys of each scope.
    _stored: dict[int, int] = field(default_factory=dict)
    _keys: defaultdict[Scope, list[int]] = field(default_factory=lambda: defaultdict(list))
    #: How alike any two entries are, by their places.
    _alike: NDArray[np.float32] | None = None
    #: Ids of notes that there were links with before they came, or that entries are to be linked with.
    _linked: set[str] = field(default_factory=set)
    _seen: int = 0

    @property
    def _most(self) -> int:
        """How many of the nearest notes are looked for."""
        return max(self.collection.settings.neighbours, self.collection.settings.conflict_neighbours)

    def prepare(self, analyst: Callable[[], Analyst], frequencies: FrequencyCache) -> None:
        """Everything that needs no write lock. Raises when amem is not set up; other failures stay with their note."""
        self.started = perf_counter()
        for place, entry in enumerate(self.entries):
            entry.place = place
        with self.collection.store.read() as session:
            self._seen = session.counter
            self._find_known_sources(session)
            self._find_repetitions(session)
            wanted = [entry for entry in self.entries if entry.existing is None and not entry.repeats]
            if not wanted:
                return
            if analyst().local:
                if len(wanted) > 1:
                    frequencies.read_ahead(session, [entry.note.content for entry in wanted])
                self._analyse(session, self.entries, analyst(), frequencies)
            known = self._known(session, wanted) if self.ahead is None else None
            meeting = self._meeting(session, wanted)
        self._embed(wanted, known)
        self.collection.dense.refresh(self._seen)
        self._find_nearest(meeting)

    def prepare_after_all(
        self, session: Session, entry: Intake, analyst: Callable[[], Analyst], frequencies: FrequencyCache
    ) -> None:
        """Prepare an entry, in the transaction that stores it, whose note stands no more that it was to repeat."""
        entry.repeats = False
        if analyst().local:
            self._analyse(session, [entry], analyst(), frequencies)
        self._embed([entry], self._known(session, [entry]))
        self.collection.vectorizer.keep(session, self.vectors())
        self._find_nearest(self._meeting(session, [entry]))

    def catch_up(self, session: Session) -> None:
        """Look again which sources and texts are known, if another process wrote since `prepare`."""
        self.is_behind = session.counter != self._seen
        if self.is_behind:
            self._find_known_sources(session)

    def read_around(self, session: Session) -> None:
        """Read the notes that the entries are held against, and which have links, at once and not for each entry."""
        session.notes.bare([each.key for entry in self.entries for each in entry.near])
        named = [entry.note.id for entry in self.entries if entry.named]
        links = session.links.around(named) if named else ()
        self._linked = {end for link in links for end in (link.source, link.target)}
        for entry in self.entries:
            self._linked.update(entry.links)

    def may_be_linked(self, entry: Intake) -> bool:
        """Whether a person may have linked the entry's note by now: with it, or before it came, by its id."""
        return bool(entry.links) or (entry.named and entry.note.id in self._linked)

    def vectors(self) -> dict[bytes, NDArray[np.float32]]:
        """What was embedded, by text hash."""
        return {
            self.collection.vectorizer.hash(entry.note): entry.vector
            for entry in self.entries
            if entry.vector is not None
        }

    def stored(self, entry: Intake, key: int) -> None:
        """Say that the entry's note has a key now, so that those after it see it as a neighbour."""
        if entry.vector is not None:
            self._stored[key] = entry.place
            self._keys[Scope.of(entry.note.metadata)].append(key)

    def candidates(self, session: Session, entry: Intake) -> list[Candidate]:
        """The notes, of the collection and of this batch so far, that the entry's note is held against."""
        from amem.writing.evolution import best, sharing

        most = self.collection.settings.neighbours
        if entry.vector is None or most == 0:
            return []
        nearest = self.near(entry)[:most]
        if not nearest:
            return []
        note = entry.note
        names = (*note.entities, *note.keywords)
        named = sharing(session, names, partial(self.cosines, entry))
        return best(nearest, named, most)

    def near(self, entry: Intake) -> list[Candidate]:
        """The nearest notes, of the collection and of this batch so far, nearest first, as many as were looked for."""
        if entry.vector is None or self._alike is None:
            return []
        with_it = self._keys.get(Scope.of(entry.note.metadata))
        if not with_it:
            return entry.near
        from amem.conflict.candidates import Candidate

        alike = self._alike[entry.place].tolist()
        found = [(-each.cosine, each.key) for each in entry.near]
        found += [(-alike[self._stored[key]], key) for key in with_it]
        return [Candidate(key, -distance) for distance, key in sorted(found)[: self._most]]

    def cosines(self, entry: Intake, keys: Sequence[int]) -> list[float]:
        """How alike the entry's note and these are; nan where one has no vector."""
        import numpy as np

        from amem.conflict.candidates import unknown_cosines

        if entry.vector is None or self._alike is None:
            return unknown_cosines(keys)
        found = self.collection.dense.cosines(entry.vector, np.array(keys, dtype=np.int64)).tolist()
        alike = self._alike[entry.place]
        return [
            float(alike[self._stored[key]]) if key in self._stored else cosine
            for key, cosine in zip(keys, found, strict=True)
        ]

    def _find_known_sources(self, session: Session) -> None:
        ids = {entry.source.id for entry in self.entries if entry.source is not None}
        if not ids:
            return
        known = session.sources.notes_of(sorted(ids), own=True)
        for entry in self.entries:
            source = entry.source
            if source is not None and not entry.distinct:
                # The second of two equal sources in one batch is the first one's note.
                entry.existing = known.get(source.id)
                known.setdefault(source.id, entry.note.id)

    def _find_repetitions(self, session: Session) -> None:
        """Mark what says only what an active note, or an entry before it, says: to read it would be in vain."""
        said: set[tuple[Scope, bytes]] = set()
        for entry in self.entries:
            if entry.existing is not None:
                continue
            note = entry.note
            own = Scope.of(note.metadata), normal_hash(note.content)
            if entry.source is None and not entry.distinct:
                known = own in said or session.notes.duplicate_of(note.content, note.metadata) is not None
                entry.repeats = known
            said.add(own)

    def _analyse(
        self, session: Session, entries: Sequence[Intake], analyst: Analyst, frequencies: FrequencyCache
    ) -> None:
        vocabulary_of = vocabularies(session, frequencies)
        turns = _Turns(session)
        default_zone = self.collection.zone
        for entry in entries:
            if entry.existing is not None:
                continue
            note = entry.note
            before = turns.before(entry)
            if entry.repeats:
                continue
            vocabulary = vocabulary_of(Scope.of(note.metadata))
            try:
                entry.analysis = analyst.analyze(draft_of(note, default_zone, before), vocabulary)
            except Exception as error:  # whatever an analyst does, the note is kept
                _log.warning("analysis of a note failed: %s", error)
                entry.error = f"analysis: {error}"
            else:
                fill_in(note, entry.analysis, entry.given, default_zone, self.canon)
                note.analyst = analyst.name
            if entry is not entries[-1]:
                vocabulary.include(note.content, note.tags)

    def _known(self, session: Session, wanted: Sequence[Intake]) -> Known:
        vectorizer = self.collection.vectorizer
        return vectorizer.known(session, [vectorizer.text(entry.note) for entry in wanted])

    def _embed(self, wanted: Sequence[Intake], known: Known | None) -> None:
        ahead = self.ahead if known is None else None
        try:
            # What failed for all that were embedded together is tried again for these alone.
            if ahead is not None and ahead.exception() is None:
                vectors, fresh = ahead.result()
            else:
                texts = [self.collection.vectorizer.text(entry.note) for entry in wanted]
                vectors, fresh = self.collection.vectorizer.embed(texts, known)
        except _NOT_SET_UP:
            raise
        except Exception as error:  # the notes are kept; their vectors follow with the next enrichment
            _log.warning("embedding failed: %s", error)
            for entry in wanted:
                entry.error = entry.error or f"embedding: {error}"
            return
        hashes = [self.collection.vectorizer.hash(entry.note) for entry in wanted]
        for entry, hashed in zip(wanted, hashes, strict=True):
            entry.vector, entry.fresh = vectors[hashed], hashed in fresh
        # A text that comes again in a later batch is not embedded again.
        fresh.difference_update(hashes)

    @staticmethod
    def _meeting(session: Session, wanted: Sequence[Intake]) -> list[tuple[list[Intake], NDArray[np.int64] | None]]:
        """The entries, by whose they are, with the notes that those may meet (None: all)."""
        by_scope: dict[Scope, list[Intake]] = {}
        for entry in wanted:
            by_scope.setdefault(Scope.of(entry.note.metadata), []).append(entry)
        return [(entries, session.notes.met_by(scope)) for scope, entries in by_scope.items()]

    def _find_nearest(self, meeting: Sequence[tuple[list[Intake], NDArray[np.int64] | None]]) -> None:
        import numpy as np

        from amem.conflict.candidates import Candidate
        from amem.token_vectors import product

        vectors = [entry.vector for entry in self.entries]
        none = np.zeros_like(next((vector for vector in vectors if vector is not None), np.empty(0, dtype=np.float32)))
        matrix = np.stack([none if vector is None else vector for vector in vectors])
        self._alike = product(matrix, matrix.T)
        most = self._most
        for entries, allowed in meeting if most else ():
            asked = {entry.place: entry.vector for entry in entries if entry.vector is not None}
            if not asked:
                continue
            found = self.collection.dense.search_many(np.stack(list(asked.values())), most, allowed=allowed)
            for entry, (keys, cosines) in zip(map(self.entries.__getitem__, asked), found, strict=True):
                entry.near = [Candidate(int(key), float(cosine)) for key, cosine in zip(keys, cosines, strict=True)]


#: Texts that are embedded together, ahead of the batch that is written. Texts of one length need no padding, and among
#: more there are more of one length: a chat turn takes 9.7 ms of processor among 64, 7.0 among 256, 6.3 among 512.
_TOGETHER = 512


def embedded_ahead(collection: Collection, batches: deque[Batch]) -> Generator[Batch, None, None]:
    """The batches in order, those to come embedded in another thread: writing waits for Python, embedding for a model.

    The first is embedded by itself, so that writing can begin, then twice as many at a time, up to `_TOGETHER` texts,
    and two lots are on the way. Nothing is embedded ahead where what is embedded waits for analysis, nor a single
    batch: whoever writes it does that. Each is let go once it is handed out.
    """
    vectorizer = collection.vectorizer
    waits = len(batches) == 1 or vectorizer.reads(ANALYSED)
    lots: deque[deque[Batch]] = deque()
    many = 1
    aside = ThreadPoolExecutor(1, thread_name_prefix="amem-embed")
    try:
        while batches or lots:
            while batches and len(lots) < 2:
                lot = deque(batches.popleft() for _ in range(min(many, len(batches))))
                entries = [entry for batch in lot for entry in batch.entries]
                if not waits:
                    future = aside.submit(vectorizer.embed, [vectorizer.text(entry.note) for entry in entries])
                    for batch in lot:
                        batch.ahead = future
                lots.append(lot)
                if len(entries) * 2 <= _TOGETHER:
                    many *= 2
            lot = lots.popleft()
            while lot:
                yield lot.popleft()
    finally:
        aside.shutdown(cancel_futures=True)


class _Turns:
    """The turns before each note of a batch: from the batch itself, before it from the collection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._recent: dict[tuple[Scope, str], deque[str]] = {}

    def before(self, intake: Intake) -> tuple[str, ...]:
        note = intake.note
        if note.conversation_id is None or note.ordinal is None:
            return ()
        scope = Scope.of(note.metadata)
        recent = self._recent.get((scope, note.conversation_id))
        if recent is None:
            with self._session.within(scope):
                stored = self._session.notes.previous_turns(note.conversation_id, note.ordinal, PREVIOUS_TURNS)
            recent = self._recent[scope, note.conversation_id] = deque(stored, maxlen=PREVIOUS_TURNS)
        before = tuple(recent)
        recent.append(f"{note.speaker}: {note.content}" if note.speaker else note.content)
        return before


# What the collection says, as analysts see it: cached, and including the notes of the batch being written.

#: Document frequencies only weigh words, so they may lag behind a growing collection by this share.
_STALE_AFTER = 0.05


class FrequencyCache:
    """Document frequencies remembered across writes, forgotten when the collection grew by a few percent."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._total = 0
        self._snapshot: Session | None = None

    def read_ahead(self, snapshot: Session, contents: Sequence[str]) -> None:
        """Look up all terms of these texts at once, for questions in a session in which nothing is written."""
        self._snapshot = None
        self.look_up(snapshot, [term for content in contents for term in index_terms(content)], snapshot.notes.count())
        self._snapshot = snapshot

    def look_up(self, session: Session, terms: Sequence[str], total: int) -> dict[str, int]:
        """For each term how many notes hold it."""
        lags = total < 1_000 or abs(total - self._total) > _STALE_AFTER * self._total
        if lags and session is not self._snapshot:
            self._held, self._total, self._snapshot = {}, total, None
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


def vocabularies(session: Session, frequencies: FrequencyCache) -> Callable[[Scope], BatchVocabulary]:
    """What is stored, plus what a batch has brought so far: a vocabulary for each scope that its notes are of."""
    return cache(partial(BatchVocabulary, session, frequencies))


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
        return {term: n + self._terms[term] for term, n in stored.items()} if self._added else stored

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

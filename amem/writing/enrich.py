"""Analysis after the fact: for notes stored raw because a model takes its time, and for those it failed on.

Nothing is locked while a model thinks; what it answers is applied in one short transaction, field by field, only where
nobody was there first.
"""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from amem.analysis import Evolution, Neighbour
from amem.clock import zone
from amem.errors import NoteNotFound
from amem.note import Enrichment, MemoryNote, Status
from amem.receipt import Cost, Receipt
from amem.storage.rows import plain
from amem.writing.apply import Outcome, carry_out, readdress
from amem.writing.guards import plan
from amem.writing.neighbours import Candidate, Shown, sharing, show
from amem.writing.steps import ANALYSED, ENRICH_JOB, PREVIOUS_TURNS, draft_of, fill_in
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from amem.analysis import Analysis
    from amem.clock import Clock
    from amem.protocols import Analyst
    from amem.settings import Settings
    from amem.storage import Store
    from amem.vectorizer import Vectorizer
    from amem.writing.neighbours import Nearest

_T = TypeVar("_T")
_log = logging.getLogger("amem")
_LEASE_SECONDS = 600.0
_DELETED = "the note was deleted while it was analysed"


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What a round of enrichment did: notes finished, notes that failed again, notes that still wait."""

    done: int
    failed: int
    remaining: int
    errors: tuple[str, ...] = ()


@dataclass(slots=True)
class _Thought:
    """What was found out about one note outside any transaction."""

    note: MemoryNote
    analysis: Analysis | None = None
    evolution: Evolution = field(default_factory=Evolution)
    shown: Shown = field(default_factory=lambda: Shown([], {}, {}))
    vectors: dict[bytes, NDArray[np.float32]] = field(default_factory=dict)
    fresh: int = 0
    analyst: str = ""
    errors: list[str] = field(default_factory=list)


class Enricher:
    """Analyses and evolves stored notes of one collection."""

    def __init__(
        self,
        store: Store,
        dense: Nearest,
        vectorizer: Vectorizer,
        analyst: Callable[[], Analyst],
        fallback: Callable[[], Analyst],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._dense = dense
        self._vectorizer = vectorizer
        self._analyst = analyst
        self._fallback = fallback
        self._settings = settings
        self._clock = clock
        self._vocabulary = StoreVocabulary(store, FrequencyCache())

    def work(
        self, owner: str, *, limit: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> EnrichReport:
        """Take waiting jobs one after the other until none is left or `limit` were tried."""
        tried: set[int] = set()
        errors: list[str] = []
        done = 0
        while limit is None or len(tried) < limit:
            with self._store.write() as session:
                job = session.jobs.lease(ENRICH_JOB, owner, seconds=_LEASE_SECONDS, skip=frozenset(tried))
                waiting = session.jobs.count(ENRICH_JOB)
            if job is None:
                break
            tried.add(job.id)
            try:
                receipt = self.enrich(job.note, parent=job.operation)
            except NoteNotFound as error:  # deleted or purged a moment ago
                errors.append(str(error))
                continue
            if receipt.enrichment is Enrichment.DONE:
                done += 1
            else:
                errors.append(f"{job.note[:8]}: {receipt.error or '; '.join(receipt.dropped)}")
            if progress is not None:
                progress(len(tried), len(tried) + waiting - (1 if receipt.enrichment is Enrichment.DONE else 0))
        with self._store.read() as session:
            remaining = session.jobs.count(ENRICH_JOB)
        return EnrichReport(done, len(tried) - done, remaining, tuple(errors))

    def finish(self, stored: Receipt) -> Receipt:
        """Enrich a note that was stored raw just now; nothing is done when another worker has taken it already."""
        with self._store.write() as session:
            if not session.jobs.claim(ENRICH_JOB, stored.id, self._owner(), seconds=_LEASE_SECONDS):
                return stored
        try:
            return self.enrich(stored.id, stored=stored)
        except NoteNotFound:
            return replace(stored, dropped=(_DELETED,))

    def _owner(self) -> str:
        return f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"

    def revise(self, id: str, operation: int) -> None:
        """Analyse a note again whose text `operation` changed; nothing is done when no such job waits."""
        with self._store.write() as session:
            waits = session.jobs.claim(ENRICH_JOB, id, self._owner(), seconds=_LEASE_SECONDS)
        if waits:
            self.enrich(id, parent=operation)

    def enrich(self, id: str, *, stored: Receipt | None = None, parent: int | None = None) -> Receipt:
        """Analyse and evolve one stored note; never raises for what a model does. Raises NoteNotFound."""
        started = perf_counter()
        before = _spent(self._analyst())
        thought = self._think(id)
        outcome, enrichment = self._commit(thought, parent if stored is None else stored.operation)
        after = _spent(self._analyst())
        calls, tokens_in, tokens_out = (b - a for a, b in zip(before, after, strict=True))
        earlier = Cost() if stored is None else stored.cost
        return Receipt(
            id,
            "stored",
            enrichment,
            thought.analyst,
            None if stored is None else stored.operation,
            links=tuple(outcome.links),
            evolved=tuple(outcome.evolved),
            queued=tuple(outcome.queued),
            dropped=tuple(outcome.dropped),
            error="; ".join(thought.errors) or None,
            cost=Cost(
                calls,
                tokens_in,
                tokens_out,
                earlier.embedded + thought.fresh,
                earlier.seconds + perf_counter() - started,
            ),
        )

    # -- thinking: slow, outside any transaction ---------------------------------------------------------------

    def _think(self, id: str) -> _Thought:
        with self._store.read() as session:
            note = session.notes.get(id)
            if note is None:
                raise NoteNotFound(f"no note {id!r}")
            owned = session.notes.owned_fields([id])[id]
            previous: tuple[str, ...] = ()
            if note.conversation_id is not None and note.ordinal is not None:
                previous = tuple(session.notes.previous_turns(note.conversation_id, note.ordinal, PREVIOUS_TURNS))
        thought = _Thought(note)
        draft = draft_of(note, zone(self._settings.timezone), previous)
        thought.analysis = self._ask(thought, "analysis", lambda analyst: analyst.analyze(draft, self._vocabulary))
        if thought.analysis is not None:
            fill_in(note, thought.analysis, owned, zone(self._settings.timezone))
        vector = self._embed(thought)
        if vector is not None and thought.analysis is not None:
            neighbours = self._neighbours(thought, vector)
            if neighbours:
                analysis = thought.analysis
                evolution = self._ask(
                    thought,
                    "evolution",
                    lambda analyst: analyst.evolve(draft, analysis, neighbours, self._vocabulary),
                )
                thought.evolution = evolution or Evolution()
        return thought

    def _ask(self, thought: _Thought, step: str, question: Callable[[Analyst], _T]) -> _T | None:
        """Ask the analyst, and when it fails the offline rules, so that the note is usable meanwhile."""
        analyst = self._analyst()
        try:
            answer = question(analyst)
        except Exception as error:  # a model that is down, slow or talks nonsense costs enrichment, never the note
            _log.warning("%s by %s failed: %s", step, analyst.name, error)
            thought.errors.append(f"{step} by {analyst.name}: {error}")
        else:
            thought.analyst = thought.analyst or analyst.name
            return answer
        if analyst.local:
            return None
        fallback = self._fallback()
        try:
            answer = question(fallback)
        except Exception as error:
            _log.warning("%s by %s failed too: %s", step, fallback.name, error)
            thought.errors.append(f"{step} by {fallback.name}: {error}")
            return None
        thought.analyst = thought.analyst or fallback.name
        return answer

    def _embed(self, thought: _Thought) -> NDArray[np.float32] | None:
        try:
            vectors, fresh = self._vectorizer.embed([self._vectorizer.text(thought.note)])
        except Exception as error:
            _log.warning("embedding failed: %s", error)
            thought.errors.append(f"embedding: {error}")
            return None
        thought.vectors, thought.fresh = vectors, len(fresh)
        return next(iter(vectors.values()))

    def _neighbours(self, thought: _Thought, vector: NDArray[np.float32]) -> list[Neighbour]:
        self._dense.refresh()
        # One more than shown, since the note itself is stored already and is its own nearest.
        keys, cosines = self._dense.search_many(vector[np.newaxis], self._settings.neighbours + 1)[0]
        nearest = [Candidate(int(key), float(cos)) for key, cos in zip(keys, cosines, strict=True)]
        with self._store.read() as session:
            own = session.notes.keys_of([thought.note.id]).get(thought.note.id, -1)
            nearest = [each for each in nearest if each.key != own][: self._settings.neighbours]
            seen = {own, *(each.key for each in nearest)}
            nearest += sharing(session, thought.note, lambda keys: self._cosines(vector, keys), exclude=seen)
            thought.shown = show(session, nearest, thought.note)
        return thought.shown.neighbours

    def _cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> list[float]:
        return [float(cosine) for cosine in self._dense.cosines(vector, np.array(keys, dtype=np.int64))]

    # -- committing: quick, in one transaction -----------------------------------------------------------------

    def _commit(self, thought: _Thought, parent: int | None) -> tuple[Outcome, Enrichment]:
        note = thought.note
        enrichment = Enrichment.DEGRADED if thought.errors else Enrichment.DONE
        with self._store.write() as session:
            now = session.notes.get_many([note.id], history=False, deleted=True).get(note.id)
            if now is None or now.status is Status.DELETED:
                if now is not None:
                    session.jobs.put(ENRICH_JOB, note.id, parent)
                return Outcome(dropped=[_DELETED]), Enrichment.PENDING
            if now.content != note.content:
                session.jobs.put(ENRICH_JOB, note.id, parent, error="the note changed while it was analysed")
                return Outcome(dropped=["the note changed while it was analysed"]), Enrichment.PENDING
            self._vectorizer.keep(session, thought.vectors)
            operation = session.begin("enrich", thought.analyst or "amem", f"{note.id[:8]} was waiting", parent=parent)
            shown = thought.shown
            owned = session.notes.owned_fields([note.id, *(each.id for each in shown.notes.values())])
            planned = plan(thought.evolution, shown.notes, owned, self._settings)
            changes: dict[str, Any] = {"enrichment": str(enrichment)}
            if thought.analysis is not None:
                free = [name for name in ANALYSED if name not in owned[note.id]]
                changes |= {name: plain(name, getattr(note, name)) for name in free}
                changes["analyst"] = thought.analyst
                if planned.tags and "tags" in free:
                    changes["tags"] = list(planned.tags)
            session.notes.change(note.id, changes, operation)
            readdress(session, note.id, self._vectorizer)
            outcome = carry_out(
                session,
                planned,
                note,
                twin=shown.twin(self._settings.near_duplicate),
                made_by=thought.analyst,
                parent=operation,
                vectorizer=self._vectorizer,
                settings=self._settings,
            )
            session.jobs.settle(ENRICH_JOB, note.id, operation, error="; ".join(thought.errors))
        return outcome, enrichment


def _spent(analyst: Analyst) -> tuple[int, int, int]:
    """What an analyst has used so far: calls, tokens in, tokens out. Those that cost nothing keep no account."""
    usage = getattr(analyst, "usage", None)
    if usage is None:
        return 0, 0, 0
    spent = usage.here  # this thread's alone: others may be asking the same model meanwhile
    return spent.calls, spent.tokens_in, spent.tokens_out

"""Notes on their way in, in batches: analyse, embed, and commit each batch once (DESIGN section 5, "Write").

With analysts that are quick and local everything happens before the one commit. With a model the raw notes are
committed first, searchable at once, and enriched afterwards: a model that is down costs enrichment, never a note.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.analysis import Draft, Evolution
from amem.errors import AmemError, EmbedderMismatch, InvalidInput, MissingExtra, MissingModel
from amem.note import Enrichment, Link, LinkType
from amem.receipt import Cost, Receipt
from amem.storage.rows import time_text
from amem.writing.apply import Outcome, carry_out
from amem.writing.guards import Plan, plan
from amem.writing.intake import Intake, NewNote, take_in
from amem.writing.neighbours import Candidate, sharing, show
from amem.writing.steps import ENRICH_JOB, PREVIOUS_TURNS, analysis_of, fill_in
from amem.writing.vocabulary import BatchVocabulary, FrequencyCache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.analysis import Analysis
    from amem.clock import Clock
    from amem.protocols import Analyst
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer
    from amem.writing.enrich import Enricher
    from amem.writing.neighbours import Nearest

_log = logging.getLogger("amem")
#: These mean that amem is not set up, not that something failed under way: nothing is stored, the caller is told.
_NOT_SET_UP = (MissingModel, MissingExtra, EmbedderMismatch)


@dataclass(slots=True)
class _Entry:
    """One note of a batch with what became of it so far."""

    intake: Intake
    analysis: Analysis | None = None
    error: str | None = None
    vector: NDArray[np.float32] | None = None
    fresh: bool = False
    near: list[Candidate] = field(default_factory=list)
    existing: str | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """What all batches of one call share: who writes and why, and the operation once there is one."""

    actor: str
    action: str
    cause: str
    operation: list[int] = field(default_factory=list)


class Pipeline:
    """Writes notes into one collection."""

    def __init__(
        self,
        store: Store,
        dense: Nearest,
        vectorizer: Vectorizer,
        enricher: Enricher,
        analyst: Callable[[], Analyst],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._dense = dense
        self._vectorizer = vectorizer
        self._enricher = enricher
        self._analyst = analyst
        self._settings = settings
        self._clock = clock
        self._frequencies = FrequencyCache()

    def add(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        *,
        actor: str,
        action: str = "add",
        cause: str = "",
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
    ) -> list[Receipt]:
        """Store the items in order, as one operation; one receipt for each item that was accepted.

        An item that cannot be used raises before anything is stored, or, when `on_refused` is given, is handed to it
        with its position and left out. `progress` hears (done, of how many) after each batch.
        """
        intakes = self._take_in(items, actor, on_refused)
        if not intakes:
            return []
        self._vectorizer.check()
        analyst = self._analyst()
        run = _Run(actor, action, cause)
        receipts: list[Receipt] = []
        size = self._settings.batch_size
        for start in range(0, len(intakes), size):
            batch = [_Entry(intake) for intake in intakes[start : start + size]]
            done = self._batch(batch, analyst, run)
            receipts += done if analyst.local else self._enrich(done)
            if progress is not None:
                progress(len(receipts), len(intakes))
        return receipts

    def _take_in(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        actor: str,
        on_refused: Callable[[int, AmemError], None] | None,
    ) -> list[Intake]:
        intakes = []
        for position, item in enumerate(items):
            try:
                intakes.append(take_in(item, actor=actor, settings=self._settings, clock=self._clock))
            except InvalidInput as error:
                if on_refused is None:
                    raise
                on_refused(position, error)
        return intakes

    def _enrich(self, stored: Sequence[Receipt]) -> list[Receipt]:
        return [self._enricher.enrich(receipt.id, stored=receipt) if receipt.stored else receipt for receipt in stored]

    def _batch(self, batch: list[_Entry], analyst: Analyst, run: _Run) -> list[Receipt]:
        started = perf_counter()
        with self._store.read() as session:
            self._find_known_sources(session, batch)
            if analyst.local:
                self._analyse(session, batch, analyst)
        self._embed(batch)
        self._find_nearest(batch)
        receipts: list[Receipt] = []
        with self._store.write() as session:
            vectors = {self._vectorizer.hash(e.intake.note): e.vector for e in batch if e.vector is not None}
            self._vectorizer.keep(session, vectors)
            vocabulary = BatchVocabulary(session, self._frequencies)
            keys: dict[int, int] = {}
            for position, entry in enumerate(batch):
                receipts.append(self._write(session, entry, position, batch, keys, analyst, vocabulary, run))
        each = (perf_counter() - started) / len(batch)
        return [
            replace(receipt, cost=Cost(embedded=int(entry.fresh), seconds=each))
            for receipt, entry in zip(receipts, batch, strict=True)
        ]

    def _find_known_sources(self, session: Session, batch: list[_Entry]) -> None:
        sources = {e.intake.source.id: e for e in batch if e.intake.source is not None}
        for source, note in session.sources.notes_of(list(sources)).items():
            sources[source].existing = note

    # -- analysis ----------------------------------------------------------------------------------------------

    def _analyse(self, session: Session, batch: list[_Entry], analyst: Analyst) -> None:
        vocabulary = BatchVocabulary(session, self._frequencies)
        turns = _Turns(session)
        for entry in batch:
            if entry.existing is not None:
                continue
            note = entry.intake.note
            draft = Draft(note.content, note.at, note.speaker, turns.before(entry.intake))
            try:
                entry.analysis = analyst.analyze(draft, vocabulary)
            except Exception as error:  # whatever an analyst does, the note is kept
                _log.warning("analysis of a note failed: %s", error)
                entry.error = f"analysis: {error}"
            else:
                fill_in(note, entry.analysis, entry.intake.given)
                note.analyst = analyst.name
            vocabulary.include(note.content, note.tags)

    # -- embedding and neighbours ------------------------------------------------------------------------------

    def _embed(self, batch: list[_Entry]) -> None:
        wanted = [entry for entry in batch if entry.existing is None]
        texts = [self._vectorizer.text(entry.intake.note) for entry in wanted]
        try:
            vectors, fresh = self._vectorizer.embed(texts)
        except _NOT_SET_UP:
            raise
        except Exception as error:  # the notes are kept; their vectors follow with the next enrichment
            _log.warning("embedding failed: %s", error)
            for entry in wanted:
                entry.error = entry.error or f"embedding: {error}"
            return
        for entry in wanted:
            hashed = self._vectorizer.hash(entry.intake.note)
            entry.vector, entry.fresh = vectors[hashed], hashed in fresh

    def _find_nearest(self, batch: list[_Entry]) -> None:
        self._dense.refresh()
        embedded = [entry for entry in batch if entry.vector is not None]
        if not embedded or self._settings.neighbours == 0:
            return
        matrix = np.stack([entry.vector for entry in embedded if entry.vector is not None])
        for entry, (keys, cosines) in zip(
            embedded, self._dense.search_many(matrix, self._settings.neighbours), strict=True
        ):
            entry.near = [Candidate(int(key), float(cos)) for key, cos in zip(keys, cosines, strict=True)]

    def _candidates(
        self, session: Session, entry: _Entry, position: int, batch: list[_Entry], keys: Mapping[int, int]
    ) -> list[Candidate]:
        if entry.vector is None:
            return []
        mates = [
            Candidate(key, float(entry.vector @ vector))
            for earlier, key in keys.items()
            if (vector := batch[earlier].vector) is not None
        ]
        nearest = sorted(entry.near + mates, key=lambda each: (-each.cosine, each.key))[: self._settings.neighbours]
        if not nearest:
            return []
        seen = {each.key for each in nearest}
        return nearest + sharing(session, self._dense, entry.intake.note, entry.vector, exclude=seen)

    # -- the transaction ---------------------------------------------------------------------------------------

    def _write(
        self,
        session: Session,
        entry: _Entry,
        position: int,
        batch: list[_Entry],
        keys: dict[int, int],
        analyst: Analyst,
        vocabulary: BatchVocabulary,
        run: _Run,
    ) -> Receipt:
        intake, note = entry.intake, entry.intake.note
        existing = entry.existing
        if existing is None and intake.source is None:
            existing = session.notes.duplicate_of(note.content)
            if existing is not None:
                session.notes.corroborate(existing, note.speaker or run.actor, self._operation(session, run))
        if existing is not None:
            held = session.notes.get_many([existing], history=False)[existing]
            return Receipt(existing, "duplicate", held.enrichment, held.analyst)
        operation = self._operation(session, run)
        planned, twin = None, None
        if analyst.local and entry.analysis is not None:
            candidates = self._candidates(session, entry, position, batch, keys)
            planned, twin = self._plan(session, entry, candidates, analyst, vocabulary)
        note.enrichment = _state(entry, analyst)
        hashed = self._vectorizer.hash(note)
        key = session.notes.insert(
            note, operation, reliability=intake.reliability, text_hash=hashed, given=intake.given
        )
        keys[position] = key
        self._attach(session, intake, key, operation, run)
        outcome = Outcome()
        if planned is not None:
            outcome = carry_out(
                session,
                planned,
                note,
                twin=twin,
                made_by=analyst.name,
                parent=operation,
                vectorizer=self._vectorizer,
                settings=self._settings,
            )
        if note.enrichment is not Enrichment.DONE:
            session.jobs.put(ENRICH_JOB, note.id, operation, error=entry.error or "")
        return Receipt(
            note.id,
            "stored",
            note.enrichment,
            note.analyst,
            operation,
            links=tuple(outcome.links),
            evolved=tuple(outcome.evolved),
            queued=tuple(outcome.queued),
            dropped=tuple(outcome.dropped),
            error=entry.error,
        )

    def _operation(self, session: Session, run: _Run) -> int:
        if not run.operation:
            run.operation.append(session.begin(run.action, run.actor, run.cause))
        return run.operation[0]

    def _attach(self, session: Session, intake: Intake, key: int, operation: int, run: _Run) -> None:
        if intake.recalls or intake.last_access:
            session.usage.carry_over(key, intake.recalls, time_text(intake.last_access or session.now))
        if intake.source is not None:
            session.sources.attach(key, session.sources.put(intake.source, operation))
        for target in intake.links:
            link = Link(intake.note.id, target, LinkType.RELATED, "given with the note", 1.0, run.actor, session.now)
            session.links.put(link, operation)

    def _plan(
        self,
        session: Session,
        entry: _Entry,
        candidates: list[Candidate],
        analyst: Analyst,
        vocabulary: BatchVocabulary,
    ) -> tuple[Plan | None, tuple[str, float] | None]:
        """What evolution will do, and the (id, cosine) of a near-duplicate if there is one."""
        note = entry.intake.note
        shown = show(session, candidates, note)
        if not shown.neighbours:
            return None, None
        draft = Draft(note.content, note.at, note.speaker)
        try:
            evolution = analyst.evolve(draft, analysis_of(note), shown.neighbours, vocabulary)
        except Exception as error:  # the note is kept; enrichment tries again
            _log.warning("evolution of a note failed: %s", error)
            entry.error = f"evolution: {error}"
            evolution = Evolution()
        planned = plan(evolution, shown.notes, shown.owned, self._settings)
        if planned.tags and "tags" not in entry.intake.given:
            note.tags = list(planned.tags)
        closest = shown.closest
        twin = closest if closest is not None and closest[1] >= self._settings.near_duplicate else None
        return planned, twin


def _state(entry: _Entry, analyst: Analyst) -> Enrichment:
    if not analyst.local:
        return Enrichment.PENDING
    return Enrichment.DONE if entry.error is None else Enrichment.DEGRADED


class _Turns:
    """The turns before each note of a batch: from the batch itself, before it from the collection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._recent: dict[str, deque[str]] = {}

    def before(self, intake: Intake) -> tuple[str, ...]:
        note = intake.note
        if note.conversation_id is None or note.ordinal is None:
            return ()
        recent = self._recent.get(note.conversation_id)
        if recent is None:
            stored = self._session.notes.previous_turns(note.conversation_id, note.ordinal, PREVIOUS_TURNS)
            recent = self._recent[note.conversation_id] = deque(stored, maxlen=PREVIOUS_TURNS)
        before = tuple(recent)
        recent.append(f"{note.speaker}: {note.content}" if note.speaker else note.content)
        return before

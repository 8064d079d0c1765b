"""Notes on their way in, in batches, each committed once; docs/architecture.md draws the way."""

from __future__ import annotations

import gc
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from amem.analysis import Draft
from amem.note import Cost, Enrichment, Link, LinkType, Receipt, Scope
from amem.storage.rows import time_text
from amem.writing.batch import Batch, FrequencyCache, StoreVocabulary, embedded_ahead, vocabularies
from amem.writing.fields import ENRICH_JOB, clean_content, with_places
from amem.writing.intake import NewNote, admit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.collection import Collection
    from amem.conflict.settling import Settler
    from amem.errors import AmemError
    from amem.note import MemoryNote
    from amem.protocols import Analyst
    from amem.storage.store import Session
    from amem.writing.batch import BatchVocabulary
    from amem.writing.enrich import Enricher
    from amem.writing.fields import Canon
    from amem.writing.intake import Intake
    from amem.writing.worker import Worker


@dataclass(slots=True)
class _Run:
    """What all batches of one call share: who writes and why, by which analyst, and the operation once there is one.

    `became` says, for the id of each item that turned out a duplicate, which note it is. `at_last` is called in the
    transaction of each batch once all of it is written, with the batch's receipts.
    """

    actor: str
    action: str
    cause: str
    choose: Callable[[], Analyst]
    parent: int | None = None
    at_last: Callable[[Session, Sequence[Receipt]], None] | None = None
    operation: int | None = None
    became: dict[str, str] = field(default_factory=dict)
    chosen: Analyst | None = None

    def analyst(self) -> Analyst:
        """Who reads the notes; chosen with the first that is new."""
        if self.chosen is None:
            self.chosen = self.choose()
        return self.chosen

    def begin(self, session: Session) -> int:
        if self.operation is None:
            self.operation = session.begin(self.action, self.actor, self.cause, parent=self.parent)
        return self.operation


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Writes notes into one collection."""

    collection: Collection
    enricher: Callable[[], Enricher]
    settler: Callable[[], Settler]
    canon: Canon
    analyst: Callable[[], Analyst]
    frequencies: FrequencyCache = field(default_factory=FrequencyCache)

    def add(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        *,
        actor: str,
        action: str = "add",
        cause: str = "",
        parent: int | None = None,
        wait: bool = True,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Store the items in order, as one operation; one receipt for each item that was accepted.

        `parent` is an operation that the caller began (and committed): this one, and all it sets off, is undone with
        it. An item that cannot be used raises before anything is stored, or, when `on_refused` is given, is handed to
        it with its position and left out. `progress` hears (done, of how many) after each batch, with a model after
        each note. Without `wait` a model is left to whoever takes up the jobs: the receipts say ``pending``. What
        `at_last` does is committed with the notes, in the transaction of each batch: nobody sees the one without the
        other, and a model is asked only afterwards.
        """
        # 1. Check what was given (intake.py).
        intakes = admit(
            items,
            self.collection.store,
            actor=actor,
            settings=self.collection.settings,
            clock=self.collection.clock,
            canon=self.canon,
            refused=on_refused,
        )
        if not intakes:
            return []
        run = _Run(actor, action, cause, self.analyst, parent, at_last)
        receipts: list[Receipt] = []
        many, size = len(intakes), self.collection.settings.batch_size
        lots = (intakes[start : start + size] for start in range(0, many, size))
        batches = deque([Batch(lot, self.collection, self.canon) for lot in lots])
        # A batch that is written is let go: with what was found in each, ten thousand notes take some 70 MB.
        del intakes
        with closing(embedded_ahead(self.collection, batches)) as ahead:
            for batch in ahead:
                # 2. See what is known; analyse, embed and hold the rest against its neighbours (batch.py).
                with _uncollected():
                    batch.prepare(run.analyst, self.frequencies)
                    # 3. Write each note of the batch, in one transaction.
                    receipts += self._commit(batch, run)
                if progress is not None and (not wait or run.analyst().local):
                    progress(len(receipts), many)
        if not wait or not any(receipt.stored for receipt in receipts) or run.analyst().local:
            return receipts
        # 4. Ask the model (enrich.py). Every note is safe, and found by its words, before it is asked the first time.
        return self.enricher().finish(receipts, progress=progress)

    def _commit(self, batch: Batch, run: _Run) -> list[Receipt]:
        with self.collection.store.write() as session:
            batch.catch_up(session)
            if vectors := batch.vectors():
                self.collection.vectorizer.keep(session, vectors)
            batch.read_around(session)
            vocabulary_of = vocabularies(session, self.frequencies)
            receipts = []
            for entry in batch.entries:
                scope = Scope.of(entry.note.metadata)
                with session.within(scope):
                    receipts.append(self._write(session, entry, batch, vocabulary_of(scope), run))
            if run.at_last is not None:
                run.at_last(session, receipts)
        each = (perf_counter() - batch.started) / len(batch.entries)
        return [
            replace(receipt, cost=Cost(embedded=int(entry.fresh), seconds=each))
            for receipt, entry in zip(receipts, batch.entries, strict=True)
        ]

    def _write(self, session: Session, entry: Intake, batch: Batch, vocabulary: BatchVocabulary, run: _Run) -> Receipt:
        note = entry.note
        # a. The same text again is the old note, with one more witness.
        existing = self._existing(session, entry, run) if entry.repeats or batch.is_behind else entry.existing
        if existing is not None:
            run.became[note.id] = existing
            self._attach(session, entry, existing, run)
            held = session.notes.get_many([existing], history=False)[existing]
            return Receipt(existing, "duplicate", held.enrichment, held.analyst)
        from amem.writing.evolution import Proposal, carry_out, evolve

        analyst = run.analyst()
        if entry.repeats:
            batch.prepare_after_all(session, entry, run.analyst, self.frequencies)
        # b. What its neighbours make of it: links, tags, rewrites of theirs; nothing is written yet.
        operation = run.begin(session)
        proposal = Proposal()
        if analyst.local and entry.analysis is not None:
            near = batch.candidates(session, entry)
            proposal = evolve(session, entry, near, analyst, vocabulary, self.collection)
        # c. The note itself, with what came with it.
        if "facts" not in entry.given and note.facts:
            note.facts = with_places(session, note, self.canon.predicates())
        note.enrichment = _state(entry, analyst)
        key = session.notes.insert(
            note,
            operation,
            reliability=entry.reliability,
            text_hash=self.collection.vectorizer.hash(note),
            given=entry.given,
        )
        batch.stored(entry, key)
        self._keep_what_came_with(session, entry, batch, key, operation, run)
        self._attach(session, entry, note.id, run)
        # d. What evolution planned, by its guards (evolution.py).
        outcome = carry_out(
            session,
            proposal,
            note,
            made_by=analyst.name,
            parent=operation,
            collection=self.collection,
            linked=batch.may_be_linked(entry),
        )
        # e. What the note puts an end to (conflict/settling.py).
        if analyst.local and entry.analysis is not None:
            outcome.settled = self.settler().settle(
                session,
                note,
                key,
                batch.near(entry),
                partial(batch.cosines, entry),
                parent=operation,
                opinions=proposal.opinions,
            )
        # f. What is still to be done waits as a job.
        if note.enrichment is not Enrichment.DONE:
            session.jobs.put(ENRICH_JOB, note.id, operation, error=entry.error or "")
        stored = Receipt(note.id, "stored", note.enrichment, note.analyst, operation, error=entry.error)
        return outcome.on(stored)

    def _existing(self, session: Session, entry: Intake, run: _Run) -> str | None:
        """The note that this one repeats; what comes from a source of its own is never a repetition of another's."""
        if entry.existing is not None or entry.source is not None or entry.distinct:
            return entry.existing
        note = entry.note
        existing = session.notes.duplicate_of(note.content, note.metadata)
        who = note.speaker or run.actor
        # Nobody is a witness to what they said themselves.
        if existing is not None and who != session.notes.told_by(existing):
            session.notes.corroborate(existing, who, run.begin(session))
        return existing

    def _attach(self, session: Session, entry: Intake, id: str, run: _Run) -> None:
        """Say of the note that the item is, or turned out to be, what else it came from."""
        if entry.gathers or entry.sources:
            operation = run.begin(session)
            key = session.notes.keys_of([id])[id]
            new = [session.sources.put(source, operation) for source in entry.gathers]
            known = session.sources.keys_of(entry.sources)
            for source in (*new, *(known[each][0] for each in entry.sources)):
                session.sources.attach(key, source, operation, gathered=True)
        if entry.derived_from is not None:
            origin = run.became.get(entry.derived_from, entry.derived_from)
            if origin != id:
                link = Link(id, origin, LinkType.DERIVED_FROM, run.cause, 1.0, run.actor, session.now)
                session.links.put(link, run.begin(session))

    def _keep_what_came_with(
        self, session: Session, entry: Intake, batch: Batch, key: int, operation: int, run: _Run
    ) -> None:
        if entry.recalls or entry.last_access:
            session.usage.carry_over(key, entry.recalls, time_text(entry.last_access or session.now))
        if entry.source is not None:
            session.sources.attach(key, session.sources.put(entry.source, operation), operation)
        # A link may be made before its target comes; one that turns out to lead to another's note ends then.
        for link in session.links.around([entry.note.id]) if batch.may_be_linked(entry) else ():
            if session.links.leads_across(link.source, link.target):
                session.links.remove(link.source, link.target, link.type, operation)
        for target in entry.links:
            link = Link(entry.note.id, target, LinkType.RELATED, "given with the note", 1.0, run.actor, session.now)
            session.links.put(link, operation)


def _state(entry: Intake, analyst: Analyst) -> Enrichment:
    if not analyst.local:
        return Enrichment.PENDING
    return Enrichment.DONE if entry.error is None else Enrichment.DEGRADED


# New notes: stored, then finished at once or in the background, with what follows from them.


@dataclass(frozen=True, slots=True)
class Writer:
    """Adds notes to one collection; `follow` is told the receipts and texts of each call that stores any."""

    collection: Collection
    pipeline: Pipeline
    worker: Callable[[], Worker]
    follow: Callable[[Sequence[Receipt], Sequence[str]], None]

    def add(
        self, items: Sequence[NewNote | Mapping[str, Any] | str], *, actor: str, wait: bool = True, **how: Any
    ) -> list[Receipt]:
        """Store the items in order, as one operation; `how` as for `Pipeline.add`.

        Without `wait` the background finishes what a model takes its time for.
        """
        receipts = self.pipeline.add(items, actor=actor, wait=wait, **how)
        if not wait and any(receipt.enrichment == "pending" for receipt in receipts):
            self.worker().wake()
        if any(receipt.stored for receipt in receipts):
            self.follow(receipts, [_text(item) for item in items])
        return receipts

    def analyze(self, content: str, analyst: Analyst) -> dict[str, Any]:
        """What the analyst makes of a text, as A-Mem's dictionary; stores nothing. Raises as `add` does."""
        draft = Draft(clean_content(content, self.collection.settings), self.collection.clock.now())
        found = analyst.analyze(draft, StoreVocabulary(self.collection.store, FrequencyCache()))
        return {
            "keywords": [*found.keywords],
            "context": found.context,
            "tags": [*found.tags],
            "kind": str(found.kind),
            "importance": found.importance,
            "entities": [*found.entities],
            "facts": [[fact.subject, fact.predicate, fact.object] for fact in found.facts],
        }


def _text(item: NewNote | Mapping[str, Any] | str) -> str:
    held = item if isinstance(item, str) else item.content if isinstance(item, NewNote) else item.get("content")
    return held if isinstance(held, str) else ""


def as_new(note: MemoryNote) -> NewNote:
    """A note object that is not stored yet, as it is added."""
    names = ("id", "keywords", "context", "tags", "category", "entities", "facts", "metadata", "speaker", "links")
    fields = {name: value for name in names if (value := getattr(note, name))}
    return NewNote(note.content, note.timestamp or None, None, fields)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let Python's collector of cycles wait until a batch is written: nothing in it makes any.

    What a batch makes lives as long as it does or is remembered, and each pass walks over all of that: a tenth of
    what notes of 200 words cost. A collector that the program stopped itself stays so.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()

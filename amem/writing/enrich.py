"""Analysis after the fact: for notes stored raw because a model takes its time, and for those it failed on.

Nothing is locked while a model thinks; what it answers is applied in one short transaction, field by field, only where
nobody was there first. Several notes are analysed at the same time where the model's server can do that; links and
rewrites come one note after the other, in order, so that each sees what those before it have changed.
"""

from __future__ import annotations

import logging
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from amem.errors import Cancelled, NoteNotFound, StorageError
from amem.labels import short_id
from amem.note import Cost, Enrichment, Receipt, Scope, Status
from amem.storage.jobs import ADD
from amem.writing.evolution import Outcome, write_down
from amem.writing.fields import ENRICH_JOB
from amem.writing.worker import LEASE_SECONDS, SHORT_WAIT, EnrichReport, Worker, ahead, leased

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from amem.collection import Collection
    from amem.conflict.settling import Settler
    from amem.writing.reanalysis import Thinker, Thought

_log = logging.getLogger("amem")
#: Notes that are analysed in one call: all that one piece of conversation can teach (see ``extraction_answers``).
MOST_TOGETHER = 16
_DELETED = "the note was deleted while it was analysed"
_CHANGED = "the note changed while it was analysed"
_TAKEN = "another worker took the note over"


@dataclass(frozen=True, slots=True)
class Task:
    """A note to analyse, for `owner` of its job; without one whatever is found out is written down.

    `parent` is the operation that set it off, `stored` the receipt it had when it was stored raw a moment ago.
    """

    id: str
    owner: str = ""
    parent: int | None = None
    stored: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Enricher:
    """Analyses and evolves stored notes of one collection; `at_once` says how many may be analysed in parallel."""

    collection: Collection
    thinker: Thinker
    settler: Settler
    worker: Worker
    at_once: Callable[[], int]

    def work(
        self,
        owner: str = "",
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        tried: set[int] | None = None,
        progress: Callable[[int, int], None] | None = None,
        heard: Callable[[Receipt], None] | None = None,
    ) -> EnrichReport:
        """Take waiting jobs one after the other until none is left, `limit` were tried or `cancelled` is set.

        Jobs in `tried` are left alone, and those that are tried join it. `heard` is told of each note, `progress` of
        (done, how many in all). Raises Cancelled when the analyst was called off.
        """
        owner = owner or self.worker.owner.one_more()
        errors: list[str] = []
        done = 0
        tried = set() if tried is None else tried
        jobs = leased(self.collection.store, ENRICH_JOB, owner, limit=limit, tried=tried, cancelled=cancelled)
        with closing(self._each((Task(job.note, owner, job.operation) for job in jobs), owner)) as receipts:
            for _, receipt in receipts:
                if isinstance(receipt, NoteNotFound):  # deleted or purged a moment ago
                    errors.append(str(receipt))
                    continue
                self._count([receipt])
                if receipt.enrichment is Enrichment.DONE:
                    done += 1
                else:
                    errors.append(f"{short_id(receipt.id)}: {receipt.error or '; '.join(receipt.dropped)}")
                if heard is not None:
                    heard(receipt)
                if progress is not None:
                    with self.collection.store.read() as session:
                        progress(done + len(errors), done + session.jobs.count(ENRICH_JOB))
        with self.collection.store.read() as session:
            remaining = session.jobs.count(ENRICH_JOB)
        return EnrichReport(done, len(errors), remaining, tuple(errors))

    def finish(self, stored: Sequence[Receipt], *, progress: Callable[[int, int], None] | None = None) -> list[Receipt]:
        """Enrich notes that were stored raw just now; `progress` hears (done, of how many) after each.

        One that another worker has taken keeps its receipt, and so do those that are left when the work is called off:
        they wait.
        """
        raw = [receipt for receipt in stored if receipt.stored]
        owner = self.worker.owner.one_more()
        finished: dict[str, Receipt] = {}
        with closing(self._until_called_off(self._each(self._claims(raw, owner), owner))) as receipts:
            for task, receipt in receipts:
                finished[task.id] = receipt
                if progress is not None:
                    progress(len(stored) - len(raw) + len(finished), len(stored))
        self._count(finished.values())
        return [finished.get(receipt.id, receipt) if receipt.stored else receipt for receipt in stored]

    def finish_together(
        self, stored: Sequence[Receipt], changed: Sequence[str] = (), *, operation: int, again: int
    ) -> tuple[list[Receipt], Cost]:
        """Enrich what was learnt together in as few calls as can be: notes stored raw, and notes whose text `changed`.

        The receipts are as those of `finish`; beside them what the changed notes cost. `operation` is that which
        changed them, and `again` bounds the calls for answers that are of no use. An analyst that only takes one note
        at a time is asked note by note.
        """
        raw = [receipt for receipt in stored if receipt.stored and receipt.enrichment is Enrichment.PENDING]
        tasks = []
        owner = self.worker.owner.one_more()
        with self.collection.store.write() as session:
            for id in changed:
                if session.jobs.claim(ENRICH_JOB, id, owner, seconds=LEASE_SECONDS) is not None:
                    tasks.append(Task(id, owner, operation))
        tasks = [*self._claims(raw, owner), *tasks]
        finished: dict[str, Receipt] = {}
        cost = Cost()
        each = self._all(tasks, owner, again) if self.thinker.takes_many else self._each(tasks, owner)
        for task, receipt in self._until_called_off(each):
            finished[task.id] = receipt
            cost += receipt.cost if task.stored is None else Cost()
        return [finished.get(receipt.id, receipt) if receipt.stored else receipt for receipt in stored], cost

    def revise(self, id: str, operation: int) -> None:
        """Analyse a note again whose text `operation` changed; nothing is done when no such job waits.

        When the work is called off the note goes on waiting: its new text is stored in any case.
        """
        owner = self.worker.owner.one_more()
        with self.collection.store.write() as session:
            waits = session.jobs.claim(ENRICH_JOB, id, owner, seconds=LEASE_SECONDS)
        if waits is None:
            return
        try:
            self._once(Task(id, owner, operation))
        except Cancelled:
            _log.info("note %s waits for its analysis: it was called off", short_id(id))

    def again(self, ids: Sequence[str], operation: int, *, wait: bool) -> None:
        """Analyse notes again whose text `operation` changed: now, or in the background where a model takes its time.

        With `wait` a model is waited for, too.
        """
        if wait or self.is_quick:
            for id in ids:
                self.revise(id, operation)
        elif ids:
            self.worker.wake()

    @property
    def is_quick(self) -> bool:
        """Whether the analyst takes milliseconds, as the rules do: nobody need be spared waiting for it."""
        return self.thinker.is_quick

    def enrich(self, id: str) -> Receipt:
        """Analyse and evolve one stored note, whether it waits or not; never raises for what a model does.

        Raises NoteNotFound, Cancelled.
        """
        receipt = self._once(Task(id))
        if isinstance(receipt, NoteNotFound):
            raise receipt
        return receipt

    def _count(self, receipts: Iterable[Receipt]) -> None:
        """Keep what adding these notes cost, for ``amem models --cost``."""
        costs = [receipt.cost for receipt in receipts if receipt.cost.calls]
        if not costs:
            return
        try:
            with self.collection.store.write(wait=SHORT_WAIT) as session:
                for cost in costs:
                    session.costs.add(ADD, calls=cost.calls, tokens_in=cost.tokens_in, tokens_out=cost.tokens_out)
        except StorageError as error:  # the notes are written; figures are no reason to fail
            _log.warning("what %d notes cost could not be written down: %s", len(costs), error)

    def _until_called_off(
        self, receipts: Generator[tuple[Task, Receipt | NoteNotFound], None, None]
    ) -> Generator[tuple[Task, Receipt], None, None]:
        """What came of each task, of a note that was deleted meanwhile the receipt it had, until it is called off."""
        try:
            with closing(receipts):
                for task, receipt in receipts:
                    if isinstance(receipt, Receipt):
                        yield task, receipt
                    elif task.stored is not None:
                        yield task, replace(task.stored, dropped=(_DELETED,))
        except Cancelled:
            _log.info("the other notes wait for their analysis: it was called off")

    # -- one note after the other ------------------------------------------------------------------------------

    def _claims(self, stored: Iterable[Receipt], owner: str) -> Iterator[Task]:
        for receipt in stored:
            with self.collection.store.write() as session:
                waits = session.jobs.claim(ENRICH_JOB, receipt.id, owner, seconds=LEASE_SECONDS)
            if waits is not None:
                yield Task(receipt.id, owner, receipt.operation, receipt)

    def _once(self, task: Task) -> Receipt | NoteNotFound:
        ((_, receipt),) = self._each([task], task.owner)
        return receipt

    def _each(self, tasks: Iterable[Task], owner: str) -> Generator[tuple[Task, Receipt | NoteNotFound], None, None]:
        """Each task with what came of it, in order. Whatever ends this early, the owner's jobs are given back."""
        with self._held_by(owner):
            for task, future in ahead(lambda task: self.thinker.analyze(task.id), tasks, self.at_once()):
                try:
                    thought = future.result()
                except NoteNotFound as error:
                    yield task, error
                    continue
                started = perf_counter()
                self.thinker.evolve(thought)
                outcome, enrichment = self._commit(thought, task)
                seconds = thought.seconds + perf_counter() - started
                yield task, receipt_of(thought, outcome, enrichment, task.stored, seconds)

    def _all(
        self, tasks: Sequence[Task], owner: str, again: int
    ) -> Generator[tuple[Task, Receipt | NoteNotFound], None, None]:
        """As `_each`, with one call for up to `MOST_TOGETHER` notes. Calls after the first may not be asked again."""
        with self._held_by(owner):
            for start in range(0, len(tasks), MOST_TOGETHER):
                some = {task.id: task for task in tasks[start : start + MOST_TOGETHER]}
                for thought in self.thinker.think_together(list(some), again if start == 0 else 0):
                    task = some.pop(thought.note.id)
                    outcome, enrichment = self._commit(thought, task)
                    yield task, receipt_of(thought, outcome, enrichment, task.stored, thought.seconds)
                for task in some.values():
                    yield task, NoteNotFound(f"no note {task.id!r}")

    @contextmanager
    def _held_by(self, owner: str) -> Iterator[None]:
        """Give the owner's jobs back when anything ends the block early."""
        try:
            yield
        except BaseException:
            if owner:
                with self.collection.store.write() as session:
                    session.jobs.give_back(owner)
            raise

    # -- committing: quick, in one transaction -----------------------------------------------------------------

    def _commit(self, thought: Thought, task: Task) -> tuple[Outcome, Enrichment]:
        note = thought.note
        with self.collection.store.write() as session, session.within(Scope.of(note.metadata)):
            now = session.notes.get_many([note.id], history=False, deleted=True).get(note.id)
            if now is None:
                return Outcome(dropped=[_DELETED]), Enrichment.PENDING
            if task.owner and not session.jobs.held(ENRICH_JOB, note.id, task.owner):
                return Outcome(dropped=[_CHANGED if now.content != note.content else _TAKEN]), now.enrichment
            if now.status is Status.DELETED or now.content != note.content:
                why = _DELETED if now.status is Status.DELETED else _CHANGED
                if task.owner:
                    session.jobs.settle(ENRICH_JOB, note.id, task.owner, error=why)
                return Outcome(dropped=[why]), Enrichment.PENDING
            problem = "; ".join(thought.errors)
            if task.owner:
                session.jobs.settle(ENRICH_JOB, note.id, task.owner, error=problem)
            elif problem:
                session.jobs.put_new(ENRICH_JOB, note.id, task.parent, error=problem)
            if problem and now.enrichment is Enrichment.DEGRADED and thought.analyst in ("", now.analyst):
                # It failed again: what stands in for the answer stands there already.
                return Outcome(), Enrichment.DEGRADED
            enrichment = Enrichment.DEGRADED if problem else Enrichment.DONE
            outcome = write_down(
                session,
                thought,
                enrichment,
                f"{short_id(note.id)} was waiting",
                parent=task.parent,
                collection=self.collection,
                settler=self.settler,
            )
        return outcome, enrichment


def receipt_of(
    thought: Thought, outcome: Outcome, enrichment: Enrichment, stored: Receipt | None, seconds: float
) -> Receipt:
    """What came of a note that was analysed `seconds` long, its `stored` receipt included."""
    cost = replace(thought.spent, embedded=thought.fresh, seconds=seconds)
    finished = Receipt(
        thought.note.id,
        "stored",
        enrichment,
        thought.analyst,
        outcome.operation if stored is None else stored.operation,
        error="; ".join(thought.errors) or None,
        cost=cost if stored is None else stored.cost + cost,
    )
    return outcome.on(finished)

"""Run maintenance when asked, or when it is due and nobody is at work; the conflict phase."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from amem.conflict.settling import ACTION
from amem.errors import MaintenanceRunning
from amem.maintenance.cycle import CONSOLIDATION, CYCLES, Cycle, due, quiet_since
from amem.maintenance.phase import MaintenanceReport, Phase, PhaseReport, PhaseRun, Reason
from amem.storage.jobs import is_gone
from amem.storage.purging import owed
from amem.storage.rows import chunks

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Sequence

    from amem.analysts.models import Models
    from amem.clock import Clock
    from amem.collection import Collection
    from amem.conflict.corrections import Reweigher
    from amem.maintenance.purges import Purges
    from amem.maintenance.topics import Topics
    from amem.note import Conflict
    from amem.protocols import Analyst
    from amem.storage.store import Session, Store
    from amem.writing.worker import Worker


#: A worker looks every second for work; whether maintenance is due, not so often.
_BETWEEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Maintainer:
    """Keeps one collection honest and light; `worker` names who does it, and is called off with the collection."""

    collection: Collection
    models: Models
    worker: Worker
    reweigher: Reweigher
    topics: Topics
    purges: Purges

    def maintain(
        self,
        cycle: str = "nightly",
        *,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> MaintenanceReport:
        """Run a cycle; setting `cancelled` (None: closing the collection) calls it off.

        Raises MaintenanceRunning, Cancelled or InvalidInput.
        """
        models = self.models if cancelled is None else self.models.called_off_by(cancelled)
        return Cycle(
            self.collection.store, partial(self._phases, models.analyst), self.worker.owner.one_more, is_gone
        ).run(cycle, dry_run=dry_run, cancelled=cancelled or self.worker.cancelled, listener=progress)

    def when_quiet(self, cancelled: threading.Event | None = None) -> MaintenanceReport | None:
        """Do what is due, as an assistant or a worker does it with nothing else to do; None when it is not the time.

        Raises Cancelled.
        """
        if not self.collection.settings.nightly or self.collection.store.read_only:
            return None
        with self.collection.store.read() as session:
            since = quiet_since(session)
            if since is not None and session.now - since < timedelta(minutes=self.collection.settings.idle_minutes):
                return None
            cycle = due(session, self.collection.zone)
        if cycle is None:
            return None
        try:
            return self.maintain(cycle=cycle, cancelled=cancelled)
        except MaintenanceRunning:
            return None

    def _phases(self, analyst: Callable[[], Analyst], cycle: str) -> Sequence[Phase]:
        """What a cycle does, in order: what a longer one adds stands where it serves the others best."""
        # Here, since who opens a collection to read or write seldom maintains it.
        from amem.maintenance.compression import CompressPhase
        from amem.maintenance.forgetting_phases import fade_phase, layer_phase
        from amem.maintenance.merge_phase import MergePhase
        from amem.maintenance.upkeep import finish_purges, reembed, tidy, weigh_links

        store, settings = self.collection.store, self.collection.settings

        merging = Phase("merge", MergePhase(self.collection, analyst).run)
        if cycle == CONSOLIDATION:
            return [merging]
        every = [
            ("monthly", Phase("index", partial(reembed, store, self.collection.vectorizer))),
            ("nightly", layer_phase(store, settings)),
            # Before they fade one by one.
            ("weekly", Phase("compress", CompressPhase(self.collection, analyst).run)),
            ("nightly", fade_phase(store, settings, self.collection.predicates)),
            ("nightly", Phase("conflicts", ConflictPhase(store, self.reweigher).run)),
            ("nightly", merging),
            ("nightly", Phase("topics", self.topics.phase(analyst).run)),
            ("monthly", Phase("links", partial(weigh_links, store))),
            ("weekly", Phase("database", partial(tidy, store))),
        ]
        with store.read() as session:
            due = [] if owed(session) is None else [Phase("purges", partial(finish_purges, self.purges.finish))]
        return [*due, *(phase for least, phase in every if CYCLES.index(least) <= CYCLES.index(cycle))]


class MaintenanceHand:
    """A worker's hand that maintains the collection when nothing else is to be done; `tell` hears what changed."""

    def __init__(
        self,
        maintain: Callable[[threading.Event | None], MaintenanceReport | None],
        clock: Clock,
        tell: Callable[[str], None] | None,
    ) -> None:
        self._maintain = maintain
        self._clock = clock
        self._tell = tell
        self._looked: datetime | None = None

    def work(
        self,
        owner: str,
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> MaintenanceReport | None:
        """Do what is due, at most one look a minute. Raises Cancelled."""
        now = self._clock.now()
        if self._looked is not None and abs(now - self._looked) < _BETWEEN:
            return None
        self._looked = now
        report = self._maintain(cancelled)
        if report is not None and self._tell is not None and (line := report.line()):
            self._tell(line)
        return report


#: Notes of one transaction: others who write wait a fraction of a second for it.
_PAGE = 32
_CAUSE = "weighed again"
#: What a judge looks at.
_CLAIM = ("content", "facts", "kind", "at", "valid_from", "status")
#: Operations that weigh what they write.
_WEIGHING = frozenset({"add", "learn", "import", "enrich", "merge", "unsupersede", "reject", ACTION})


@dataclass(frozen=True, slots=True)
class ConflictPhase:
    """Weighs the notes that changed since the last run, and settles what it finds, but for what was undone."""

    store: Store
    reweigher: Reweigher

    def run(self, run: PhaseRun) -> PhaseReport:
        """Look at all that changed, a page at a time; in a dry run only say what would come of it."""
        self.reweigher.refresh()
        with self.store.read() as session:
            keys = _unweighed(session, run.changed(session))
        found: dict[tuple[str, str], Conflict] = {}
        page_of = self._try_page if run.dry_run else self._settle_page
        for place, page in enumerate(chunks(keys, _PAGE)):
            if run.cancelled.is_set():
                break
            for conflict in page_of(run, page, found.values()):
                # Of two notes that both changed each is weighed against the other.
                found.setdefault((conflict.earlier, conflict.later), conflict)
            run.tell(place * _PAGE + len(page), len(keys))
        hidden = [conflict for conflict in found.values() if conflict.hides]
        reasons = tuple(Reason(each.earlier, "superseded", each.verdict.reason) for each in hidden)
        return PhaseReport(_counts(list(found.values())), reasons)

    def _try_page(self, run: PhaseRun, keys: Sequence[int], before: Iterable[Conflict]) -> list[Conflict]:
        with self.store.read() as session:
            ids = list(session.notes.ids_of(keys).values())
            return [each.conflict for _, pairs in self.reweigher.weigh(session, ids) for each in pairs]

    def _settle_page(self, run: PhaseRun, keys: Sequence[int], before: Iterable[Conflict]) -> list[Conflict]:
        found: list[Conflict] = []
        with self.store.write() as session:
            operations: list[int] = []

            def begin(by: str) -> int:
                if not operations:
                    operations.append(run.begin(session, ACTION, _CAUSE))
                return operations[0]

            for note, pairs in self.reweigher.weigh(session, list(session.notes.ids_of(keys).values())):
                found += self.reweigher.carry_out(session, note, pairs, begin).conflicts
            run.mark(session, {"done": keys[-1], "counts": _counts([*before, *found])})
        return found


def _unweighed(session: Session, keys: Sequence[int]) -> list[int]:
    """Those of the notes that say something else, or stand again, since they were weighed: on arrival each is."""
    known = session.operations.unweighed_until()
    last = session.operations.last_to_set(keys, _CLAIM)
    return [key for key in keys if key in last and (last[key][0] <= known or last[key][1] not in _WEIGHING)]


def _counts(conflicts: Sequence[Conflict]) -> dict[str, int]:
    return {"conflicts_found": len(conflicts), "conflicts_resolved": sum(each.hides for each in conflicts)}

"""The night shift: maintenance of a collection, asked for or when it is due and nobody is at work."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from amem.errors import MaintenanceRunning
from amem.maintenance.cycle import CONSOLIDATION, CYCLES, Cycle, due, quiet_since
from amem.protocols import MergeWriter, PageWriter
from amem.storage.jobs import is_gone
from amem.storage.purging import owed

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amem.analysts.models import Models
    from amem.clock import Clock
    from amem.collection import Collection
    from amem.conflict.corrections import Reweigher
    from amem.maintenance.purges import Purges
    from amem.maintenance.shift import MaintenanceReport, Phase
    from amem.maintenance.topics import Topics
    from amem.protocols import Analyst
    from amem.writing.worker import Worker

#: A worker looks every second for work; whether maintenance is due, not so often.
_BETWEEN = timedelta(minutes=1)


class Maintainer:
    """Keeps one collection honest and light; `worker` names who does it, and is called off with the collection."""

    def __init__(
        self,
        collection: Collection,
        models: Models,
        worker: Worker,
        reweigher: Reweigher,
        topics: Topics,
        purges: Purges,
    ) -> None:
        self._collection = collection
        self._store = collection.store
        self._settings = collection.settings
        self._models = models
        self._worker = worker
        self._reweigher = reweigher
        self._topics = topics
        self._purges = purges

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
        models = self._models if cancelled is None else self._models.called_off_by(cancelled)
        return Cycle(self._store, partial(self._phases, models.analyst), self._worker.owner.one_more, is_gone).run(
            cycle, dry_run=dry_run, cancelled=cancelled or self._worker.cancelled, listener=progress
        )

    def when_quiet(self, cancelled: threading.Event | None = None) -> MaintenanceReport | None:
        """Do what is due, as an assistant or a worker does it with nothing else to do; None when it is not the time.

        Raises Cancelled.
        """
        if not self._settings.nightly or self._store.read_only:
            return None
        with self._store.read() as session:
            since = quiet_since(session)
            if since is not None and session.now - since < timedelta(minutes=self._settings.idle_minutes):
                return None
            cycle = due(session, self._collection.zone)
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
        from amem.maintenance.conflict_phase import ConflictPhase
        from amem.maintenance.forgetting_phases import Fading, Layering
        from amem.maintenance.merge_phase import MergePhase
        from amem.maintenance.upkeep import PurgePhase, ReembedPhase, TidyPhase, WeighPhase

        store, settings = self._store, self._settings

        def merge_writer() -> MergeWriter | None:
            found = analyst()
            return found if isinstance(found, MergeWriter) else None

        merging = MergePhase(self._collection, merge_writer)
        if cycle == CONSOLIDATION:
            return [merging]

        def writer() -> PageWriter | None:
            found = analyst()
            return found if isinstance(found, PageWriter) else None

        every: list[tuple[str, Phase]] = [
            ("monthly", ReembedPhase(store, self._collection.vectorizer)),
            ("nightly", Layering(store, settings)),
            # Before they fade one by one.
            ("weekly", CompressPhase(self._collection, writer)),
            ("nightly", Fading(store, settings, self._collection.predicates)),
            ("nightly", ConflictPhase(store, self._reweigher)),
            ("nightly", merging),
            ("nightly", self._topics.phase(analyst)),
            ("monthly", WeighPhase(store)),
            ("weekly", TidyPhase(store)),
        ]
        with store.read() as session:
            due = [] if owed(session) is None else [PurgePhase(self._purges.finish)]
        return [*due, *(phase for least, phase in every if CYCLES.index(least) <= CYCLES.index(cycle))]


class NightHand:
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

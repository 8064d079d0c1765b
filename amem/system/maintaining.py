"""The night shift: maintenance of a collection, whether it is due, and the collection's health."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.collection import folder_size
from amem.errors import EmbedderMismatch, MaintenanceRunning
from amem.ledger import day_of
from amem.maintenance.cycle import CONSOLIDATION, CYCLES, Cycle, due, quiet_since
from amem.maintenance.health import Health, look
from amem.maintenance.upkeep import embed_missing
from amem.protocols import MergeWriter, PageWriter
from amem.storage.activity import deeds
from amem.storage.purging import owed
from amem.system.keeping import Keeping
from amem.writing.worker import is_gone

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amem.clock import Clock
    from amem.maintenance.shift import MaintenanceReport, Phase
    from amem.protocols import Analyst
    from amem.receipt import Receipt
    from amem.storage.activity import Deed


_log = logging.getLogger("amem")
#: A worker looks every second for work; whether maintenance is due, not so often.
_BETWEEN = timedelta(minutes=1)


class Maintaining(Keeping):
    """Keeps a collection honest and light, and says how it is."""

    def maintain(
        self,
        cycle: str = "nightly",
        *,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> MaintenanceReport:
        """Move notes between layers, let fade what never mattered, settle conflicts, merge, renew topics.

        `cycle` is nightly, weekly (also compresses what is old and fading) or monthly (also re-embeds for another
        model and weighs links by use). Looks at what has changed since the last run, and at what time alone has moved;
        goes on with a run that was killed. ``undo(report.operation)`` takes all of it back. `progress` hears
        (phase, done, of); setting `cancelled` (None: closing the collection) calls it off. Raises MaintenanceRunning,
        Cancelled or InvalidInput.
        """
        models = self._models if cancelled is None else self._models.called_off_by(cancelled)
        return Cycle(self._store, partial(self._phases, models.analyst), self._owner.one_more, is_gone).run(
            cycle, dry_run=dry_run, cancelled=cancelled or self._called_off, listener=progress
        )

    def consolidate_memories(self) -> int:
        """Bring the index up to date and merge rewordings; returns how many notes had to be embedded.

        Embeds what changed since the last consolidation, by whatever process. Merges what maintenance would merge,
        unless the setting ``nightly`` is off, as one operation that can be undone. Done by itself after every
        ``evo_threshold`` evolutions. Raises EmbedderMismatch and StorageError.
        """
        with self._store.read() as session:
            counter, seen = session.counter, session.evolutions.read().seq
        embedded = embed_missing(self._store, self._vectorizer, after=seen)
        self._dense.refresh()
        self._retriever.refill()
        if self.settings.nightly and not self.read_only:
            try:
                report = self.maintain(cycle=CONSOLIDATION)
            except MaintenanceRunning:  # which merges, too
                _log.info("maintenance is running: consolidation leaves merging to it")
            else:
                if self._notify is not None and (line := report.line()):
                    self._notify(line)
        if not self.read_only:
            self._evolutions.consolidated(counter)
        return embedded

    def _keep_up(self, receipts: Sequence[Receipt]) -> None:
        """Count what evolved, and consolidate where that is due."""
        due = self._evolutions.count(sum(1 for receipt in receipts if receipt.links or receipt.evolved))
        try:
            if self.settings.embed_recipe != "content":
                # Evolution changed what is embedded of these; until it is embedded, only their words find them.
                touched = {id for receipt in receipts for id in (receipt.id, *(each.id for each in receipt.evolved))}
                embed_missing(self._store, self._vectorizer, sorted(touched))
            if due:
                self.consolidate_memories()
        except Exception as error:  # the notes are stored and acknowledged; the next consolidation makes up for it
            _log.warning("the index is not up to date yet: %s", error)

    def maintain_when_quiet(self, cancelled: threading.Event | None = None) -> MaintenanceReport | None:
        """Do what is due, as an assistant or a worker does it with nothing else to do. Raises Cancelled.

        None when nothing is due, another process is at it, somebody wrote or talked less than ``idle_minutes`` ago, or
        the setting ``nightly`` is off.
        """
        if not self.settings.nightly or self.read_only:
            return None
        with self._store.read() as session:
            since = quiet_since(session)
            if since is not None and session.now - since < timedelta(minutes=self.settings.idle_minutes):
                return None
            cycle = due(session, zone(self.settings.timezone))
        if cycle is None:
            return None
        try:
            return self.maintain(cycle=cycle, cancelled=cancelled)
        except MaintenanceRunning:
            return None

    def maintenance_due(self) -> str | None:
        """The cycle of maintenance that is due now, the longest one; None when none is."""
        with self._store.read() as session:
            return due(session, zone(self.settings.timezone))

    def health(self) -> Health:
        """How the notes are: what is stale, contradicts, hangs loose, waits; how they grow, and when they are due."""
        try:
            self._vectorizer.check()
        except EmbedderMismatch as error:
            index = str(error)
        else:
            index = "in step"
        size = None if self._folder is None else folder_size(self._folder)
        advice = self._languages.always(first=True)
        language = "" if advice is None else str(advice)
        with self._store.read() as session:
            return look(session, zone(self.settings.timezone), index=index, language=language, bytes=size)

    def deeds(self, operation: int, most: int = 1_000) -> list[Deed]:
        """What an operation and all it set off did, note by note in the order it was done: a run of maintenance, say.

        The first `most` of it.
        """
        with self._store.read() as session:
            return deeds(session, operation, limit=most)

    def survey(self) -> list[tuple[str, str]]:
        """Who reads notes and why, whether they can be reached, and what was spent today: (about, what) by line.

        Asks Ollama, which takes up to a few seconds where something else answers at its address or nothing does.
        """
        from amem.analysts.choose import survey, told

        with self._store.read() as session:
            today = day_of(session.now, zone(self.settings.timezone))
            spent = session.spending.of(today)
        return told(survey(self.settings), self.settings, spent)

    def _phases(self, analyst: Callable[[], Analyst], cycle: str) -> Sequence[Phase]:
        """What a cycle does, in order: what a longer one adds stands where it serves the others best."""
        # Here, since who opens a collection to read or write seldom maintains it.
        from amem.maintenance.compression import CompressPhase
        from amem.maintenance.forgetting_phases import Fading, Layering
        from amem.maintenance.merge_phase import MergePhase
        from amem.maintenance.upkeep import PurgePhase, ReembedPhase, TidyPhase, WeighPhase
        from amem.system.reweighing import ConflictPhase

        store, settings, vectorizer = self._store, self.settings, self._vectorizer

        def merge_writer() -> MergeWriter | None:
            found = analyst()
            return found if isinstance(found, MergeWriter) else None

        merging = MergePhase(store, self._dense, vectorizer, settings, self._predicates, merge_writer)
        if cycle == CONSOLIDATION:
            return [merging]

        def writer() -> PageWriter | None:
            found = analyst()
            return found if isinstance(found, PageWriter) else None

        every: list[tuple[str, Phase]] = [
            ("monthly", ReembedPhase(store, vectorizer)),
            ("nightly", Layering(store, settings)),
            # Before they fade one by one.
            ("weekly", CompressPhase(store, vectorizer, settings, self._predicates, writer)),
            ("nightly", Fading(store, settings, self._predicates)),
            ("nightly", ConflictPhase(store, self._reweigher)),
            ("nightly", merging),
            ("nightly", self._topic_phase(analyst)),
            ("monthly", WeighPhase(store)),
            ("weekly", TidyPhase(store)),
        ]
        with store.read() as session:
            due = [] if owed(session) is None else [PurgePhase(self.finish_purges)]
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

"""The maintenance cycle: when it is due, one run at a time, phase after phase."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from time import monotonic
from typing import TYPE_CHECKING, Any

from amem.clock import ASTRAY, start_of_day
from amem.errors import Cancelled, InvalidInput, MaintenanceRunning, StorageError, with_hint
from amem.maintenance.phase import LEASE_SECONDS, MaintenanceReport, Phase, PhaseReport, PhaseRun, Reason, total
from amem.storage.rows import read_time, time_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.storage.jobs import Run
    from amem.storage.store import Session, Store


# The maintenance cycle: one run at a time, phase after phase, each run going on from where the last one had seen to.
#
# A run is a row in the database. Whoever finds one that its process left (killed, closed, called off) goes on with
# it, under the same operation, and with what has changed meanwhile. Reading and writing go on beside it: it holds the
# database for a page of notes at a time.

_log = logging.getLogger("amem")

#: The cycles, each of which does what those before it do, and more.
CYCLES = ("nightly", "weekly", "monthly")
#: What `consolidate_memories` runs between two of them, which does a part of what each does.
CONSOLIDATION = "consolidation"
_ORDER = (CONSOLIDATION, *CYCLES)


@dataclass(slots=True)
class _Sum:
    """What the phases did so far."""

    counts: Mapping[str, int]
    reasons: list[Reason]
    problems: list[str]

    def report(self, cycle: str, began: float, **more: Any) -> MaintenanceReport:
        """The report of a run of this cycle that `began` at a monotonic moment."""
        took, reasons, problems = monotonic() - began, tuple(self.reasons), tuple(self.problems)
        return MaintenanceReport.of(self.counts, cycle=cycle, duration=took, reasons=reasons, problems=problems, **more)


@dataclass(frozen=True, slots=True)
class Cycle:
    """Runs the `phases` of a cycle (given by its name) on one collection.

    `owners` makes a name for each run, `gone` tells of an owner whether its process has ended.
    """

    store: Store
    phases: Callable[[str], Sequence[Phase]]
    owners: Callable[[], str]
    gone: Callable[[str], bool]

    def run(
        self,
        cycle: str,
        *,
        dry_run: bool,
        cancelled: threading.Event,
        listener: Callable[[str, int, int], None] | None = None,
    ) -> MaintenanceReport:
        """Run it to its end, or go on with one that was left in the middle, which may be of a longer cycle.

        Raises MaintenanceRunning when another is at it, InvalidInput for a cycle there is none of, and Cancelled when
        `cancelled` was set; what was done until then stays, and the next run goes on from there.
        """
        if cycle not in _ORDER:
            raise InvalidInput(f"there is no cycle {cycle!r}", hint=f"use {', '.join(CYCLES)}; dry_run=True only plans")
        began = monotonic()
        if dry_run:
            with self.store.read() as session:
                since = _seen(session, cycle)
                phase_run = PhaseRun(cycle, since, True, cancelled, _changed(session, since), listener=listener)
            return self._through(phase_run, {}).report(cycle, began, dry_run=True)
        # 1. Claim the run: a new one, or the one that was left in the middle.
        run, resumed = self._claim(cycle, self.owners())
        assert run.owner is not None
        try:
            phase_run = PhaseRun(
                cycle=run.cycle,
                since=run.since,
                dry_run=False,
                cancelled=cancelled,
                keys=unpacked(run.progress["keys"]),
                run=run.id,
                owner=run.owner,
                listener=listener,
            )
            # 2. Go through the phases that are not finished (maintainer.py names them), each a page of notes at a time.
            done = self._through(phase_run, run.progress["phases"])
            # 3. Write down up to where the collection was seen.
            operation = self._finish(run, done.problems)
        except StorageError as error:
            if cancelled.is_set():  # closed under our hands
                raise Cancelled("the maintenance was called off", hint="the next one goes on with it") from error
            raise
        finally:
            # Nothing to give back once it is finished; who closed the collection has given it back.
            with suppress(StorageError), self.store.write() as session:
                session.runs.give_back(run.owner)
        return done.report(run.cycle, began, operation=operation, resumed=resumed)

    # -- phase after phase -------------------------------------------------------------------------------------

    def _through(self, phase_run: PhaseRun, before: Mapping[str, Mapping[str, Any]]) -> _Sum:
        """All phases that were not finished `before`; one that fails does not keep the others from their work."""
        sum = _Sum({}, [], [])
        for phase in self.phases(phase_run.cycle):
            progress = before.get(phase.name, {})
            if not progress.get("finished"):
                report = self._one(phase, replace(phase_run, phase=phase.name, progress=progress), sum)
                sum.reasons += report.reasons
                progress = {"counts": total(progress.get("counts", {}), report.counts)}
            sum.counts = total(sum.counts, progress["counts"])
        return sum

    def _one(self, phase: Phase, phase_run: PhaseRun, sum: _Sum) -> PhaseReport:
        phase_run.tell(0, 0)
        try:
            report = phase.run(phase_run)
        except (Cancelled, StorageError):
            raise
        except Exception as error:
            _log.warning("maintenance: %s failed: %s", phase.name, error, exc_info=True)
            sum.problems.append(f"{phase.name}: {with_hint(error)}")
            return PhaseReport()
        if phase_run.cancelled.is_set():
            raise Cancelled("the maintenance was called off", hint="the next one goes on with it")
        if not phase_run.dry_run:
            with self.store.write() as session:
                phase_run.finish(session, report.counts)
        return report

    # -- beginning and end -------------------------------------------------------------------------------------

    def _claim(self, cycle: str, owner: str) -> tuple[Run, bool]:
        """The run to go on with, or a new one; and whether it is an old one."""
        with self.store.write() as session:
            left = session.runs.open()
            if left is None:
                since = _seen(session, cycle)
                progress = {"seen": session.counter, "keys": packed(_changed(session, since)), "phases": {}}
                return session.runs.start(cycle, since, progress, owner, seconds=LEASE_SECONDS), False
            if self._held(left, session):
                raise MaintenanceRunning(
                    f"maintenance is running since {left.started_at:%Y-%m-%d %H:%M} UTC ({left.owner})",
                    hint="wait for it; amem health says how far it is",
                )
            # What has changed since it began is looked at, too; a phase that is past it meets it in the next run.
            longer = max(cycle, left.cycle, key=_ORDER.index)
            seen = left.progress["seen"] if longer == left.cycle else min(left.progress["seen"], _seen(session, longer))
            fresh = _changed(session, seen)
            keys = sorted({*unpacked(left.progress["keys"]), *fresh})
            progress = {**left.progress, "keys": packed(keys)}
            return session.runs.take(left.id, longer, progress, owner, seconds=LEASE_SECONDS), True

    def _held(self, run: Run, session: Session) -> bool:
        if run.owner is None or run.lease_until is None or self.gone(run.owner):
            return False
        return run.lease_until > session.now

    def _finish(self, run: Run, problems: Sequence[str]) -> int | None:
        """End the run; its successor looks at what changed since it began, or again at all it should have looked at."""
        with self.store.write() as session:
            now = session.runs.get(run.id)
            seen = run.since if problems else now.progress["seen"]
            session.runs.record(run.id, "", {**now.progress, "seen": seen, "keys": "", "problems": [*problems]})
            session.runs.finish(run.id)
            return now.operation


def _seen(session: Session, cycle: str) -> int:
    """Up to where the last runs had seen the collection: for a consolidation the earlier consolidations, too."""
    runs = [session.runs.last(CYCLES), session.runs.last((CONSOLIDATION,)) if cycle == CONSOLIDATION else None]
    return max((int(run.progress["seen"]) for run in runs if run is not None), default=0)


def _changed(session: Session, since: int) -> list[int]:
    return session.column("SELECT key FROM notes WHERE seq > :since AND status = 'active' ORDER BY key", since=since)


def packed(keys: Iterable[int]) -> str:
    """Ascending keys as text, those in a row as ``first-last``: 10,000 notes that are all new take 7 characters."""
    rows: list[list[int]] = []
    for key in keys:
        if rows and key == rows[-1][1] + 1:
            rows[-1][1] = key
        else:
            rows.append([key, key])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in rows)


def unpacked(text: str) -> list[int]:
    """The inverse of `packed`."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


# When maintenance is due: once a night, once in seven nights, once in thirty.

#: When a night is over, by the clock on the wall: what runs later belongs to the next one.
NIGHT = timedelta(hours=3)
#: A cycle is due so many nights after the last run that did its work.
NIGHTS: Mapping[str, int] = {"nightly": 1, "weekly": 7, "monthly": 30}


def due(session: Session, zone: tzinfo) -> str | None:
    """The longest cycle that is due, None when none is; a collection is first due the night after its first note."""
    times = upcoming(session, zone)
    late = [cycle for cycle in CYCLES if cycle in times and times[cycle] <= session.now]
    return late[-1] if late else None


def upcoming(session: Session, zone: tzinfo) -> dict[str, datetime]:
    """For each cycle since when it is, or from when it will be, due; empty in a collection without notes."""
    found = {}
    for place, cycle in enumerate(CYCLES):
        # A longer cycle does the work of the shorter ones.
        last = session.runs.last(CYCLES[place:])
        began = None if last is None else last.finished_at
        if began is None or _astray(session, began):
            began = _first_note(session)
        if began is not None and _astray(session, began):
            began = session.now
        if began is not None:
            found[cycle] = _night(began, zone) + timedelta(days=NIGHTS[cycle])
    return found


def quiet_since(session: Session) -> datetime | None:
    """When the collection was last written to or talked with; None when never."""
    latest = time_text(session.now + ASTRAY)
    times = [
        session.value(f"SELECT at FROM {table} WHERE at <= :latest ORDER BY {key} DESC LIMIT 1", latest=latest)
        for table, key in (("operations", "id"), ("turns", "key"))
    ]
    return max((at for at in map(read_time, times) if at is not None), default=None)


def _astray(session: Session, moment: datetime) -> bool:
    return moment > session.now + ASTRAY


def _first_note(session: Session) -> datetime | None:
    return read_time(session.value("SELECT min(recorded_at) FROM notes"))


def _night(moment: datetime, zone: tzinfo) -> datetime:
    """The end of the night that this moment comes after."""
    today = start_of_day(moment, zone) + NIGHT
    return today if today <= moment else today - timedelta(days=1)

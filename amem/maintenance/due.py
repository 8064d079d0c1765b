"""When maintenance is due: once a night, once in seven nights, once in thirty."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.clock import ASTRAY, start_of_day
from amem.maintenance.cycle import CYCLES
from amem.storage import tables
from amem.storage.rows import read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.storage import Session

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
        session.connection.execute(
            select(table.c.at).where(table.c.at <= latest).order_by(key.desc()).limit(1)
        ).scalar_one_or_none()
        for table, key in ((tables.operations, tables.operations.c.id), (tables.turns, tables.turns.c.key))
    ]
    return max((at for at in map(read_time, times) if at is not None), default=None)


def _astray(session: Session, moment: datetime) -> bool:
    return moment > session.now + ASTRAY


def _first_note(session: Session) -> datetime | None:
    return read_time(session.connection.execute(select(func.min(tables.notes.c.recorded_at))).scalar_one())


def _night(moment: datetime, zone: tzinfo) -> datetime:
    """The end of the night that this moment comes after."""
    today = start_of_day(moment, zone) + NIGHT
    return today if today <= moment else today - timedelta(days=1)

"""The clock and the ids, passed in as one value so that tests need no sleep and no patch; reading and writing times."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from amem.errors import InvalidInput

#: A-Mem's own way to write a time: minutes, local, no separators.
COMPACT = "%Y%m%d%H%M"
#: The first and the last instant with a date in every time zone: from 15 hours behind UTC to 14 ahead of it.
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, 9, 59, 59, 999999, tzinfo=UTC)
#: Characters of what is no time that an error shows.
_SHOWN = 60
#: What was recorded later than so long from now was recorded by a clock that stood wrong.
ASTRAY = timedelta(days=1)


class Clock(Protocol):
    """Tells the time and makes ids."""

    def now(self) -> datetime:
        """The present, aware, in UTC."""
        ...

    def new_id(self) -> str:
        """An id no other note has."""
        ...


class SystemClock:
    """The machine's clock and random UUIDs."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self) -> str:
        return str(uuid.uuid4())


def zone(name: str | None) -> tzinfo:
    """The time zone of that IANA name, or the system's own for None or ''. Raises InvalidInput."""
    if not name:
        local = datetime.now().astimezone().tzinfo
        assert local is not None
        return local
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"unknown time zone {name!r}", hint="use an IANA name such as Europe/Lisbon or Asia/Shanghai"
        ) from error


def is_datable(moment: datetime) -> bool:
    """Whether a time, wherever it is meant where it has no zone, can be told in every time zone."""
    try:
        if moment.tzinfo is None:
            return _FIRST.replace(tzinfo=None) <= moment.replace(tzinfo=None) <= _LAST.replace(tzinfo=None)
        return _FIRST <= moment <= _LAST
    except (OverflowError, ValueError):  # an offset that leads out of the calendar
        return False


def time_text(moment: datetime, zone: tzinfo) -> str:
    """A time in the zone for people: ``2026-05-03 14:30``; the day alone at midnight, where no hour was given."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d}" if (local.hour, local.minute) == (0, 0) else f"{local:%Y-%m-%d %H:%M}"


def start_of_day(moment: datetime, zone: tzinfo) -> datetime:
    """When the day of that moment began in the zone."""
    return moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)


def local_time(text: str | datetime, default_zone: tzinfo) -> datetime:
    """Read ISO 8601 or A-Mem's ``YYYYMMDDHHMM`` as an aware time in the zone it was given in.

    A time without a zone is taken in `default_zone`; a date alone means its midnight.
    Raises InvalidInput for anything else, and for a time that some zones have no date for (before the second day of
    the year 1, or at the very end of 9999).
    """
    moment = text if isinstance(text, datetime) else _read(text.strip())
    moment = moment.replace(tzinfo=default_zone) if moment.tzinfo is None else moment
    if not is_datable(moment):
        raise InvalidInput(f"time out of range: {moment.isoformat()}", hint="leave out a time without end")
    return moment


def parse_time(text: str | datetime, default_zone: tzinfo) -> datetime:
    """As `local_time`, in UTC."""
    return local_time(text, default_zone).astimezone(UTC)


# A note is held against neighbours of which the same times are read again and again.
@lru_cache(maxsize=4096)
def _read(text: str) -> datetime:
    if len(text) == 12 and text.isascii() and text.isdigit():
        try:
            return datetime.strptime(text, COMPACT)
        except ValueError:
            pass
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"cannot read {text[:_SHOWN]!r} as a time", hint="use ISO 8601 (2026-03-01T09:30) or YYYYMMDDHHMM"
        ) from error

"""On which day something was for the people of a time zone, whose clocks may have been changed on that very day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from datetime import tzinfo

    from numpy.typing import NDArray

#: What a stretch of time is cut into where the clocks were changed within it.
_FINER = {"D": "h", "h": "m", "m": "s"}


def local_days(times: NDArray[np.datetime64], zone: tzinfo) -> NDArray[np.datetime64]:
    """The day (``datetime64[D]``) of each of these times (UTC), in that zone."""
    days = (times + _offsets(times, zone, "D")).astype("datetime64[D]")
    within: NDArray[np.datetime64] = np.clip(days, np.datetime64(date.min), np.datetime64(date.max))
    return within


def _offsets(times: NDArray[np.datetime64], zone: tzinfo, unit: str) -> NDArray[np.timedelta64]:
    """What the zone's clocks were ahead of UTC at these times: asked for each day once, and finer where it changed."""
    found = np.zeros(len(times), dtype="timedelta64[s]")
    begins, place = np.unique(times.astype(f"datetime64[{unit}]"), return_inverse=True)
    first = [_offset(each, zone) for each in begins.astype("datetime64[s]").tolist()]
    found[:] = np.array(first, dtype="timedelta64[s]")[place] if first else 0
    if unit in _FINER:
        last = [_offset(each, zone) for each in (begins + 1).astype("datetime64[s]").tolist()]
        changed = np.array([one != other for one, other in zip(first, last, strict=True)], dtype=np.bool_)[place]
        if changed.any():
            found[changed] = _offsets(times[changed], zone, _FINER[unit])
    return found


def _offset(moment: datetime | int, zone: tzinfo) -> timedelta:
    if isinstance(moment, int):  # what numpy makes of a time after the last date there is
        return timedelta()
    try:
        return moment.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta()
    except OverflowError:
        return timedelta()

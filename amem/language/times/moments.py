"""A point in time as a person types it for an option: ``2026-05``, ``7d``, ``yesterday``, ``2 weeks ago``, 上周."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, tzinfo

from amem.clock import is_datable, parse_time, start_of_day
from amem.errors import InvalidInput
from amem.language.numerals import SPELLED, value_of
from amem.language.times import named
from amem.language.times.spans import same_day

#: Characters of what is no time that an error shows.
_SHOWN = 60
_SHORT = re.compile(r"(?P<count>\d+) ?(?P<unit>[mhdw])")
_AGO = re.compile(
    rf"(?P<count>\d+|an?|a couple of|{'|'.join(word for word in SPELLED if word.isascii())}) "
    r"(?P<unit>min(?:ute)?|hour|day|week|month|year)s? ago"
)
_AGO_ZH = re.compile(
    r"(?P<count>\d+|[一二两三四五六七八九十百]{1,4}) ?个?(?P<unit>分钟|小时|钟头|天|周|星期|礼拜|月|年)(?:之|以)?前"
)
#: Of a day, at what time: "yesterday 14:30", "2026-05-02 at 9:05".
_AT = re.compile(r"(?P<day>\S.*?)(?: at |[ ,])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
_MONTH = re.compile(r"(?P<year>\d{4})(?:-(?P<month>0?[1-9]|1[0-2]))?")
_MINUTES = {"m": 1, "h": 60, "d": 1_440, "w": 10_080, "min": 1, "minute": 1, "hour": 60}
_MINUTES |= {"分钟": 1, "小时": 60, "钟头": 60}
_DAYS = {"day": 1, "week": 7, "天": 1, "周": 7, "星期": 7, "礼拜": 7}
_MONTHS = {"month": 1, "year": 12, "月": 1, "年": 12}
_NOW = ("now", "现在")
_HINT = "use 2026-03-01, 2026-03-01T09:30, 2026-03, 7d, 12h, today, yesterday, 2 weeks ago, last month, 昨天 or 上周"


def moment_of(text: str, zone: tzinfo, now: datetime) -> datetime:
    """Return the time that `text` names, aware; of a day, week, month or year the beginning, in `zone`.

    ``12h`` and ``7d`` are so long before `now`, to the minute; ``3 days ago`` is the beginning of that day.
    Raises InvalidInput for what names no time, or one outside the calendar.
    """
    said = " ".join(text.lower().split())
    try:
        found = _read(said, zone, now)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(f"{text[:_SHOWN]!r} is too long ago") from error
    if found is None:
        try:
            return parse_time(text, zone)
        except InvalidInput as error:
            raise InvalidInput(str(error), hint=_HINT) from error
    if not is_datable(found):
        raise InvalidInput(f"{text[:_SHOWN]!r} is too long ago")
    return found


def _read(said: str, zone: tzinfo, now: datetime) -> datetime | None:
    """The time that is said in words; None for what may be ISO 8601, or nothing."""
    if said in _NOW:
        return now
    match = _SHORT.fullmatch(said)
    if match is not None:
        return now - timedelta(minutes=int(match["count"]) * _MINUTES[match["unit"]])
    today = start_of_day(now, zone)
    match = _AGO.fullmatch(said) or _AGO_ZH.fullmatch(said)
    if match is not None:
        return _before(now, today, _number(match["count"]), match["unit"])
    match = _MONTH.fullmatch(said)
    if match is not None:
        return today.replace(year=int(match["year"]), month=int(match["month"] or 1), day=1)
    match = _AT.fullmatch(said)
    if match is not None:
        day = _day(match["day"], today)
        return None if day is None else day.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    return _day(said, today)


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    spelled = {"a": 1, "an": 1, "a couple of": 2} | SPELLED
    return spelled.get(word) or value_of(word) or 0


def _before(now: datetime, today: datetime, count: int, unit: str) -> datetime:
    if unit in _MINUTES:
        return now - timedelta(minutes=count * _MINUTES[unit])
    if unit in _DAYS:
        return today - timedelta(days=count * _DAYS[unit])
    return datetime.combine(same_day(today.date(), -count * _MONTHS[unit]), time.min, today.tzinfo)


def _day(said: str, today: datetime) -> datetime | None:
    """The beginning of the one day, week, month or year that these words name and nothing else."""
    # A month or a weekday alone is only read as one behind such a word.
    for before in ("", "in ", "on "):
        found = named(before + said, today.date())
        if len(found) == 1 and found[0].start in (0, len(before)) and found[0].end == len(before + said):
            span = found[0].span
            return None if span is None else datetime.combine(span.first, time.min, today.tzinfo)
    return None

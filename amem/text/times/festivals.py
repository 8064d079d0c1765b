"""Festivals that times are named by: "over Christmas", 今年春节."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.text.times.spans import Named, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def _fixed(month: int, day: int, days: int = 1) -> Callable[[int], Span]:
    return lambda year: Span(date(year, month, day), "day", days)


def _lunar(which: int, before: int, days: int) -> Callable[[int], Span]:
    return lambda year: Span(_chinese_calendar()[year][which] - timedelta(days=before), "day", days)


def _thanksgiving(year: int) -> Span:
    first = date(year, 11, 1)
    return Span(first + timedelta(days=(3 - first.weekday()) % 7 + 21), "day", 4)


def _easter(year: int) -> Span:
    """Good Friday to Easter Monday. The anonymous Gregorian computus (Meeus, Astronomical Algorithms, ch. 8)."""
    century, rest = divmod(year, 100)
    epact = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return Span(date(year, month, day + 1) - timedelta(days=2), "day", 4)


_SPRING = _lunar(0, 1, 8)
_FESTIVALS: Mapping[str, Callable[[int], Span]] = {
    "christmas eve": _fixed(12, 24),
    "christmas": _fixed(12, 24, 3),
    "new year's eve": _fixed(12, 31),
    "new year's day": _fixed(1, 1),
    "new year's": _fixed(1, 1),
    "valentine's day": _fixed(2, 14),
    "halloween": _fixed(10, 31),
    "thanksgiving": _thanksgiving,
    "easter": _easter,
    "chinese new year": _SPRING,
    "lunar new year": _SPRING,
    "spring festival": _SPRING,
    "dragon boat festival": _lunar(1, 0, 3),
    "mid-autumn festival": _lunar(2, 0, 3),
    "春节": _SPRING,
    "过年": _SPRING,
    "除夕": _lunar(0, 1, 1),
    "元宵": _lunar(0, -14, 1),
    "端午": _lunar(1, 0, 3),
    "中秋": _lunar(2, 0, 3),
    "元旦": _fixed(1, 1),
    "情人节": _fixed(2, 14),
    "清明": _fixed(4, 4, 3),
    "五一": _fixed(5, 1, 5),
    "国庆": _fixed(10, 1, 7),
    "十一长假": _fixed(10, 1, 7),
    "十一假期": _fixed(10, 1, 7),
    "万圣": _fixed(10, 31),
    "圣诞": _fixed(12, 24, 3),
}
_LATIN = "|".join(name.replace("'", "['’]?") for name in _FESTIVALS if name.isascii())
_HAN = "|".join(name for name in _FESTIVALS if not name.isascii())
_YEAR = r"(?:19|20)\d\d"
_ENGLISH = re.compile(
    rf"\b(?:(?P<which>last|this) |(?:at|over|on|during|around|since|until|before|after|by|and|between|to|of|from)"
    rf" (?:the )?)(?P<festival>{_LATIN})(?: (?:of )?(?P<year>{_YEAR}))?\b"
    r"(?! (?:tree|part|card|gift|present|dinner|song|movie|costume|market|egg|decoration))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"(?:(?P<year>{_YEAR})年的?|(?P<which>去年|今年|前年|明年|上个?|这个?)的?)?(?P<festival>{_HAN})节?"
    r"(?=(?P<after>期间|的?时候?|假期|长假|放假|当天|那[天几阵]|之?[前后]|以[前后来]|[我你他她咱]|去|在|回|[？?，,]|到|和)?)"
)


def festivals(text: str, today: date) -> Iterator[Named]:
    """Each festival that is named as a time; one without a year is the most recent that has begun."""
    for match in _ENGLISH.finditer(text):
        named = match["festival"].casefold().replace("’", "'")
        name = next(each for each in _FESTIVALS if each.replace("'", "") == named.replace("'", ""))
        which = (match["which"] or "").casefold()
        start = match.start("which") if which else match.start("festival")
        yield _named(match, start, name, which, today)
    for match in _CHINESE.finditer(text):
        if match["year"] or match["which"] or match["after"] or match["festival"].endswith(("假", "期")):
            yield _named(match, match.start(), match["festival"], match["which"] or "", today)


def _named(match: re.Match[str], start: int, name: str, which: str, today: date) -> Named:
    bare = not match["year"] and not which
    try:
        of = _FESTIVALS[name]
        offset = {"去年": -1, "今年": 0, "前年": -2, "明年": 1}.get(which)
        if match["year"]:
            span = of(int(match["year"]))
        elif offset is not None:
            span = of(today.year + offset)
        else:
            span = of(today.year)
            begun = span.last < today if which in ("last", "上", "上个") else span.first <= today
            span = span if begun else of(today.year - 1)
    except (KeyError, ValueError, OverflowError):
        return Named(start, match.end(), None)
    return Named(start, match.end(), span, bare=bare, relative=bool(which))


@cache
def _chinese_calendar() -> Mapping[int, tuple[date, ...]]:
    """By year, when its first month begins, and when the Dragon Boat and the Mid-Autumn Festival are."""
    lines = files("amem.text.times").joinpath("festivals.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {int(year): tuple(date(int(year), int(day[:2]), int(day[2:])) for day in days) for year, *days in rows}

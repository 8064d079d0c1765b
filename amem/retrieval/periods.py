"""The time that a question names, as a period: "last week", "since 2022", "between March and May", 今年春节以前.

Which days the words mean is read by ``amem.text.times``; here is what the words around them make of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.retrieval.reading import Period
from amem.text.times import Named, Span, named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

#: Words before a time that say which side of it is meant, and those behind it that do in Chinese.
_SIDES = re.compile(
    r"\b(?:(?P<since>(?:ever )?since|as of)|(?P<after>after|following)|(?P<until>until|till|up to|through|by)"
    r"|(?P<before>before|prior to|earlier than)|(?P<between>between)|(?P<every>every|each)"
    r"|(?P<within>from|in|on|at|during|over|within|throughout|around))"
    r"(?: the| that)?\s*$"
    r"|(?P<zh_since>自从?|从|打)$|(?P<zh_before>早于|截[至止]到?)$|(?P<zh_after>晚于)$|(?P<zh_every>每个?)$|(?P<zh_in>在|于)$",
    re.IGNORECASE,
)
_SIDES_ZH = re.compile(
    r"的?(?:(?P<before>之前|以前|为止|前(?![台端面后]))|(?P<after>之后|以后|过后|后(?![台端面天来]))"
    r"|(?P<since>以来|开始|起(?!床|来)|至今|到现在|到今天|\s?on(?:wards)?\b))"
)
#: From one time to the next: a range, or both.
_RANGE = re.compile(r"\s*(?:to|through|until|till|up to|-|–|—|~|到|至)(?: the)?\s*", re.IGNORECASE)
_BOTH = re.compile(r"\s*(?:and|和|与|跟)(?: the)?\s*", re.IGNORECASE)
_PART = re.compile(
    r"\b(?:(?:the )?(?:(?P<early>early(?: in)?|(?:start|beginning|first (?:half|part)) of)|(?P<mid>mid|middle of)"
    r"|(?P<late>late(?: in)?|(?:end|second half|last (?:half|part)|rest) of))(?: (?:in|of))?(?: the)?)[ -]$",
    re.IGNORECASE,
)
_WEEK = re.compile(r"\b(?:the )?week of (?:the )?$", re.IGNORECASE)
_PART_ZH = re.compile(r"的?(?:(?P<early>年?初|上旬|前半)|(?P<mid>年?中旬|年中)|(?P<late>年?底|年?末|下旬|后半))")
#: A span that is reckoned from the time behind it: "two weeks before 3 May", 5月3日前一天.
_COUNT = r"an?|the|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}|last"
_SHIFT = re.compile(
    rf"\b(?P<count>{_COUNT}) (?P<unit>day|week|weekend|month|year)s?"
    r" (?P<side>before|after|following|prior to) (?:the )?$",
    re.IGNORECASE,
)
_SHIFT_ZH = re.compile(r"的?(?P<side>[前后])(?P<count>\d{1,3}|[一两二三四五六七八九十])个?(?P<unit>天|周|星期|月|年)")
_NUMBERS = {
    **{word: at for at, word in enumerate("one two three four five six seven eight nine ten".split(), 1)},  # noqa: SIM905
    **{word: at for at, word in enumerate("一二三四五六七八九十", 1)},
    **dict.fromkeys(("a", "an", "the", "last"), 1),
    "两": 2,
}
_UNITS = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_ON_A_WEEKEND = re.compile(r"last weekend", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Time:
    """A time of the question, from its first day through its last, and on which `side` of it things were."""

    start: int
    end: int
    first: date
    last: date
    side: str
    bare: bool
    relative: bool


@dataclass(frozen=True, slots=True)
class Dated:
    """The period, where its words stand, and whether they would mean another time in a note (`relative`)."""

    period: Period
    start: int
    end: int
    relative: bool


def dated(text: str, now: datetime, zone: tzinfo) -> Dated | None:
    """The time that `text` names, as days in `zone`; None where it names none, or none that can be told.

    Of several times it is the range that the words make of them, else the whole from the first to the last.
    """
    try:
        return _dated(text, now.astimezone(zone).date(), zone)
    except OverflowError:  # what it names lies at the end of the calendar
        return None


def _dated(text: str, today: date, zone: tzinfo) -> Dated | None:
    times = [each for each in (_read(text, found, today) for found in named(text, today)) if each is not None]
    if not times:
        return None
    # In "the last weekend before 10 April" the weekend is no time of its own.
    times = [one for one, two in zip(times, [*times[1:], None], strict=True) if two is None or one.start < two.start]
    first, last = _together(text, times)
    closed = [each for each in times if each.side == "in"]
    used = closed if closed and (first, last) == _hull(closed) else times
    start, end = min(each.start for each in used), max(each.end for each in used)
    since = None if first is None else _midnight(first, zone)
    until = None if last is None else _midnight(last + timedelta(days=1), zone)
    period = Period(text[start:end], since, until, yearless=all(each.bare for each in used))
    return Dated(period, start, end, all(each.relative for each in used))


def _midnight(day: date, zone: tzinfo) -> datetime:
    """The beginning of the day. Raises OverflowError where it has no time in UTC, in which notes are kept."""
    moment = datetime.combine(day, time(), zone)
    moment.astimezone(UTC)
    return moment


def _read(text: str, found: Named, today: date) -> _Time | None:
    """What the words around a time make of it; None for one that recurs ("every May") or cannot be told."""
    span = found.span
    if span is None and _ON_A_WEEKEND.fullmatch(text, found.start, found.end):
        # Asked on a Saturday or Sunday, it is the one that is over.
        span = Span(today - timedelta(days=today.weekday() + 2), "weekend")
    if span is None:
        return None
    try:
        first, last = span.first, span.last
    except (ValueError, OverflowError):
        return None
    start, end = found.start, found.end
    lead = text[max(0, start - 40) : start]
    if first == last and (week := _WEEK.search(lead)):
        first -= timedelta(days=first.weekday())
        last, start = first + timedelta(days=6), start - len(lead) + week.start()
        lead = text[max(0, start - 40) : start]
    if (part := _PART.search(lead)) or (part := _PART_ZH.match(text, end)):
        first, last = _third(first, last, part.lastgroup or "")
        start, end = (start - len(lead) + part.start(), end) if part.re is _PART else (start, part.end())
        lead = text[max(0, start - 40) : start]
    if shift := _SHIFT.search(lead) or _SHIFT_ZH.match(text, end):
        first, last = _shifted(first, last, shift)
        start, end = (start - len(lead) + shift.start(), end) if shift.re is _SHIFT else (start, shift.end())
        lead = text[max(0, start - 40) : start]
    side = "in"
    inside = re.match(r"since ", text[start:end], re.IGNORECASE)
    if inside:
        side = "since"
    elif behind := _SIDES_ZH.match(text, end):
        side, end = behind.lastgroup or "in", behind.end()
    elif ahead := _SIDES.search(lead):
        side = (ahead.lastgroup or "in").removeprefix("zh_")
        start = start - len(lead) + ahead.start()
    if side == "every":
        return None
    side = "in" if side in ("within", "between") else side
    return _Time(start, end, first, last, side, found.bare, found.relative)


def _third(first: date, last: date, part: str) -> tuple[date, date]:
    """The first, middle or last third of a span: "early", "mid" and "late"."""
    third = timedelta(days=((last - first).days + 1) // 3)
    if part == "early":
        return first, max(first, first + third - timedelta(days=1))
    return (min(last, last - third + timedelta(days=1)), last) if part == "late" else (first + third, last - third)


def _shifted(first: date, last: date, match: re.Match[str]) -> tuple[date, date]:
    """The day, week, month or year that lies so many of them before or after."""
    count = _NUMBERS.get(match["count"].casefold()) or int(match["count"])
    unit = _UNITS.get(match["unit"]) or match["unit"].casefold()
    back = match["side"].casefold() in ("before", "prior to", "前")
    if unit == "weekend":
        saturday = first - timedelta(days=first.weekday() + 2) if back else last + timedelta(days=5 - last.weekday())
        saturday += timedelta(weeks=(1 - count) if back else (count - 1))
        return saturday, saturday + timedelta(days=1)
    days = timedelta(days=_DAYS[unit])
    if back:
        return first - count * days, first - (count - 1) * days - timedelta(days=1)
    return last + (count - 1) * days + timedelta(days=1), last + count * days


def _together(text: str, times: Sequence[_Time]) -> tuple[date | None, date | None]:
    """First and last day, None where it is open."""
    for one, two in pairwise(times):
        between = text[one.end : two.start]
        ranged = _RANGE.fullmatch(text, one.end, two.start) or (two.side == "until" and not between.strip())
        if ranged or (_BOTH.fullmatch(between) and one.side in ("in", "since")):
            return _ordered(one, two)
    closed = [each for each in times if each.side == "in"]
    if closed:
        return _hull(closed)
    begun = [each.first for each in times if each.side == "since"]
    begun += [each.last + timedelta(days=1) for each in times if each.side == "after"]
    ended = [each.last for each in times if each.side == "until"]
    ended += [each.first - timedelta(days=1) for each in times if each.side == "before"]
    since, until = (max(begun) if begun else None), (min(ended) if ended else None)
    return (since, None) if since and until and until < since else (since, until)


def _hull(times: Sequence[_Time]) -> tuple[date, date]:
    return min(each.first for each in times), max(each.last for each in times)


def _ordered(one: _Time, two: _Time) -> tuple[date, date]:
    """A range from one to the other, where a year that only one of them has is the other's, too."""
    if one.first <= two.last and one.bare == two.bare:
        return one.first, two.last
    if two.bare and not one.bare:  # "from May 2021 to August"
        two = _in_year(two, one.first.year)
        two = two if two.last >= one.first else _in_year(two, one.first.year + 1)
    elif one.bare:  # "from May to August 2024", "from October to March"
        one = _in_year(one, two.last.year)
        one = one if one.first <= two.last else _in_year(one, two.last.year - 1)
    return min(one.first, two.first), max(one.last, two.last)


def _in_year(each: _Time, year: int) -> _Time:
    """The same days, beginning in another year; 29 February becomes the 28th."""
    day = min(each.first.day, 28) if each.first.month == 2 else each.first.day
    first = each.first.replace(year=year, day=day)
    return replace(each, first=first, last=first + (each.last - each.first))

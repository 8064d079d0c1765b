"""The times that a question names: "last week", "before we moved", "recently"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import start_of_day
from amem.language.intervals import intervals
from amem.language.numerals import ORDINALS, SPELLED, value_of, weekday_number
from amem.language.terms import content_terms
from amem.language.times import (
    A_DAY,
    PART,
    PART_ZH,
    THIS_DAY,
    WEEKDAY,
    Named,
    Span,
    asks_ahead,
    may_be_ahead,
    named,
    part_count,
)
from amem.language.times.relative import same_day
from amem.note import Kind
from amem.retrieval.legs import Asked, Leg, times_of
from amem.retrieval.question import Event, Intent, Period, Reading, Recency
from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.language.predicates import Predicates
    from amem.protocols import Vector
    from amem.storage.store import Session

    _Cut = Callable[[date, date, re.Match[str]], tuple[date, date]]

# The time that a question names, as a period: "last week", "since 2022", "between March and May", 今年春节以前.
#
# Which days the words mean is read by ``amem.language.times``; here is what the words around them make of it.

#: Words before a time that say which side of it is meant, and those behind it that do in Chinese.
_SIDES = re.compile(
    r"\b(?:(?P<since>(?:ever )?since)|(?P<after>after|following)|(?P<until>until|till|up to|through|by|as of)"
    r"|(?P<before>before|prior to|earlier than)|(?P<between>between)|(?P<every>every|each)"
    r"|(?P<within>from|in|on|at|during|over|within|throughout|around))"
    r"(?: the| that)?\s*$"
    r"|(?:(?P<zh_since>自从?|从|打)|(?P<zh_before>早于)|(?P<zh_until>截[至止]到?)|(?P<zh_after>晚于)|(?P<zh_every>每个?)|(?P<zh_in>在|于))$",
    re.IGNORECASE,
)
_SIDES_ZH = re.compile(
    r"的?(?:(?P<before>之前|以前|为止|前(?![台端面后]))|(?P<after>之后|以后|过后|后(?![台端面天来]))"
    r"|(?P<since>以来|开始|起(?!床|来)|至今|到现在|到今天|\s?on(?:wards)?\b))"
)
#: From one time to the next: a range, or both.
_RANGE = re.compile(r"\s*(?:to|through|until|till|up to|-|–|—|~|到|至)(?: the)?\s*", re.IGNORECASE)
_BOTH = re.compile(r"\s*(?:and|和|与|跟)(?: the)?\s*", re.IGNORECASE)
#: The first weekend of October, 五月的最后一周, the last Sunday in May.
_NTH = re.compile(
    r"\b(?:the )?(?P<nth>first|second|third|fourth|last)"
    r" (?P<unit>weekend|week|(?:mon|tues|wednes|thurs|fri|satur|sun)day) (?:of|in) (?:the )?$",
    re.IGNORECASE,
)
_NTH_ZH = re.compile(
    r"的?(?P<nth>第[一二三四1-4]|最后一)个?(?P<unit>周末|(?:周|星期|礼拜)(?P<day>[一二三四五六日天])?)"
)
_PART = re.compile(
    r"\b(?:(?:the )?(?:(?P<early>early(?: in)?|(?:start|beginning|first part) of)|(?P<mid>mid|middle of)"
    r"|(?P<late>late(?: in)?|(?:last part|rest) of)|(?P<end>end of)"
    r"|(?P<first>first half of)|(?P<second>(?:second|last) half of))(?: (?:in|of))?(?: the)?)[ -]$",
    re.IGNORECASE,
)
_WEEK = re.compile(r"\b(?:the )?week of (?:the )?$", re.IGNORECASE)
_PART_ZH = re.compile(
    r"的?(?:(?P<early>[年月]?初期?|上旬|[早前]期)|(?P<mid>[年月]?中[旬期叶]?(?![国心午秋间学文]))"
    r"|(?P<late>下旬|[后晚]期)|(?P<end>[年月]?[底末]期?)"
    r"|(?P<first>前半)|(?P<second>后半))"
)
#: Where each of them begins and ends, in sixths of the whole.
_SIXTHS = {"early": (0, 2), "mid": (2, 4), "late": (4, 6), "end": (4, 6), "first": (0, 3), "second": (3, 6)}
#: Each of these is the present one, or where it has yet to begin the one so many months before (0: the week before),
#: but in a question of what is to come.
_EVERY = {"the week": 0, "the weekend": 0, "周末": 0, "the month": 1, "月": 1, "": 1, "the year": 12, "年": 12}
#: A span that is reckoned from the time behind it: "two weeks before 3 May", 5月3日前一天.
_COUNT = r"an?|the|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}|last"
_SHIFT = re.compile(
    rf"\b(?P<count>{_COUNT}) (?P<unit>day|week|weekend|month|year)s?"
    r" (?P<side>before|after|following|prior to) (?:the )?$",
    re.IGNORECASE,
)
_SHIFT_ZH = re.compile(r"的?(?P<side>[前后])(?P<count>\d{1,3}|[一两二三四五六七八九十])个?(?P<unit>天|周|星期|月|年)")
_NUMBERS = SPELLED | dict.fromkeys(("a", "an", "the", "last"), 1)
_UNITS = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
#: Between two times of which one lies in the other.
_BESIDE = re.compile(r",?\s*(?:(?:of|in|on|at|over|during)\s+(?:the )?|[的在])?", re.IGNORECASE)
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
    except (ValueError, OverflowError):  # what it names lies beyond an end of the calendar
        return None


def _dated(text: str, today: date, zone: tzinfo) -> Dated | None:
    found = _in_their_years(text, named(text, today), today)
    times = [each for each in (_read(text, one, today) for one in found) if each is not None]
    if not times:
        return None
    # In "the last weekend before 10 April" and 国庆前两周 the weekend and the two weeks are no times of their own.
    times = [one for one, two in zip(times, [*times[1:], None], strict=True) if two is None or one.start < two.start]
    times = [times[0], *(two for one, two in pairwise(times) if one.end <= two.start)]
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


def _in_their_years(text: str, found: Sequence[Named], today: date) -> Sequence[Named]:
    """In "May last year", "last year at Easter", "on Monday last week" two times are one, in the year or week named."""
    for place, each in enumerate(found):
        lead = max(0, each.start - 40)
        behind = THIS_DAY.search(text[lead : each.start])
        if behind and each.relative and each.span is not None and each.span.unit == "year":
            return [*found[:place], _that_day(each, lead + behind.start(), each.end, today), *found[place + 1 :]]
    for place, (one, two) in enumerate(pairwise(found)):
        for part, whole in ((one, two), (two, one)):
            if part.span is None or whole.span is None or not _BESIDE.fullmatch(text, one.end, two.start):
                continue
            if whole.relative and whole.span.unit == "year" and A_DAY.fullmatch(text, part.start, part.end):
                joined = [_that_day(whole, one.start, two.end, part.span.first)]
                return [*found[:place], *joined, *found[place + 2 :]]
            unit = "year" if part.bare else "week" if part.relative and part.span.unit == "day" else ""
            if (whole.span.unit, whole.span.count) == (unit, 1):
                again = [each for each in named(text, whole.span.last) if each.start == part.start]
                joined = [replace(each, start=one.start, end=two.end, bare=False, relative=True) for each in again]
                return [*found[:place], *joined, *found[place + 2 :]]
    return found


def _that_day(year: Named, start: int, end: int, day: date) -> Named:
    """The day of the year that is named which has the date of `day`."""
    assert year.span is not None
    return Named(start, end, Span(same_day(day, 12 * (year.span.first.year - day.year)), "day"), relative=True)


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

    def before(words: re.Pattern[str]) -> re.Match[str] | None:
        """These words where they stand right before the time, as far as it has been read."""
        return words.search(text[max(0, start - 40) : start])

    if first == last and (week := before(_WEEK)):
        first -= timedelta(days=first.weekday())
        last, start = first + timedelta(days=6), start + week.start() - len(week.string)
    cuts: list[tuple[_Cut, re.Match[str]]] = []
    for cut, leading, trailing in (
        (_nth, _NTH, _NTH_ZH),
        (_ends, PART, PART_ZH),
        (_part, _PART, _PART_ZH),
    ):
        if match := before(leading) or trailing.match(text, end):
            cuts.append((cut, match))
            start, end = _around(match, match.re is leading, start, end)
    days = _cut(first, last, cuts)
    every = 12 if found.bare else _EVERY.get(text[found.start : found.end].casefold())
    if every is not None and days[0] > today and not may_be_ahead(text):
        span = replace(span, first=same_day(span.first, -every) if every else span.first - timedelta(weeks=1))
        days = _cut(span.first, span.last, cuts)
    bare = found.bare
    if days[1] < today and asks_ahead(text):
        span, bare = _next(text, found, span, today), False
        days = _cut(span.first, span.last, cuts)
    first, last = days
    if shift := before(_SHIFT) or _SHIFT_ZH.match(text, end):
        first, last = _shifted(first, last, shift)
        start, end = _around(shift, shift.re is _SHIFT, start, end)
    side = "in"
    inside = re.match(r"since ", text[start:end], re.IGNORECASE)
    if inside:
        side = "since"
    elif behind := _SIDES_ZH.match(text, end):
        side, end = behind.lastgroup or "in", behind.end()
    elif ahead := before(_SIDES):
        side = (ahead.lastgroup or "in").removeprefix("zh_")
        start += ahead.start() - len(ahead.string)
    if side == "every":
        return None
    side = "in" if side in ("within", "between") else side
    if side == "before" and any(match.lastgroup == "end" for _, match in cuts):
        side = "until"  # what is done before the end of May may be done in all of it
    return _Time(start, end, first, last, side, bare, found.relative)


def _around(match: re.Match[str], leads: bool, start: int, end: int) -> tuple[int, int]:
    """Where a time stands with words that lead it or follow it."""
    return (start - len(match.string) + match.start(), end) if leads else (start, match.end())


def _next(text: str, found: Named, span: Span, today: date) -> Span:
    """A time without its year, or a weekday, as somebody names it who asks what is to come."""
    if found.bare:
        while span.last < today:
            span = replace(span, first=same_day(span.first, 12))
    elif WEEKDAY.fullmatch(text, found.start, found.end):
        span = replace(span, first=span.first + timedelta(weeks=1))
    return span


def _cut(first: date, last: date, cuts: Sequence[tuple[_Cut, re.Match[str]]]) -> tuple[date, date]:
    """What these leave of a span, one after the other."""
    for cut, match in cuts:
        first, last = cut(first, last, match)
    return first, last


def _part(first: date, last: date, match: re.Match[str]) -> tuple[date, date]:
    """Part of a span: thirds of ten days of a month, of four months of a year; of decades and less in whole years."""
    begin, end = _SIXTHS[match.lastgroup or ""]
    begun = _after(first, last, begin)
    return begun, max(begun, _after(first, last, end) - timedelta(days=1))


def _after(first: date, last: date, sixths: int) -> date:
    """The day on which so many sixths of a span are over."""
    days = (last - first).days + 1
    if first.day > 1 or days < 28:
        return first + timedelta(days=days * sixths // 6)
    if days <= 31:
        return first + timedelta(days=days if sixths == 6 else 5 * sixths)
    months = round(days / 30.44)
    step = 12 if months > 12 else 1
    return same_day(first, -(-sixths * (months // step) // 6) * step)


def _ends(first: date, last: date, match: re.Match[str]) -> tuple[date, date]:
    """So many days, weeks or months at the beginning or the end of a span, and no more than all of it."""
    count = part_count(match)
    unit = _UNITS.get(match["unit"]) or match["unit"].casefold()
    if match["end"].casefold() in ("first", "开头", "头"):
        after = same_day(first, count) if unit == "month" else first + timedelta(days=count * _DAYS[unit])
        return first, min(last, after - timedelta(days=1))
    end = last + timedelta(days=1)
    return max(first, same_day(end, -count) if unit == "month" else end - timedelta(days=count * _DAYS[unit])), last


def _nth(first: date, last: date, match: re.Match[str]) -> tuple[date, date]:
    """That weekday, weekend or week of a span: a weekend by its Saturday, a week by its Thursday as in ISO 8601."""
    unit = match.groupdict().get("day") or match["unit"].casefold()
    # The weekday that is counted, and how many days before and after it belong to it.
    if unit in ("weekend", "周末"):
        weekday, before, after = 5, 0, 1
    elif unit in ("week", "周", "星期", "礼拜"):
        weekday, before, after = 3, 3, 3
    else:
        weekday, before, after = weekday_number(unit), 0, 0
    word = match["nth"].casefold()
    if word in ("last", "最后一"):
        found = last - timedelta(days=(last.weekday() - weekday) % 7)
    else:
        nth = ORDINALS.get(word) or value_of(word.removeprefix("第")) or 1
        found = first + timedelta(days=(weekday - first.weekday()) % 7, weeks=nth - 1)
    return found - timedelta(days=before), found + timedelta(days=after)


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


# A time that is named by what happened then: "before we moved", 换工作之后.

_ENGLISH = re.compile(
    r"(?:^\W{0,3}|(?P<verb>\b\w{1,20}) |[^\w\s]\s{0,3})"
    r"(?P<side>(?i:before|(?:right |just |shortly |soon )?after|(?:ever )?since|until|till|prior to|following))\s"
    r"(?P<what>(?:(?i:the|my|our|his|her|their|its|i|we|he|she|they|it|this|that)|\w{1,30}['’]s|[A-Z]\w{0,30}|\w{1,30}ing)\b"
    r"[^?!,;:.\n]{1,120})",
)
#: With these before it, "after" and "following" have nothing to do with time.
_PHRASES = re.compile(
    r"(?:look|looks|looked|looking|named|take|takes|took|taking|ask|asks|asked|run|runs|ran|be|seek|the|day|week|month"
    r"|year|weeks|days|months|years|night|morning|is|are|was|were|am)",
    re.IGNORECASE,
)
#: Where a clause ends and what is asked begins: "before we moved where did we live".
_NEXT = re.compile(r"\s(?:what|who|where|which|why|how|when|did|does|do|is|are|was|were|had|has|have)\s", re.IGNORECASE)
_CHINESE = re.compile(
    r"(?P<what>[^，。；？！,.?!;\s]{2,30}?)(?:的?(?P<side>之前|以前|之后|以后)"
    r"|(?P<short>前|后)(?=[我你他她它咱]|，|,|都?有?(?:什么|哪|谁|怎)))"
)
#: These with 前 or 后 are words of their own, and these before them name no event.
_NO_EVENT = re.compile(
    r"(?:很久|不久|好久|多久|此|这|那|在此|从此|除此|自此|这件事|在这|在那|[一二三四五六七八九十\d]+个?(?:天|周|年|月|星期|小时|分钟|点))$"
)
_ENDS_A_WORD = re.compile(r"(?:目|以|之|从|眼|当|面|最|然|背|今|往|向|先|身|幕|日|事|落)$")
_LEADS = re.compile(r"^(?:自从|自|从|在|当|等|到|那么|请问|问一下)|^(?:我们?|你们?|咱们?)?(?:是)?在(?=.{2})")


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """The event and where its words stand."""

    event: Event
    start: int
    end: int


def event_of(text: str) -> NamedEvent | None:
    """What happened that the question measures time by; None where it does not, or says it with nothing to look for."""
    for match in _ENGLISH.finditer(text):
        if match["verb"] and _PHRASES.fullmatch(match["verb"]):
            continue
        what = match["what"]
        if ends := _NEXT.search(what):
            what = what[: ends.start()]
        end = match.start("what") + len(what)
        if content_terms(what):
            before = match["side"].casefold() in ("before", "until", "till", "prior to")
            return NamedEvent(Event(text[match.start("side") : end], what.strip(), before), match.start("side"), end)
    for match in _CHINESE.finditer(text):
        what, start = match["what"], match.start()
        if lead := _LEADS.match(what):
            what, start = what[lead.end() :], start + lead.end()
        if _NO_EVENT.search(what) or (match["short"] and _ENDS_A_WORD.search(what)) or not content_terms(what):
            continue
        before = (match["side"] or match["short"]).endswith("前")
        return NamedEvent(Event(text[start : match.end()], what, before), start, match.end())
    return None


# Which days a question's time means, where only the notes know: the year of "in May", the day of "before we moved".

#: Years that are gone back to find notes about a May: the oldest diaries are about as old.
_YEARS = 100
#: Notes looked at for an event, by each sense.
_NOTES = 10
#: What a note must have of all that a sense could say for it to tell of the event: one that holds all its words once
#: has a bit less than half, one that holds half of them not enough.
_TOLD = 0.3


class TimeResolver:
    """Finds the days that a question's time means, with the legs that answer it; `legs` are asked for events."""

    def __init__(self, legs: Sequence[Leg], zone: tzinfo) -> None:
        self._legs, self._zone = legs, zone

    def resolve(self, asked: Asked, event: Vector | None) -> Reading:
        """The reading with the days of its time; `event` is the vector of its event's words, where there is one.

        An event that no note tells of leaves it without a period: nothing is known about when it was.
        """
        reading = asked.reading
        if reading.period is not None and reading.period.yearless:
            return replace(reading, period=_known_year(asked.session, reading.period))
        if reading.period is None and reading.event is not None:
            return replace(reading, period=self._when(asked, reading.event, event))
        return reading

    def _when(self, asked: Asked, event: Event, vector: Vector | None) -> Period | None:
        """Before or after the time that the note which best tells of the event speaks of."""
        sought = Reading(event.text, (Intent.GENERAL,), event.text)
        about = replace(asked, reading=sought, vector=vector, limit=_NOTES)
        answers = [answer for leg in self._legs if (answer := leg.ask(about)) is not None]
        keys = asked.eligible.passing(dict.fromkeys(key for answer in answers for key in answer.keys[:_NOTES]))
        # Who asks when we moved does not tell of it.
        rows = asked.eligible.rows(keys)
        keys = [key for key in keys if rows[key].kind != Kind.QUESTION]
        if not keys:
            return None
        worth = np.stack([answer.scores(np.array(keys, dtype=np.int64))[1] for answer in answers])
        best = int(worth.sum(axis=0).argmax())
        if worth[:, best].max() < _TOLD:
            return None
        ((at, begun),) = asked.session.notes.columns([keys[best]], ["at", "valid_from"]).values()
        moment = moment_or_never(begun or at)
        if event.before:
            return Period(event.words, None, moment)
        return Period(event.words, start_of_day(moment, self._zone), None)


def period_of(session: Session, text: str, now: datetime, zone: tzinfo) -> Period | None:
    """The time that `text` names in so many words, in the year that the notes know; None where it names none."""
    found = dated(text, now, zone)
    if found is None:
        return None
    return _known_year(session, found.period) if found.period.yearless else found.period


def _known_year(session: Session, period: Period) -> Period:
    """The period in the latest year of which there are notes; as it is where there are none in any."""
    moved = period
    for _ in range(_YEARS):
        if len(session.notes.within(moved.since, moved.until, 1)):
            return moved
        moved = replace(moved, since=_year_before(moved.since), until=_year_before(moved.until))
    return period


def _year_before(moment: datetime | None) -> datetime | None:
    if moment is None or moment.year <= 1:
        return moment
    day = timedelta(days=1) if (moment.month, moment.day) == (2, 29) else timedelta(0)
    return (moment - day).replace(year=moment.year - 1)


# Words such as "recently", "now", "next" and "last" in a question, and which notes they mean by the notes' own times.
#
# A note's time is when it was said or what it says it is of, not when it arrived: an imported diary is as old as its
# days. What is asked for is looked for among the notes that are to the point, so that the newest of a diary of 2019
# counts as recent where that diary is all there is.

#: What may follow "next" and "last" without being anything that takes place once more.
_NO_TURN = (
    r"(?:name|names|minute|resort|straw|words?|legs?|call|chance|one standing|of|to|door|few|couple|\d+|two|three"
    r"|four|five|six|seven|eight|nine|ten|dozen|generation|forever|longer?|week|month|year|night|summer|winter|spring"
    r"|autumn|fall|weekend|decade|century|monday|tuesday|wednesday|thursday|friday|saturday|sunday|day)\b"
)
_WHOSE = r"(?:the|my|our|his|her|their|your|its|\w+['’]s?)"
_WORDS = {
    Recency.RECENT: re.compile(
        r"\b(?:(?:most )?recent(?:ly)?|lately|(?:the )?latest|(?:the )?newest|these days|nowadays"
        r"|(?:(?:in|over|during) )?(?:the )?(?:last|past) few (?:days|weeks|months))\b"
        r"|(?:这|近|前)(?:几|些|两)天|这阵子|这段时间|近段时间|近日|最近|近来|近期|最新",
        re.IGNORECASE,
    ),
    Recency.NEXT: re.compile(
        rf"\b(?:(?<=what is )|(?<=what's )|(?<=what comes )|{_WHOSE} )next\b(?! {_NO_TURN})|\bnext time\b|\bupcoming\b"
        rf"|\bnext (?=(?!{_NO_TURN})\w+(?: \w+)?\W*$)|下一?(?:次|回|场|个(?!月|星期|礼拜|季度)|届|班|站)|接下来",
        re.IGNORECASE,
    ),
    Recency.LAST: re.compile(
        rf"\b(?:(?<!at ){_WHOSE} (?:very )?last|(?<!at the )last time|most recent)\b(?! {_NO_TURN})"
        r"|\b(?:did|have|has|had|was|were) [\w'’]+(?: [\w'’]+){0,2} last\b(?! \w)"
        r"|\bwhen (?:did|was|were) [^?.!]{1,60}? last\b"
        r"|上一?(?:次|回|场|届|班)|最后一?(?:次|回|场)",
        re.IGNORECASE,
    ),
    Recency.NOW: re.compile(
        r"\b(?:right now|now(?! that)|current(?:ly)?|at (?:the moment|present)|presently|as of (?:now|today))\b"
        r"|(?<!出)现在|目前|当前|眼下|如今|现任|此刻",
        re.IGNORECASE,
    ),
}
#: A place that is near, not a time.
_NEAR = re.compile(
    r"(?:离|距离?)[^，。？！,.?!]{0,12}最近"
    r"|最近的[^，。？！,.?!\s的]{0,6}(?:站|医院|超市|药店|机场|路线|地方|距离|店|银行|餐厅|饭馆|公园|学校|厕所|出口|邮局)"
)
_HIDDEN = "\ufffc"
_DAY = timedelta(days=1)


def recency_of(text: str) -> tuple[Recency | None, list[tuple[int, int]]]:
    """What a question asks for by such a word, the most telling first, and where its words stand."""
    plain = _NEAR.sub(lambda near: _HIDDEN * len(near[0]), text)
    for recency, words in _WORDS.items():
        if found := [match.span() for match in words.finditer(plain)]:
            return recency, found
    return None, []


def timely(
    session: Session, recency: Recency, keys: Sequence[int], moment: datetime, zone: tzinfo, predicates: Predicates
) -> Mapping[int, float]:
    """How well the time of each note goes with what is asked, 0..1: 1 for the newest, for the nearest to come.

    0 for a note of nothing that is still to come where the next is asked for, of nothing that has been where the last
    is, and of what is over where it is asked how things are now.
    """
    rows = session.notes.columns(list(keys), ["at", "valid_from", "valid_to", "content"])
    when: dict[int, datetime] = {}
    for key in keys:
        at, begun, ended, content = rows[key]
        said = moment_or_never(at)
        if recency in (Recency.RECENT, Recency.NOW):
            if recency is Recency.RECENT or ended is None or moment_or_never(ended) > moment:
                when[key] = said
            continue
        named = [
            datetime(first.year, first.month, first.day, tzinfo=zone)
            for first, _ in times_of(content, said.astimezone(zone).date())
        ]
        times = [*named, moment_or_never(begun)] if begun else named or [said]
        today = moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        if recency is Recency.NEXT:
            ahead = [each for each in times if each >= today]
            if ahead:
                when[key] = min(ahead)
        elif behind := [each for each in times if each < today + _DAY]:
            when[key] = max(behind)
    if recency is Recency.NOW:
        when = {key: at for key, at in when.items() if key not in _ended(session, keys, moment, predicates)}
    order = sorted(set(when.values()), reverse=recency is not Recency.NEXT)
    place = {at: number for number, at in enumerate(order)}
    return {key: 1.0 - place[when[key]] / len(order) if key in when else 0.0 for key in keys}


def _ended(session: Session, keys: Iterable[int], moment: datetime, predicates: Predicates) -> frozenset[int]:
    """Notes that state facts of which none is so any more."""
    stated = [each for each in session.facts.of(list(keys)) if each.holds]
    if not stated:
        return frozenset()
    told = session.facts.about({each.subject for each in stated})
    so = {note for each in intervals(told, predicates) if each.at(moment) for note in each.notes}
    return frozenset(each.order for each in stated) - frozenset(each.order for each in stated if each.note in so)

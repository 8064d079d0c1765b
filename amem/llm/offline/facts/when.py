"""Since when and until when a clause says that something is so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from amem.llm.offline.times import Period, before, month_of, weekday_of
from amem.llm.offline.validity import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MONTHS = r"january|february|march|april|may|june|july|august|september|october|november|december"
_MONTH = rf"(?P<month>(?:{MONTHS})|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_BARE = re.compile(
    rf"\b(?:(?:in|since|from|until|till|to|through|during|as of|of) (?:early |late |mid-?)?|(?P<last>last ))"
    rf"{_MONTH}\b(?! \d)"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<of>{MONTHS})\b(?!,? \d{{4}})"
    rf"|\b(?P<of_day>{MONTHS}) (?P<its_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? \d{{4}})"
    r"|\b(?:until|till|to|through) (?P<bare_year>(?:19|20)\d\d)\b(?![-/.]?\d)"
    r"|\b(?:on|since|until|till|this past) (?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|(?<![\d年])(?:(?P<year>去年|今年|前年)的?)?(?P<zh>\d{1,2}|十[一二]?|[一二三四五六七八九])月份?"
    r"(?:(?P<zh_day>\d{1,2})[日号])?"
    r"|(?<![上下这本个])(?:周|星期|礼拜)(?P<zh_weekday>[一二三四五六日天])",
    re.IGNORECASE,
)
_LASTED = re.compile(
    r"\bfor (?:the (?:last|past) |about |almost |over |more than )?"
    r"(?P<count>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"(?:\b(?:until|till|up to|through)(?: the| on| in)?|[直截]?[到至])\s*$", re.IGNORECASE)
_ON = re.compile(r"\s*(?:\bto|\buntil|\btill|\bthrough|-|–|—|~|[到至])\s*$", re.IGNORECASE)
_INCLUSIVE = re.compile(r"(?:\bto|\bthrough|-|–|—|~|[到至])\s*$", re.IGNORECASE)
#: With these before or after a time it is an aim, a bound or a part of a period, and says nothing that can be used.
_UNCLEAR = re.compile(
    r"(?:\b(?:before|after|by|than|around|about|every|between|for|(?:middle|half) of)"
    r"(?: the| on| in)?|早于|晚于|每)\s*$",
    re.IGNORECASE,
)
_EDGE = re.compile(r"\b(?P<edge>end|start|beginning) of (?:in |the )?$", re.IGNORECASE)
_EDGE_ZH = re.compile(r"[底末初]")
_UNCLEAR_AFTER = re.compile(r"\s*(?:之前|以前|之后|以后|前|后|左右|中旬|or\b|或)")
_COUNTS = {name: at for at, name in enumerate("one two three four five six seven eight nine ten".split(), 1)}  # noqa: SIM905
_ZH = {name: at for at, name in enumerate("一 二 三 四 五 六 七 八 九 十 十一 十二".split(), 1)}  # noqa: SIM905
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Times:
    """`since` and `until` as the clause states them; `ahead` where it speaks of what is still to come.

    `within` is the end of the month or year that `since` begins, for what was so in it; `named` says whether the clause
    names a time at all, if only one that cannot be used.
    """

    since: datetime | None = None
    until: datetime | None = None
    within: datetime | None = None
    ahead: bool = False
    named: bool = False


NO_TIMES = Times()


@dataclass(frozen=True, slots=True)
class _Named:
    """A time that a clause names, where it stands, and whether its year is left out (`bare`)."""

    start: int
    end: int
    period: Period | None
    bare: bool = False


def times(text: str, said: datetime | None, *, lasting: bool = False) -> Times:
    """The times of a clause that was said at `said`; a month or weekday alone is the most recent one.

    With `lasting` the clause tells of something that goes on: "for five years" then is since when, and an end may lie
    ahead ("until December").
    """
    if said is None:
        return NO_TIMES
    today = said.date()
    since: list[_Named] = []
    until: list[_Named] = []
    inclusive = False
    last_end = 0
    every = _every(text, today, lasting=lasting)
    for each in every:
        lead = text[: each.start]
        ranged = bool(since) and not until and _ON.fullmatch(text[last_end : each.start]) is not None
        last_end = each.end
        lasted = _LASTED.match(text, each.start) is not None
        each = _edge(each, text)
        unclear = (_UNCLEAR.search(lead) is not None and not lasted) or _UNCLEAR_AFTER.match(text, each.end)
        if each.period is None or unclear:
            return Times(named=True, ahead=each.period is not None and each.period.first > today)
        if ranged or _UNTIL.search(lead):
            until.append(each)
            inclusive = ranged and _INCLUSIVE.search(lead) is not None
        else:
            since.append(each)
    if any(each.period is not None and each.period.first > today for each in since):
        return Times(ahead=True, named=True)
    if len({each.period for each in since}) > 1 or len(until) > 1:
        return Times(named=True)
    begin, end = _span(since[0] if since else None, until[0] if until else None, today, inclusive, lasting)
    ahead = bool(end and end > today and not lasting)
    return Times(_midnight(begin, said), _midnight(end, said), _within(since, said), ahead, bool(every))


def _within(since: Sequence[_Named], said: datetime) -> datetime | None:
    period = since[0].period if since else None
    if period is None or period.unit not in ("month", "year"):
        return None
    return _midnight(min(period.last, said.date()) + timedelta(days=1), said)


def _edge(named: _Named, text: str) -> _Named:
    """The last day of what is named for "the end of May" and 5月底, the first for its beginning."""
    before, after = _EDGE.search(text[: named.start]), _EDGE_ZH.match(text, named.end)
    if named.period is None or (before is None and after is None):
        return named
    last = (before["edge"].casefold() == "end") if before else (after is not None and after[0] in "底末")
    day = named.period.last if last else named.period.first
    return _Named(named.start, after.end() if after else named.end, Period(day, "day"), named.bare)


def _span(
    begin: _Named | None, end: _Named | None, today: date, inclusive: bool, lasting: bool
) -> tuple[date | None, date | None]:
    """First day, and first day after; a year that only one of the two has is the other's, too."""
    first = None if begin is None or begin.period is None else begin.period.first
    if end is None or end.period is None:
        return first, None
    last = end.period
    if first is not None and begin is not None and end.bare and not begin.bare:
        last = _in_year(last, first.year)  # "from May 2021 to August"
        last = last if last.first > first else _in_year(last, first.year + 1)
    elif end.bare and lasting and last.first <= today:
        last = _in_year(last, last.first.year + 1)  # "until December", said in March: the next one
    after = last.last + timedelta(days=1) if inclusive else last.first
    if first is not None and begin is not None and begin.bare and first >= after:
        months = Period(first, "day")
        first = _in_year(months, after.year).first  # "from May to August 2024"
        first = first if first < after else _in_year(months, after.year - 1).first  # "from October to March 2024"
    return first, after


def _in_year(period: Period, year: int) -> Period:
    """The same days of another year."""
    day = min(period.first.day, 28) if period.first.month == 2 else period.first.day
    return Period(period.first.replace(year=year, day=day), period.unit)


def _midnight(day: date | None, said: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=said.tzinfo)


def _every(text: str, today: date, *, lasting: bool) -> list[_Named]:
    """Each time that is named, in order; of two that overlap the longer."""
    named = [*(_Named(*each) for each in mentions(text, today)), *_bare(text, today)]
    kept: list[_Named] = []
    for each in sorted(named, key=lambda each: each.start - each.end):
        if all(each.end <= other.start or each.start >= other.end for other in kept):
            kept.append(each)
    if lasting and (match := _LASTED.search(text)):
        count = _COUNTS.get(match["count"].casefold()) or (int(match["count"]) if match["count"].isdigit() else 1)
        kept.append(_Named(match.start(), match.end(), before(today, count, match["unit"].casefold())))
    return sorted(kept, key=lambda each: each.start)


def _bare(text: str, today: date) -> Iterator[_Named]:
    """Months, days and weekdays that are named alone."""
    for match in _BARE.finditer(text):
        name = next(
            name for name in ("month", "of", "of_day", "bare_year", "weekday", "zh", "zh_weekday") if match[name]
        )
        start = match.start(name) if name in ("month", "weekday", "bare_year") else match.start()
        try:
            yield _Named(start, match.end(), _period(match, name, today), bare=_lacks_year(match, name))
        except (ValueError, OverflowError):
            yield _Named(start, match.end(), None)


def _period(match: re.Match[str], name: str, today: date) -> Period | None:
    if name == "bare_year":
        return Period(date(int(match[name]), 1, 1), "year")
    if name == "weekday":
        return weekday_of(today, _WEEKDAYS.index(match[name][:3].casefold()))
    if name == "zh_weekday":
        return weekday_of(today, "一二三四五六日天".index(match[name]) % 7 if match[name] != "天" else 6)
    if name == "zh":
        number = _ZH.get(match["zh"]) or int(match["zh"])
        back = {"今年": 0, "去年": 1, "前年": 2}.get(match["year"] or "")
        return month_of(today, number, int(match["zh_day"] or 0), back)
    number = 1 + "jan feb mar apr may jun jul aug sep oct nov dec".split().index(match[name][:3].casefold())  # noqa: SIM905
    day = int(match["day"] or 0) if name == "of" else int(match["its_day"] or 0) if name == "of_day" else 0
    found = month_of(today, number, day, None)
    if match["last"] and found.first.year == today.year and found.first.month == today.month:
        return month_of(today, number, 0, 1)
    return found


def _lacks_year(match: re.Match[str], name: str) -> bool:
    return name not in ("bare_year", "weekday", "zh_weekday") and not match["year"]

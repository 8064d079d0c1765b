"""Since when and until when a clause says that something is so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from amem.text.times import Named, Span, bare, before, longest, mentions
from amem.text.times.numbers import SPELLED

if TYPE_CHECKING:
    from collections.abc import Sequence

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
#: Words before a time that tell what it is are no more characters than that, spaces among them.
_LEAD = 60
_EDGE_ZH = re.compile(r"[底末初]")
_UNCLEAR_AFTER = re.compile(r"\s*(?:之前|以前|之后|以后|前|后|左右|中旬|or\b|或)")


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


def times(text: str, said: datetime | None, *, lasting: bool = False) -> Times:
    """The times of a clause that was said at `said`; a month or weekday alone is the most recent one.

    With `lasting` the clause tells of something that goes on: "for five years" then is since when, and an end may lie
    ahead ("until December").
    """
    if said is None:
        return NO_TIMES
    today = said.date()
    since: list[Named] = []
    until: list[Named] = []
    inclusive = False
    last_end = 0
    every = _every(text, today, lasting=lasting)
    for each in every:
        lead = max(0, each.start - _LEAD), each.start
        ranged = bool(since) and not until and _ON.fullmatch(text[last_end : each.start]) is not None
        last_end = each.end
        lasted = _LASTED.match(text, each.start) is not None
        each = _edge(each, text)
        unclear = (_UNCLEAR.search(text, *lead) is not None and not lasted) or _UNCLEAR_AFTER.match(text, each.end)
        if each.span is None or unclear:
            return Times(named=True, ahead=each.span is not None and each.span.first > today)
        if ranged or _UNTIL.search(text, *lead):
            until.append(each)
            inclusive = ranged and _INCLUSIVE.search(text, *lead) is not None
        else:
            since.append(each)
    if any(each.span is not None and each.span.first > today for each in since):
        first = next(each.span.first for each in since if each.span is not None and each.span.first > today)
        return Times(_midnight(first, said), ahead=True, named=True)
    if len({each.span for each in since}) > 1 or len(until) > 1:
        return Times(named=True)
    begin, end = _span(since[0] if since else None, until[0] if until else None, today, inclusive, lasting)
    ahead = bool(end and end > today and not lasting)
    return Times(_midnight(begin, said), _midnight(end, said), _within(since, said), ahead, bool(every))


def _within(since: Sequence[Named], said: datetime) -> datetime | None:
    span = since[0].span if since else None
    if span is None or span.unit not in ("month", "year"):
        return None
    return _midnight(min(span.last, said.date()) + timedelta(days=1), said)


def _edge(named: Named, text: str) -> Named:
    """The last day of what is named for "the end of May" and 5月底, the first for its beginning."""
    before = _EDGE.search(text, max(0, named.start - _LEAD), named.start)
    after = _EDGE_ZH.match(text, named.end)
    if named.span is None or (before is None and after is None):
        return named
    last = (before["edge"].casefold() == "end") if before else (after is not None and after[0] in "底末")
    day = named.span.last if last else named.span.first
    return Named(named.start, after.end() if after else named.end, Span(day, "day"), named.bare)


def _span(
    begin: Named | None, end: Named | None, today: date, inclusive: bool, lasting: bool
) -> tuple[date | None, date | None]:
    """First day, and first day after; a year that only one of the two has is the other's, too."""
    first = None if begin is None or begin.span is None else begin.span.first
    if end is None or end.span is None:
        return first, None
    last = end.span
    if first is not None and begin is not None and end.bare and not begin.bare:
        last = _in_year(last, first.year)  # "from May 2021 to August"
        last = last if last.first > first else _in_year(last, first.year + 1)
    elif end.bare and lasting and last.first <= today:
        last = _in_year(last, last.first.year + 1)  # "until December", said in March: the next one
    after = last.last + timedelta(days=1) if inclusive else last.first
    if first is not None and begin is not None and begin.bare and first >= after:
        months = Span(first, "day")
        first = _in_year(months, after.year).first  # "from May to August 2024"
        first = first if first < after else _in_year(months, after.year - 1).first  # "from October to March 2024"
    return first, after


def _in_year(span: Span, year: int) -> Span:
    """The same days of another year."""
    day = min(span.first.day, 28) if span.first.month == 2 else span.first.day
    return Span(span.first.replace(year=year, day=day), span.unit)


def _midnight(day: date | None, said: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=said.tzinfo)


def _every(text: str, today: date, *, lasting: bool) -> list[Named]:
    """Each time that is named, in order; of two that overlap the longer."""
    kept = longest([*mentions(text, today), *bare(text, today)])
    if lasting and (match := _LASTED.search(text)):
        count = SPELLED.get(match["count"].casefold()) or (int(match["count"]) if match["count"].isdigit() else 1)
        kept.append(Named(match.start(), match.end(), before(today, count, match["unit"].casefold())))
    return sorted(kept, key=lambda each: each.start)

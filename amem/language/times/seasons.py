"""Seasons, by the northern calendar: spring is March to May."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from amem.language.times.spans import Named, Span

if TYPE_CHECKING:
    from collections.abc import Iterator


_FIRST_MONTH = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_YEARS = {"last": -1, "next": 1, "去年": -1, "今年": 0, "前年": -2, "明年": 1}
_YEAR = r"(?:19|20)\d\d"
_ENGLISH = re.compile(
    rf"\b(?:(?P<which>last|this|past|next) |(?:in|over|during|since|until|before|after|by|and|to|of|from)"
    rf" (?:(?:the|early|late) ){{0,2}})?(?P<season>spring|summer|autumn|fall|winter)"
    rf"(?:(?: of)? (?P<year>{_YEAR}))?\b(?! (?:camp|school|intern|job|house|part|sale|break|term|semester|collection))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"(?:(?P<year>{_YEAR})年的?|(?P<which>去年|今年|前年|明年|上个?|这个?)的?)?(?P<season>[春夏秋冬])[天季]"
    r"(?P<after>(?:的?时候|里|期间|时|[我你他她它咱]|之?前|之?后|以[前后来]|[？?，,]))?"
)


def seasons(text: str, today: date) -> Iterator[Named]:
    """Each season that is named as a time: "last summer", "in the winter of 2022", 去年夏天.

    "Last summer" is the most recent that is over, one without a year the most recent that has begun.
    """
    for pattern in (_ENGLISH, _CHINESE):
        for match in pattern.finditer(text):
            month = _FIRST_MONTH[match["season"].casefold()]
            which = (match["which"] or "").casefold()
            if match["year"]:
                start = match.start("season") if pattern is _ENGLISH else match.start()
                yield _named(match, start, int(match["year"]), month)
            elif pattern is _ENGLISH and which:
                yield _named(match, match.start("which"), _year(today, month, which), month, relative=True)
            elif pattern is _CHINESE and which:
                yield _named(match, match.start(), _year(today, month, which), month, relative=True)
            elif _is_a_time(match, pattern is _ENGLISH):
                yield _named(match, match.start("season"), _year(today, month, ""), month, bare=True)


def _is_a_time(match: re.Match[str], english: bool) -> bool:
    """Whether a season alone is when something was, not what it was about; in English a fall may be an accident."""
    if english:
        return match.start() < match.start("season") and match["season"].casefold() != "fall"
    return match["after"] is not None


def _year(today: date, month: int, which: str) -> int:
    """The year in which that season begins."""
    begun = today.year if date(today.year, month, 1) <= today else today.year - 1
    if which in ("last", "past", "上", "上个"):
        ends_in = begun + (month == 12)
        over = (ends_in, (month + 2) % 12) < (today.year, today.month)
        return begun if over else begun - 1
    if which in ("去年", "前年", "明年", "今年"):
        return today.year + _YEARS[which]
    return begun + 1 if which == "next" else begun


def _named(
    match: re.Match[str], start: int, year: int, month: int, *, bare: bool = False, relative: bool = False
) -> Named:
    end = match.end("year") if match["year"] and match.end("year") > match.end("season") else match.end("season")
    end += match.re is _CHINESE
    try:
        return Named(start, end, Span(date(year, month, 1), "month", 3), bare=bare, relative=relative)
    except ValueError:
        return Named(start, end, None)

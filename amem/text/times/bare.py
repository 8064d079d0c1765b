"""Months, days and weekdays that are named without their year, or their week: the most recent ones."""

from __future__ import annotations

import re
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from amem.text.numerals import value_of
from amem.text.times.dates import MONTHS
from amem.text.times.numbers import SPELLED
from amem.text.times.spans import Named, Span, month_of, weekday_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL = "|".join(MONTHS)
_MONTH = rf"(?P<month>(?:{_FULL})|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_BARE = re.compile(
    rf"\b(?:(?:in|since|from|until|till|to|through|during|as of|of) (?:early |late |mid-?)?|(?P<last>last ))"
    rf"{_MONTH}\b(?! \d)"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<of>{_FULL})\b(?!,? \d{{4}})"
    rf"|\b(?P<of_day>{_FULL}) (?P<its_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? \d{{4}})"
    r"|\b(?:until|till|to|through) (?P<bare_year>(?:19|20)\d\d)\b(?![-/.]?\d)"
    r"|\b(?:on|since|until|till|this past) (?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|(?<![\d年])(?:(?P<year>去年|今年|前年)的?)?(?P<zh>\d{1,2}|十[一二]?|[一二三四五六七八九])月份?"
    r"(?:(?P<zh_day>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号])?"
    r"|(?<![上下这本个])(?:周|星期|礼拜)(?P<zh_weekday>[一二三四五六日天])",
    re.IGNORECASE,
)
#: "between 1 and 10 October", "October 1-10": a day that leaves its month to the other one.
_RANGE = r" ?(?:and|to|until|till|through|-|–|—) ?(?:the )?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_SHARED = (
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_RANGE}{_DAY}(?: of)? (?P<month>{_FULL})\b(?:,? (?P<year>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_FULL}) {_DAY}{_RANGE}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?! of\b)(?:,? (?P<year>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def bare(text: str, today: date) -> Iterator[Named]:
    """Months, days and weekdays that are named alone, in order, without a span for one that is no date."""
    yield from _sharing(text, today)
    for match in _BARE.finditer(text):
        name = next(
            name for name in ("month", "of", "of_day", "bare_year", "weekday", "zh", "zh_weekday") if match[name]
        )
        start = match.start(name) if name in ("month", "weekday", "bare_year") else match.start()
        try:
            span = _span(match, name, today)
        except (ValueError, OverflowError):
            yield Named(start, match.end(), None)
        else:
            weekday = name in ("weekday", "zh_weekday")
            yield Named(start, match.end(), span, bare=_lacks_year(match, name), relative=weekday)


def _sharing(text: str, today: date) -> Iterator[Named]:
    """Days whose month stands at another day."""
    for match in chain.from_iterable(pattern.finditer(text) for pattern in _SHARED):
        month, year = 1 + MONTHS.index(match["month"].casefold()), match["year"]
        try:
            day = int(match["day"])
            span = Span(date(int(year), month, day), "day") if year else month_of(today, month, day, None)
        except ValueError:
            span = None
        yield Named(match.start("day"), match.end("day"), span, bare=not year)


def _span(match: re.Match[str], name: str, today: date) -> Span:
    if name == "bare_year":
        return Span(today.replace(year=int(match[name]), month=1, day=1), "year")
    if name == "weekday":
        return weekday_of(today, _WEEKDAYS.index(match[name][:3].casefold()))
    if name == "zh_weekday":
        return weekday_of(today, min("一二三四五六日天".index(match[name]), 6))
    if name == "zh":
        number = SPELLED.get(match["zh"]) or int(match["zh"])
        named_day = match["zh_day"] or "0"
        day = int(named_day) if named_day.isdecimal() else value_of(named_day) or 0
        back = {"今年": 0, "去年": 1, "前年": 2}.get(match["year"] or "")
        return month_of(today, number, day, back)
    number = 1 + [month[:3] for month in MONTHS].index(match[name][:3].casefold())
    day = int(match["day"] or 0) if name == "of" else int(match["its_day"] or 0) if name == "of_day" else 0
    found = month_of(today, number, day, None)
    if match["last"] and found.first.year == today.year and found.first.month == today.month:
        return month_of(today, number, 0, 1)
    return found


def _lacks_year(match: re.Match[str], name: str) -> bool:
    return name not in ("bare_year", "weekday", "zh_weekday") and not match["year"]

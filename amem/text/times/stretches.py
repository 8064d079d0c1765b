"""Times that a question names more loosely than a statement would: "the last two weeks", 90年代, Q3, "2023-05"."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from amem.text.times.dates import MONTHS
from amem.text.times.numbers import SPELLED
from amem.text.times.spans import Named, Span, month_of, months_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NUMBERS = SPELLED | {"couple of": 2}
_COUNT = r"\d{1,3}|couple of|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_YEAR = r"(?:19|20)\d\d"


def stretches(text: str, today: date) -> Iterator[Named]:
    """Each time that is named in one of these ways, in no order."""
    for pattern, read in _READ:
        for match in pattern.finditer(text):
            try:
                span, bare, relative = read(match, today)
            except (ValueError, OverflowError):
                span, bare, relative = None, False, False
            start, end = match.span("time" if "time" in match.re.groupindex else 0)
            yield Named(start, end, span, bare=bare, relative=relative)


_Read = tuple[Span | None, bool, bool]


def _back(match: re.Match[str], today: date) -> _Read:
    """The days up to today: "the last two weeks"."""
    count = match["count"]
    if count == "半":
        days = {"年": 182, "月": 15}.get(match["unit"])
        return (None if days is None else Span(today - timedelta(days=days), "day", days + 1)), False, True
    number = 1 if not count else _NUMBERS.get(count.casefold()) or int(count)
    unit = _UNITS.get(match["unit"]) or match["unit"].casefold()
    days = number * {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    return Span(today - timedelta(days=days), "day", days + 1), False, True


def _this_or_last_month(match: re.Match[str], today: date) -> _Read:
    return months_from(today, -1 if match["count"] == "上" else 0), False, True


def _half_a_year_ago(_: re.Match[str], today: date) -> _Read:
    return months_from(today, -6), False, True


def _year(match: re.Match[str], today: date) -> _Read:
    return Span(today.replace(year=int(match["year"]), month=1, day=1), "year"), False, False


def _month(match: re.Match[str], today: date) -> _Read:
    return month_of(today, 1 + MONTHS.index(match["month"].casefold()), 0, None), True, False


def _decade(match: re.Match[str], today: date) -> _Read:
    year = int(match["decade"])
    year += 0 if year > 99 else 1900 if year > today.year % 100 else 2000
    return Span(date(year, 1, 1), "year", 10), False, False


def _digits(match: re.Match[str], today: date) -> _Read:
    year, month = int(match["year"]), int(match["month"])
    year += 2000 if year < 100 else 0
    day = match.groupdict().get("day")
    return Span(date(year, month, int(day or 1)), "day" if day else "month"), False, False


def _quarter(match: re.Match[str], today: date) -> _Read:
    number = _NUMBERS.get(match["quarter"]) or int(match["quarter"])
    return _part(match, today, 3 * number - 2, 3)


def _half(match: re.Match[str], today: date) -> _Read:
    return _part(match, today, 1 if match["half"] == "上" else 7, 6)


def _part(match: re.Match[str], today: date, month: int, months: int) -> _Read:
    """So many months of a year; of the last one in which they had begun, where none is named."""
    offset = {"去年": -1, "今年": 0, "前年": -2}.get(match.groupdict().get("which") or "")
    year = int(match["year"]) if match["year"] else today.year + (offset or 0)
    first = date(year, month, 1)
    bare = not match["year"] and offset is None
    if bare and first > today:
        first = first.replace(year=year - 1)
    return Span(first, "month", months), bare, offset is not None


_UNITS_EN = "day|week|month|year"
_BEFORE_A_TIME = (
    "before|after|by|until|till|through|throughout|early|late|mid|as of|(?:end|start|beginning|middle|half|rest) of"
)
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_LAST = r"\d{1,3}|十[一二]?|[一两二三四五六七八九半]"
_UNIT = r"天|周|星期|礼拜|月|年"
_WHICH_YEAR = rf"(?:(?P<year>{_YEAR})年|(?P<which>去年|今年|前年))?的?"
_READ: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], _Read]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (rf"\b(?:(?:the|these|our|my) )?(?:last|past) (?P<count>{_COUNT}) (?P<unit>{_UNITS_EN})s?\b(?! of\b)", _back),
        (r"\b(?:the|our|my) (?:last|past)(?P<count>) (?P<unit>week|month|year)\b(?! of\b)", _back),
        (rf"(?:过去|最近|近|这)的?(?P<count>{_LAST})个?(?P<unit>{_UNIT})(?:以来|之内|[内来里间])?", _back),
        (rf"前(?!一)(?P<count>{_LAST})个?(?P<unit>{_UNIT})(?!级)", _back),
        (r"(?P<count>上|这|本)个?月(?=[底初末中])", _this_or_last_month),
        (r"半年(?:之|以)?前", _half_a_year_ago),
        (rf"\b(?:{_BEFORE_A_TIME}|between|and|to)[ -](?P<time>(?P<year>{_YEAR}))\b(?![-/.:]?\d|s\b)", _year),
        (rf"(?<!\d)(?P<year>{_YEAR})年(?=的)", _year),
        (rf"\b(?:{_BEFORE_A_TIME}|this|next)[ -](?P<time>{_MONTH})\b(?!,? \d| i\b| we\b| you\b)", _month),
        (rf"\bbetween (?P<time>{_MONTH}) and\b", _month),
        (rf"\bbetween (?:{'|'.join(MONTHS)}) and (?P<time>{_MONTH})\b(?!,? \d)", _month),
        (r"\b(?:in|during|since|from|of) (?P<time>the (?:early |late |mid-?)?(?P<decade>(?:19|20)\d0)s)\b", _decade),
        (r"(?<!\d)(?P<decade>(?:19|20)?[1-9]0)年代", _decade),
        (rf"(?<![\w./-])(?P<year>{_YEAR})(?P<mark>[/.])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)(?![\w-]|[./]\w)", _digits),
        (rf"(?<![\w./-])(?P<year>{_YEAR})[-/](?P<month>0[1-9]|1[0-2])(?![\w/-]|\.\d)", _digits),
        (r"(?<!\d)(?P<year>[012]\d)年(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?", _digits),
        (rf"\bQ(?P<quarter>[1-4])(?:(?:,| of)? (?P<year>{_YEAR}))?\b", _quarter),
        (rf"{_WHICH_YEAR}第?(?P<quarter>[一二三四1-4])季度", _quarter),
        (rf"{_WHICH_YEAR}(?P<half>[上下])半年", _half),
    )
)

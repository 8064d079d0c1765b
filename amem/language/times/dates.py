"""Dates that a text names whole or in part, and the days they mean."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from amem.language.numerals import MONTHS, SPELLED, month_number, value_of, weekday_number
from amem.language.times.relative import relative
from amem.language.times.spans import Named, Span, longest, month_of, months_from, weekday_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# Dates that a text names whole ("3 May 2024", "2024年5月", "in 2019"), and all times it names beyond doubt.

#: In a regular expression: the month, by its name or the first three letters of it.
MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' if name != 'may' else 'may' for name in MONTHS)})\b\.?"
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"(?<![\w./-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\w-]|\.\w)"),
    re.compile(rf"\b{_DAY.format('day')} (?:of )?(?P<name>{MONTH}),? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<name>{MONTH}) (?:{_DAY.format('day')},? )?(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(r"\b(?:in|since|during|from) (?P<year>(?:19|20)\d\d)\b(?![-/.]?\d|s\b)", re.IGNORECASE),
    re.compile(
        r"(?<!\d)(?P<year>\d{4})年(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?|(?!\d{1,2}月|度|款|版|级|代|的))"
    ),
)
_TODAY = re.compile(r"\btoday\b(?!['’])|\bthis morning\b|今天|今早", re.IGNORECASE)


def mentions(text: str, today: date) -> list[Named]:
    """Each time that the text names in so many words, in order, without a span for one that is no date.

    Of two that overlap ("3 May 2024", "May 2024") it is the longer.
    """
    return longest([*relative(text, today), *_absolute(text), *_present(text, today)])


def _present(text: str, today: date) -> Iterator[Named]:
    for match in _TODAY.finditer(text):
        yield Named(match.start(), match.end(), Span(today, "day"), relative=True)


def _absolute(text: str) -> Iterator[Named]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            yield Named(match.start(), match.end(), _date(match.groupdict()))


def _date(parts: dict[str, str | None]) -> Span | None:
    """The span these digits name; None when the calendar has none such."""
    name, month, day = parts.get("name"), parts.get("month"), parts.get("day")
    if name is not None:
        month = str(month_number(name))
    try:
        first = date(int(parts["year"] or 0), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return Span(first, "day" if day else "month" if month else "year")


# Months, days and weekdays that are named without their year, or their week: the most recent ones.

_FULL = "|".join(MONTHS)
_BARE_MONTH = rf"(?P<month>(?:{_FULL})|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_BARE = re.compile(
    rf"\b(?:(?:in|since|from|until|till|to|through|during|as of|of) (?:early |late |mid-?)?|(?P<last>last ))"
    rf"{_BARE_MONTH}\b(?! \d)"
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
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_SHARED = (
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_RANGE}{_NTH}(?: of)? (?P<month>{_FULL})\b(?:,? (?P<year>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_FULL}) {_NTH}{_RANGE}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?! of\b)(?:,? (?P<year>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
)


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
        month, year = month_number(match["month"]), match["year"]
        try:
            day = int(match["day"])
            span = Span(date(int(year), month, day), "day") if year else month_of(today, month, day, None)
        except ValueError:
            span = None
        yield Named(match.start("day"), match.end("day"), span, bare=not year)


def _span(match: re.Match[str], name: str, today: date) -> Span:
    if name == "bare_year":
        return Span(today.replace(year=int(match[name]), month=1, day=1), "year")
    if name in ("weekday", "zh_weekday"):
        return weekday_of(today, weekday_number(match[name]))
    if name == "zh":
        number = SPELLED.get(match["zh"]) or int(match["zh"])
        named_day = match["zh_day"] or "0"
        day = int(named_day) if named_day.isdecimal() else value_of(named_day) or 0
        back = {"今年": 0, "去年": 1, "前年": 2}.get(match["year"] or "")
        return month_of(today, number, day, back)
    number = month_number(match[name])
    day = int(match["day"] or 0) if name == "of" else int(match["its_day"] or 0) if name == "of_day" else 0
    found = month_of(today, number, day, None)
    if match["last"] and found.first.year == today.year and found.first.month == today.month:
        return month_of(today, number, 0, 1)
    return found


def _lacks_year(match: re.Match[str], name: str) -> bool:
    return name not in ("bare_year", "weekday", "zh_weekday") and not match["year"]


# Times that a question names more loosely than a statement would: "the last two weeks", 90年代, Q3, "2023-05".

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
_STRETCH_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
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
        (rf"\b(?:{_BEFORE_A_TIME}|this|next)[ -](?P<time>{_STRETCH_MONTH})\b(?!,? \d| i\b| we\b| you\b)", _month),
        (rf"\bbetween (?P<time>{_STRETCH_MONTH}) and\b", _month),
        (rf"\bbetween (?:{'|'.join(MONTHS)}) and (?P<time>{_STRETCH_MONTH})\b(?!,? \d)", _month),
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

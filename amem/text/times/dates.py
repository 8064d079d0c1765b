"""Dates that a text names whole ("3 May 2024", "2024年5月", "in 2019"), and all times it names beyond doubt."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from amem.text.times.relative import relative
from amem.text.times.spans import Named, Span, longest

if TYPE_CHECKING:
    from collections.abc import Iterator

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
#: In a regular expression: the month, by its name or the first three letters of it.
MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' if name != 'may' else 'may' for name in MONTHS)})\b\.?"
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"(?<![\w./-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\w-]|\.\w)"),
    re.compile(rf"\b{_DAY.format('day')} (?:of )?(?P<name>{MONTH}),? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<name>{MONTH}) (?:{_DAY.format('day')},? )?(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(r"\b(?:in|since|during|from) (?P<year>(?:19|20)\d\d)\b(?![-/.]?\d|s\b)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<year>\d{4})年(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?)?(?!度|款|版|级|代|的)"),
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
        month = str(next(at for at, full in enumerate(MONTHS, 1) if full.startswith(name[:3].casefold())))
    try:
        first = date(int(parts["year"] or 0), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return Span(first, "day" if day else "month" if month else "year")

"""Since when what a note states has been so: a time that its text names, read against the hour it was said.

The same rules for every analyst, since a model that is asked for dates makes some up. A date is taken only from a text
that names exactly one time, and that one past or today: "yesterday", "上周五", "on 3 May 2024", "since 2019". Of a
week, month or year its first day counts, the earliest that is meant. Nothing is taken from what may mean something
else: a range, an end ("until 2023"), a plan, a guess, two times, a part of a period ("去年底", "May last year").
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from amem.llm.offline.times import Period, relative

if TYPE_CHECKING:
    from collections.abc import Iterator

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' if name != 'may' else 'may' for name in _MONTHS)})\b\.?"
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"(?<![\w./-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\w-]|\.\w)"),
    re.compile(rf"\b{_DAY.format('day')} (?:of )?(?P<name>{_MONTH}),? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<name>{_MONTH}) (?:{_DAY.format('day')},? )?(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(r"\b(?:in|since|during|from) (?P<year>(?:19|20)\d\d)\b(?![-/.]?\d|s\b)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<year>\d{4})年(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?)?(?!度|款|版|级|代|的)"),
)
_TODAY = re.compile(r"\btoday\b(?!['’])|\bthis morning\b|今天|今早", re.IGNORECASE)
#: What names a time but not which one: with it, a week, month or year is only part of what was said.
_OPEN = re.compile(
    rf"\b(?:{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|fall|winter)\b"
    r"|\d{1,2}月|\d{1,2}[日号]|(?:周|星期|礼拜)[一二三四五六日天]|[春夏秋冬][天季]",
    re.IGNORECASE,
)
#: With these nothing is stated: it may be so, or may have been so.
_PERHAPS = re.compile(
    r"\b(?:if|unless|maybe|perhaps|probably|possibly|might)\b|如果|假如|要是|也许|可能|大概|好像|或许", re.IGNORECASE
)
#: Before a time these make it an end, an aim or a part of it; after it, a range or a part.
_BEFORE = re.compile(
    r"(?:\b(?:until|till|before|after|by|through|to|for|than|between|due|expires?|every|(?:end|middle|start|half) of)"
    r"(?: on| in| the)?\s+|(?:[直截]?[到至]|截止|早于|晚于))$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:-|–|—|~|to|until|till|through|and|or)\s*(?:\d|last|yester|the day)"
    r"|(?:[到至和或]|还是|或者)(?:\d|今|昨|去年|前天|前年|上周|上个)|(?:之前|以前|为止|以后|之后|前后|前|后|左右|底|末|初|中旬|的时候?要)",
    re.IGNORECASE,
)


def holds_from(text: str, said: datetime) -> datetime | None:
    """The beginning, in the zone it was said in, of the day or period since which `text` says something is so.

    None when it names no time, or more than one, or one that may mean something else (see above).
    """
    if _PERHAPS.search(text):
        return None
    found: set[Period] = set()
    rest = text
    for start, end, period in mentions(text, said.date()):
        if period is None or _BEFORE.search(text[:start]) or _AFTER.match(text, end):
            return None
        found.add(period)
        rest = rest[:start] + " " * (end - start) + rest[end:]
    if len(found) != 1:
        return None
    (period,) = found
    if period.unit != "day" and _OPEN.search(rest):
        return None
    today = said.date()
    try:
        past = period.last < today or (period.unit == "day" and period.first == today)
    except OverflowError:
        past = False
    return datetime.combine(period.first, time(), tzinfo=said.tzinfo) if past else None


def mentions(text: str, today: date) -> list[tuple[int, int, Period | None]]:
    """(start, end, period) of each time that the text names, None for one that is no date.

    Of two that overlap ("3 May 2024", "May 2024") it is the longer.
    """
    named = [*relative(text, today), *_absolute(text), *_present(text, today)]
    kept: list[tuple[int, int, Period | None]] = []
    for start, end, period in sorted(named, key=lambda each: each[0] - each[1]):
        if all(end <= other[0] or start >= other[1] for other in kept):
            kept.append((start, end, period))
    return kept


def _present(text: str, today: date) -> Iterator[tuple[int, int, Period | None]]:
    for match in _TODAY.finditer(text):
        yield match.start(), match.end(), Period(today, "day")


def _absolute(text: str) -> Iterator[tuple[int, int, Period | None]]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            yield match.start(), match.end(), _date(match.groupdict())


def _date(parts: dict[str, str | None]) -> Period | None:
    """The period these digits name; None when the calendar has none such."""
    name, month, day = parts.get("name"), parts.get("month"), parts.get("day")
    if name is not None:
        month = str(next(at for at, full in enumerate(_MONTHS, 1) if full.startswith(name[:3].casefold())))
    try:
        first = date(int(parts["year"] or 0), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return Period(first, "day" if day else "month" if month else "year")

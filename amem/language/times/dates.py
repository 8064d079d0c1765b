"""Dates that a text names whole or in part, and the days they mean."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from amem.language.numerals import CARDINALS, CHINESE, MONTHS, ORDINALS, SPELLED, month_number, value_of, weekday_number
from amem.language.scripts import Patterns, read_list
from amem.language.times.relative import (
    STEPS,
    WHICH,
    WHICH_YEAR,
    Named,
    Span,
    holds,
    longest,
    month_of,
    months_from,
    relative,
    same_day,
    weekday_of,
    years_from,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# Dates that a text names whole ("3 May 2024", "2024年5月", "in 2019"), and all times it names beyond doubt.

#: In a regular expression: the month, by its name or the first three letters of it.
MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' if name != 'may' else 'may' for name in MONTHS)})\b\.?"
_pattern = Patterns("times/dates", month=MONTH, full="|".join(MONTHS), which_year=WHICH_YEAR)
#: What each of them holds: most texts name no year, which is soon seen.
FOUR_DIGITS = re.compile(r"\d{4}")


def mentions(text: str, today: date) -> list[Named]:
    """Each time that the text names in so many words, in order, without a span for one that is no date.

    Of two that overlap ("3 May 2024", "May 2024") it is the longer.
    """
    return longest([*relative(text, today), *_absolute(text), *_present(text, today)])


def _present(text: str, today: date) -> Iterator[Named]:
    if text.isascii() and not holds(text, ("today", "this morning")):
        return
    for match in _pattern.today.finditer(text):
        yield Named(match.start(), match.end(), Span(today, "day"), relative=True)


def _absolute(text: str) -> Iterator[Named]:
    if FOUR_DIGITS.search(text) is None:
        return
    english = _pattern.iso_date, _pattern.day_month_year, _pattern.month_day_year, _pattern.in_year
    for match in chain.from_iterable(pattern.finditer(text) for pattern in (*english, _pattern.date_zh)):
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


def bare(text: str, today: date) -> Iterator[Named]:
    """Months, days and weekdays that are named alone, in order, without a span for one that is no date."""
    yield from _sharing(text, today)
    for match in _pattern.bare.finditer(text):
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
            lacks_year = not weekday and name != "bare_year" and not match["year"]
            yield Named(start, match.end(), span, bare=lacks_year, relative=weekday)


def _sharing(text: str, today: date) -> Iterator[Named]:
    """Days whose month stands at another day."""
    for match in chain(_pattern.shared_before.finditer(text), _pattern.shared_after.finditer(text)):
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
        return month_of(today, number, day, _years_back(match["year"], today))
    number = month_number(match[name])
    day = int(match["day"] or 0) if name == "of" else int(match["its_day"] or 0) if name == "of_day" else 0
    found = month_of(today, number, day, None)
    if match["last"] and found.first.year == today.year and found.first.month == today.month:
        return month_of(today, number, 0, 1)
    return found


def _years_back(year: str | None, today: date) -> int | None:
    """How many years before the present one 去年 or 2023年 is; None for no year."""
    if not year:
        return None
    return -STEPS[year] if year in STEPS else today.year - int(year[:4])


# Times that a question names more loosely than a statement would: "the last two weeks", 90年代, Q3, "2023-05".

_COUNT = rf"\d{{1,3}}|couple of|half(?: an?)?|{'|'.join(CARDINALS)}"
_COUNT_ZH = r"\d{1,3}|[一二两三四五六七八九十百]{1,4}|半"
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30}
_MONTHS = {"month": 1, "year": 12, "decade": 120}
_TENS = {f"{word[:-1]}ies": value for word, value in CARDINALS.items() if value >= 20} | {"noughties": 0}


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


def _rolling(match: re.Match[str], today: date, way: int = -1) -> _Read:
    """The days up to today, or with `way` 1 from today on: "the last two weeks", 未来半年."""
    count, unit = match["count"].casefold(), _UNITS.get(match["unit"]) or match["unit"].casefold()
    number = 0.5 if count.startswith(("half", "半")) else _number(count or "one")
    if not number:
        raise ValueError(match[0])  # "the last 0 years" names no time
    months = int(number * _MONTHS.get(unit, 0))
    other = same_day(today, way * months) if months else today + way * timedelta(days=int(number * _DAYS[unit]))
    first, last = sorted((today, other))
    return Span(first, "day", (last - first).days + 1), False, True


def _coming(match: re.Match[str], today: date) -> _Read:
    return _rolling(match, today, 1)


def _number(count: str) -> int:
    """Raises ValueError for what is no number."""
    found = 2 if count == "couple of" else CARDINALS.get(count) or value_of(count)
    if found is None:
        raise ValueError(count)
    return found


def _whole(match: re.Match[str], today: date) -> _Read:
    """The week, weekend, month, quarter or year that a word says, else the present one."""
    steps = STEPS[(match.groupdict().get("which") or "this").casefold()]
    unit = _UNITS.get(match["unit"]) or match["unit"].casefold()
    if unit in ("quarter", "季度"):
        return Span(months_from(today, 3 * steps - (today.month - 1) % 3).first, "month", 3), False, True
    if unit in ("month", ""):  # in 上旬 no month is named
        return months_from(today, steps), False, True
    if unit == "year":
        return years_from(today, steps), False, True
    monday = today - timedelta(days=today.weekday())
    return (Span(monday, "week") if unit == "week" else Span(monday + timedelta(days=5), "weekend")), False, True


def _half_ago(match: re.Match[str], today: date) -> _Read:
    return (months_from(today, -6) if match["unit"] == "年" else Span(today - timedelta(days=15), "day")), False, True


def _year(match: re.Match[str], today: date) -> _Read:
    return Span(today.replace(year=int(match["year"]), month=1, day=1), "year"), False, False


def _month(match: re.Match[str], today: date) -> _Read:
    return month_of(today, 1 + MONTHS.index(match["month"].casefold()), 0, None), True, False


def _decade(match: re.Match[str], today: date) -> _Read:
    said = match["decade"].casefold().removeprefix("nineteen-")
    year, century = _TENS.get(said), match.groupdict().get("century")
    year = _number(said.strip("'’s")) if year is None else year
    if century:
        year += {"上": 1900, "本": 2000}.get(century[0]) or 100 * (_number(century) - 1)
    elif year < 100:
        year += 1900 if year > today.year % 100 or len(said) < len(match["decade"]) else 2000
    return (Span(date(year, 1, 1), "year", 10) if year % 10 == 0 else None), False, False


def _digits(match: re.Match[str], today: date) -> _Read:
    year, month = int(match["year"]), int(match["month"])
    year += 2000 if year < 100 else 0
    day = match.groupdict().get("day")
    return Span(date(year, month, int(day or 1)), "day" if day else "month"), False, False


def _quarter(match: re.Match[str], today: date) -> _Read:
    said = match["quarter"].casefold().removeprefix("q").removesuffix(" quarter")
    number = 4 if said in ("last", "final") else ORDINALS.get(said) or _number(said)
    return _months(match, today, 3 * number - 2, 3)


def _half(match: re.Match[str], today: date) -> _Read:
    return _months(match, today, 1 if match["half"] == "上" else 7, 6)


def _months(match: re.Match[str], today: date, month: int, months: int) -> _Read:
    """So many months of a year; of the last one in which they had begun, where none is named."""
    year, which = match.groupdict().get("year"), match.groupdict().get("which")
    first = date(int(year) if year else today.year + STEPS[which or "this"], month, 1)
    bare = not year and not which
    if bare and first > today:
        first = first.replace(year=first.year - 1)
    return Span(first, "month", months), bare, bool(which)


#: What the file may name, beside the parts that it has itself.
_PARTS = {
    **{"MONTHS": "|".join(MONTHS), "CARDINALS": "|".join(CARDINALS), "CHINESE": CHINESE, "DECADES": "|".join(_TENS)},
    **{"ORDINALS": "|".join(list(ORDINALS)[:4]), "WHICH": WHICH, "WHICH_YEAR": WHICH_YEAR},
}
_READERS = {
    read.__name__.strip("_"): read
    for read in (_rolling, _coming, _half_ago, _whole, _year, _month, _decade, _digits, _quarter, _half)
}


_READ: list[tuple[re.Pattern[str], Callable[[re.Match[str], date], _Read]]] = []
for _section, _line in read_list("stretches.txt"):
    _name, _, _written = _line.partition("  ")
    _whole_pattern = re.sub(r"\{([A-Z_]+)\}", lambda part: _PARTS[part[1]], _written)
    if _section == "parts":
        _PARTS[_name] = _whole_pattern
    else:
        _READ.append((re.compile(_whole_pattern, re.IGNORECASE), _READERS[_name]))

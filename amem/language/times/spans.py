"""Days in a row: what a word of time means once it is resolved against the day it was said."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Which one after the present year, week, month or quarter a word means; a year by itself or with its 年.
STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
STEPS |= {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
STEPS |= {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
#: In a regular expression: the words that name a year by the present one, and those before a week, month or quarter.
WHICH_YEAR, WHICH = "大前年|前年|去年|今年|明年|后年", "上上|下下|[上下这本]"

#: Days of the units that are counted in days; months and years are counted by the calendar.
_DAYS = {"day": 1, "weekend": 2, "week": 7}


@dataclass(frozen=True, slots=True)
class Span:
    """`count` days, weekends, weeks, months or years (`unit`) in a row, the first of which begins with `first`."""

    first: date
    unit: str
    count: int = 1

    @property
    def last(self) -> date:
        """Its last day. Raises OverflowError or ValueError at the end of the calendar."""
        if self.unit in _DAYS:
            return self.first + timedelta(days=_DAYS[self.unit] * self.count - 1)
        months = self.count * (12 if self.unit == "year" else 1)
        final = months_from(self.first, months - 1).first
        return final.replace(day=monthrange(final.year, final.month)[1])

    def written(self, chinese: bool) -> str:
        """The span as a note's context writes it."""
        if self.unit == "year":
            return f"{self.first.year}年" if chinese else str(self.first.year)
        if self.unit == "month":
            year, month = self.first.year, self.first.month
            return f"{year}年{month}月" if chinese else f"{year}-{month:02}"
        if self.unit == "week":
            return f"{iso(self.first, True)}那周" if chinese else f"week of {self.first.isoformat()}"
        if self.unit == "weekend":
            first, last = iso(self.first, chinese), iso(self.last, chinese)
            return f"{first}至{last}" if chinese else f"{first} to {last}"
        return iso(self.first, chinese)


@dataclass(frozen=True, slots=True)
class Named:
    """A time that a text names: where it stands, which days it means (None: none that can be told), and how.

    `bare` is one whose year is left out ("in May"); `relative` one that is reckoned from the day it was said
    ("yesterday"), so that another text may mean another day by the same words.
    """

    start: int
    end: int
    span: Span | None
    bare: bool = False
    relative: bool = False


def iso(day: date, chinese: bool) -> str:
    """The day as a note's context writes it."""
    return f"{day.year}年{day.month}月{day.day}日" if chinese else day.isoformat()


def months_from(day: date, steps: int) -> Span:
    """The month so many after that of `day`. Raises ValueError or OverflowError without such."""
    years, month = divmod(day.month - 1 + steps, 12)
    return Span(date(day.year + years, month + 1, 1), "month")


def years_from(day: date, steps: int) -> Span:
    """The year so many after that of `day`. Raises ValueError or OverflowError without such."""
    return Span(date(day.year + steps, 1, 1), "year")


def same_day(day: date, months: int) -> date:
    """The same day so many months later, or the last of a shorter month. Raises ValueError or OverflowError."""
    month = months_from(day, months)
    return min(month.last, month.first + timedelta(days=day.day - 1))


def before(said: date, count: int, unit: str) -> Span:
    """The day, week, month or year so many before that of `said`. Raises OverflowError or ValueError without such."""
    if unit == "day":
        return Span(said - timedelta(days=count), "day")
    if unit == "week":
        return Span(said - timedelta(weeks=count, days=said.weekday()), "week")
    return months_from(said, -count) if unit == "month" else years_from(said, -count)


def month_of(today: date, month: int, day: int, years_back: int | None) -> Span:
    """A month, or with `day` a day of it, named without its year: the most recent that has begun; else of that year.

    Raises ValueError for one that the calendar does not have.
    """
    first = date(today.year - (years_back or 0), month, day or 1)
    if years_back is None and first > today:
        first = first.replace(year=first.year - 1)
    return Span(first, "day" if day else "month")


def weekday_of(today: date, weekday: int) -> Span:
    """A weekday (Monday is 0) named alone by somebody who tells what was: the most recent one."""
    return Span(today - timedelta(days=(today.weekday() - weekday) % 7), "day")


def longest(named: Iterable[Named]) -> list[Named]:
    """In order; of two that overlap ("3 May 2024", "May 2024") only the longer."""
    kept: list[Named] = []
    starts: list[int] = []
    for each in sorted(named, key=lambda each: each.start - each.end):
        at = bisect_left(starts, each.start)
        after_one = at == 0 or kept[at - 1].end <= each.start
        if after_one and (at == len(kept) or each.end <= kept[at].start):
            kept.insert(at, each)
            starts.insert(at, each.start)
    return kept

"""Days laid out as weeks: which are in sight, how full each is, and where months begin. Pure functions of dates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WEEK = 7
#: How full a day is, from nothing to the fullest of all; each is told from the others without its colour.
SHADES = "·░▒▓█"
WEEKDAYS = "MTWTFSS"
#: A column is as wide as this, in cells; months have three letters and a space.
MONTH_CELLS = 4
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Days:
    """How many notes speak of each day, and which day it is; `fullest` is the largest of these numbers."""

    counts: Mapping[date, int]
    today: date
    fullest: int = 0

    @property
    def first(self) -> date:
        """The first day that one can go to."""
        return min(min(self.counts, default=self.today), self.today)

    @property
    def last(self) -> date:
        """The last day that one can go to."""
        return max(max(self.counts, default=self.today), self.today)

    def within(self, ordinal: int) -> date:
        """The day of this number, or the nearest that one can go to."""
        return date.fromordinal(max(self.first.toordinal(), min(ordinal, self.last.toordinal())))

    def shade(self, day: date) -> int:
        """A place in SHADES: by the number of notes up to four, beyond that by its root: a day of one stays faint."""
        count = self.counts.get(day, 0)
        if count == 0:
            return 0
        if self.fullest <= 4:
            return count
        return 1 + int(4 * math.sqrt((count - 1) / self.fullest))


def days_of(counts: Mapping[date, int], today: date) -> Days:
    """The days of a collection, with its fullest."""
    return Days(counts, today, max(counts.values(), default=0))


@dataclass(frozen=True, slots=True)
class Window:
    """The weeks in sight, Monday first: `last` is the Monday of the last one, as a number, `weeks` how many."""

    last: int
    weeks: int

    @property
    def first(self) -> int:
        """The Monday of the first one."""
        return self.last - (self.weeks - 1) * WEEK

    def day(self, column: int, row: int) -> date | None:
        """The day at a place; None beyond the calendar's ends."""
        ordinal = self.first + column * WEEK + row
        return date.fromordinal(ordinal) if 0 < ordinal <= date.max.toordinal() else None

    def place(self, day: date) -> tuple[int, int]:
        """(column, row) of a day."""
        return divmod(day.toordinal() - self.first, WEEK)

    def moved(self, day: date) -> Window:
        """The same number of weeks, moved as little as shows that day."""
        week = monday(day)
        if week > self.last:
            return replace(self, last=week)
        return replace(self, last=week + (self.weeks - 1) * WEEK) if week < self.first else self


def monday(day: date) -> int:
    """The number of the Monday of that day's week."""
    return day.toordinal() - day.weekday()


def months(window: Window, cells: int) -> Iterator[tuple[int, str]]:
    """(column, name) of the months that begin in sight, a January by its year, where columns are `cells` wide."""
    free = 0
    for column in range(window.weeks):
        days = [day for row in range(WEEK) if (day := window.day(column, row)) is not None]
        first = next((day for day in days if day.day == 1), None)
        if first is not None and column * cells >= free and (window.weeks - column) * cells >= MONTH_CELLS - 1:
            name = f"{first.year:04}" if first.month == 1 else _MONTHS[first.month - 1]
            yield column, name
            free = column * cells + len(name) + 1


def streak(days: Days) -> int:
    """Days in a row with notes, up to today, or to yesterday while today has none."""
    day = days.today if days.counts.get(days.today) else days.today - timedelta(days=1)
    length = 0
    while days.counts.get(day):
        length += 1
        day -= timedelta(days=1)
    return length

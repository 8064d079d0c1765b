"""Days laid out as weeks, each day as dark as it has notes."""

from __future__ import annotations

import math
from calendar import month_abbr
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from textual import events


WEEK = 7
#: How full a day is, from nothing to the fullest of all; each is told from the others without its colour.
SHADES = "·░▒▓█"
_LOOKS = ("$muted", "$primary", "$primary", "$primary", "$accent")
WEEKDAYS = "MTWTFSS"
#: A column is as wide as this, in cells; months have three letters and a space.
MONTH_CELLS = 4


@dataclass(frozen=True, slots=True)
class Days:
    """How many notes speak of each day, and which day it is; `fullest` is the largest of these numbers."""

    counts: Mapping[date, int]
    today: date
    fullest: int = 0

    @property
    def first(self) -> date:
        return min(min(self.counts, default=self.today), self.today)

    @property
    def last(self) -> date:
        return max(max(self.counts, default=self.today), self.today)

    def within(self, ordinal: int) -> date:
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
    return Days(counts, today, max(counts.values(), default=0))


@dataclass(frozen=True, slots=True)
class Window:
    """The weeks in sight, Monday first: `last` is the Monday of the last one, as a number, `weeks` how many."""

    last: int
    weeks: int

    @property
    def first(self) -> int:
        return self.last - (self.weeks - 1) * WEEK

    def day(self, column: int, row: int) -> date | None:
        """The day at a place; None beyond the calendar's ends."""
        ordinal = self.first + column * WEEK + row
        return date.fromordinal(ordinal) if 0 < ordinal <= date.max.toordinal() else None

    def moved(self, day: date) -> Window:
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
            name = f"{first.year:04}" if first.month == 1 else month_abbr[first.month]
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


#: Room for the letter of the weekday.
_LABEL = 2
_NARROWEST, _WIDEST, _MOST_WEEKS = 2, 4, 53


class HeatMap(Widget, can_focus=True):
    """Whoever owns it hands it the `days`; the `day` under the cursor is always one that one can go to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-7)", "Week before", show=False),
        Binding("right", "step(7)", "Week after", show=False),
        Binding("up,k", "step(-1)", "Day before", show=False),
        Binding("down,j", "step(1)", "Day after", show=False),
        Binding("home", "go('first')", "First day", show=False),
        Binding("end,G", "go('last')", "Last day", show=False),
        Binding("pageup", "page(-1)", "Older", show=False),
        Binding("pagedown", "page(1)", "Newer", show=False),
    ]
    day: reactive[date] = reactive(date.min, init=False)

    class Chosen(Message):
        """The cursor came to another day."""

    class Opened(Message):
        """A click on the day under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        #: What it shows; None until it was told.
        self.days: Days | None = None
        self._last = 0

    def show(self, days: Days, day: date | None = None) -> None:
        """Show these, and go to `day`; where none is given, stay."""
        wanted = day or (days.today if self.days is None else self.day)
        self._last = monday(days.today) if self.days is None else self._last
        self.days = days
        with self.prevent(HeatMap.Chosen):
            self.day = days.within(wanted.toordinal())
        self.refresh()

    @property
    def window(self) -> Window:
        cells = self._cells
        return Window(self._last, max(1, min(_MOST_WEEKS, (self.size.width - _LABEL) // cells)))

    @property
    def _cells(self) -> int:
        return max(_NARROWEST, min(_WIDEST, (self.size.width - _LABEL) // _MOST_WEEKS))

    def watch_day(self) -> None:
        self._last = self.window.moved(self.day).last
        self.refresh()
        self.post_message(self.Chosen())

    def on_resize(self) -> None:
        if self.days is not None:
            self._last = self.window.moved(self.day).last

    def action_step(self, by: int) -> None:
        self._go(self.day.toordinal() + by)

    def action_go(self, where: str) -> None:
        if self.days is not None:
            day: date = {"first": self.days.first, "last": self.days.last, "today": self.days.today}[where]
            self._go(day.toordinal())

    def action_page(self, by: int) -> None:
        if (days := self.days) is not None:
            target = days.within(self.day.toordinal() + by * self.window.weeks * WEEK)
            # Before the first note there is nothing to see.
            full = min(monday(days.first) + (self.window.weeks - 1) * WEEK, monday(days.last))
            self._last = max(self._last + monday(target) - monday(self.day), full)
            self.day = target
            self.refresh()

    def _go(self, ordinal: int) -> None:
        if self.days is not None:
            self.day = self.days.within(ordinal)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset_capture(self)
        column, row = (at.x - _LABEL) // self._cells, at.y - 1
        if self.days is None or at.x < _LABEL or not 0 <= row < WEEK or column >= self.window.weeks:
            return
        day = self.window.day(column, row)
        if day is None or not self.days.first <= day <= self.days.last:
            return
        if day == self.day:
            self.post_message(self.Opened())
        self.day = day

    def render(self) -> Content:
        if (days := self.days) is None:
            return Content()
        window, cells, names = self.window, self._cells, ""
        for column, name in months(window, cells):
            names = names.ljust(_LABEL + column * cells) + name
        lines = [Content.styled(names, "$muted")]
        for row, letter in enumerate(WEEKDAYS):
            squares = (self._square(days, window.day(column, row)) for column in range(window.weeks))
            lines.append(Content.assemble((letter.ljust(_LABEL), "$muted"), *squares))
        return Content("\n").join(lines)

    def _square(self, days: Days, day: date | None) -> tuple[str, str]:
        if day is None or not days.first <= day <= days.last:
            return " " * self._cells, ""
        shade = days.shade(day)
        # The gap between columns is what makes weeks of them.
        square = (SHADES[shade] * (self._cells - 1)) + " " if shade else SHADES[0].ljust(self._cells)
        if day == self.day:
            return square, "$background on $foreground" if self.has_focus else "$foreground on $panel-lighten-2"
        return square, f"{_LOOKS[shade]} {'underline' if day == days.today else ''}"

"""The log as a list of any length: it holds the rows around what is seen and asks for the others as they come up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amem_tui.cells import fit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.style import Style
    from textual import events

    from amem_tui.log.outline import Line, Outline
    from amem_tui.log.rows import Row

_ROWS_KEPT = 2_000
#: Rows asked for at a time, above and below what is missing.
_AHEAD = 60
#: From this width on there is room for numbers and names.
_ROOMY = 70


class LogList(ScrollView, can_focus=True):
    """Operations under their days. Whoever owns it answers `Wanted` with `fill`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "go(0)", "Newest", show=False),
        Binding("end,G", "go(-1)", "Oldest", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"log-list--{name}"
        for name in ("row", "cursor", "dim", "day", "person", "agent", "machine", "action", "undone", "mark")
    }

    cursor: reactive[int] = reactive(0)

    @dataclass
    class Wanted(Message):
        """Rows of these operations are on screen and not here."""

        ids: list[int]

    @dataclass
    class Moved(Message):
        """The cursor came to another line."""

    @dataclass
    class Opened(Message):
        """A click on the line under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.outline: Outline | None = None
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._stale: set[int] = set()
        self._asked: set[int] = set()

    @property
    def chosen(self) -> Line | None:
        """The operation under the cursor."""
        line = self._line(self.cursor)
        return line if line is not None and line.id else None

    @property
    def row(self) -> Row | None:
        """What is known of it, when it is here."""
        return None if self.chosen is None else self._rows.get(self.chosen.id)

    def row_at(self, place: int) -> Row | None:
        """The row of an operation by its place; None for a day, and while it is on its way."""
        line = self._line(place)
        return None if line is None else self._rows.get(line.id)

    @property
    def toggled(self) -> set[int]:
        """What was folded or unfolded by hand."""
        return set() if self.outline is None else self.outline.toggled

    def show(self, outline: Outline) -> None:
        """Replace what is listed. The cursor stays on its operation, and whoever is on top sees what is new there."""
        before, self.outline = self.chosen, outline
        on_top = self.scroll_y == 0
        offset = self.cursor - round(self.scroll_y)
        self._stale, self._asked = set(self._rows), set()
        place = None if before is None else outline.place(before.id)
        place = self.cursor if place is None else place
        self._resized()
        self.set_reactive(LogList.cursor, self._nearest(max(0, min(place, len(outline.lines) - 1)), 1))
        self.scroll_to(y=0 if on_top else max(0, self.cursor - offset), animate=False, immediate=True)
        self._reveal()
        self.refresh()

    def fill(self, rows: Mapping[int, Row]) -> None:
        """Take in rows that were asked for."""
        self._rows.update(rows)
        self._stale -= rows.keys()
        while len(self._rows) > _ROWS_KEPT:
            self._rows.popitem(last=False)
        self._asked -= rows.keys()
        self.refresh()

    # -- moving ------------------------------------------------------------------------------------------------

    def watch_cursor(self) -> None:
        self._reveal()
        self.refresh()
        self.post_message(self.Moved())

    def action_step(self, by: int) -> None:
        self._go(self.cursor + by, by)

    def action_leap(self, pages: int) -> None:
        self._go(self.cursor + pages * max(1, self.size.height - 1), pages)

    def action_go(self, place: int) -> None:
        self._go(place if place >= 0 else len(self._lines) - 1, 1)

    def toggle(self) -> None:
        """Fold what the operation under the cursor set off, or unfold it."""
        if self.outline is not None and self.chosen is not None:
            self.outline.toggle(self.cursor)
            self._resized()
            self.refresh()

    def step_out(self) -> None:
        """Go to the operation that set this one off."""
        if self.outline is not None and self.chosen is not None:
            self.cursor = self.outline.above(self.cursor)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        place = -1 if at is None else at.y + round(self.scroll_y)
        line = self._line(place)
        if line is None or not line.id or at is None:
            return
        same, self.cursor = place == self.cursor, place
        if line.steps and at.x in self._fold_marks(line):
            self.toggle()
        elif same:
            self.post_message(self.Opened())

    @property
    def _lines(self) -> list[Line]:
        return [] if self.outline is None else self.outline.lines

    def _line(self, place: int) -> Line | None:
        return self._lines[place] if 0 <= place < len(self._lines) else None

    def _go(self, place: int, by: int) -> None:
        if self._lines:
            self.cursor = self._nearest(max(0, min(place, len(self._lines) - 1)), by)

    def _nearest(self, place: int, by: int) -> int:
        """That place, or the one next to it where a day's name stands there."""
        line = self._line(place)
        if line is None or line.id:
            return place
        return place + 1 if by > 0 or place == 0 else place - 1

    def _reveal(self) -> None:
        above = 1 if self.cursor and not self._lines[self.cursor - 1].id else 0  # its day, too
        region = Region(0, self.cursor - above, 1, 1 + above)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def _resized(self) -> None:
        self.virtual_size = Size(0, len(self._lines))

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        place = y + round(self.scroll_y)
        line, width = self._line(place), self.size.width
        if line is None:
            return Strip.blank(width, self.rich_style)
        if not line.id:
            day = date.fromordinal(line.day).strftime(" %Y-%m-%d  %A")
            return Strip([Segment(fit(day, width), self.get_component_rich_style("log-list--day"))])
        base = self.get_component_rich_style("log-list--cursor" if place == self.cursor else "log-list--row")
        row = self._rows.get(line.id)
        if row is None or line.id in self._stale:
            self._want(place)
        if row is None:
            return Strip([Segment(fit("  …", width), base)])
        return Strip(self._segments(line, row, base, width)).adjust_cell_length(width, base).simplify()

    def _segments(self, line: Line, row: Row, base: Style, width: int) -> list[Segment]:
        dim, operation, roomy = self._over("dim", base), row.operation, width >= _ROOMY
        mark = ("▸" if line.folded else "▾") if line.steps else ("└" if line.depth else " ")
        who = row.who if roomy else row.who[:1]
        undone = "undone " if operation.undone else ""
        steps = f" +{line.steps:,}" if line.folded else ""
        extent = f"  {row.extent}" if row.extent and roomy else ""
        action = self._over("undone" if operation.undone else "action", base)
        segments = [
            Segment(f"{operation.id:>6} " if roomy else " ", dim),
            Segment(f"{row.clock} ", dim),
            Segment("  " * line.depth + mark + " ", self._over("mark", base)),
            Segment(fit(who, 14 - 2 * min(line.depth, 3) if roomy else 1) + " ", self._over(_whose(row), base)),
            Segment(fit(operation.action, 10 if roomy else 8) + " ", action),
            Segment(undone, self._over("mark", base)),
        ]
        room = width - sum(cell_len(each.text) for each in segments)
        room -= cell_len(extent) + cell_len(steps) + 1
        about = fit(row.about, room).rstrip() if room > 3 else ""
        return [*segments, Segment(about, action if operation.undone else base), Segment(extent + steps, dim)]

    def _over(self, component: str, base: Style) -> Style:
        return base + self.get_component_rich_style(f"log-list--{component}", partial=True)

    def _fold_marks(self, line: Line) -> range:
        start = (13 if self.size.width >= _ROOMY else 7) + 2 * line.depth
        return range(start, start + 2)

    def _want(self, place: int) -> None:
        if self._lines[place].id in self._asked:
            return
        near = self._lines[max(0, place - _AHEAD) : place + _AHEAD]
        wanted = [each.id for each in near if each.id and each.id not in self._asked]
        missing = [id for id in wanted if id not in self._rows or id in self._stale]
        self._asked.update(missing)
        if missing:
            self.post_message(self.Wanted(missing))


def _whose(row: Row) -> str:
    return {"●": "person", "▲": "agent"}.get(row.who[:1], "machine")

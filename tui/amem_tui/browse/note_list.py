"""A list of notes of any length: it holds the pages around what is seen and asks for the others as they come up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
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
    from collections.abc import Mapping, Sequence

    from rich.style import Style
    from textual import events

    from amem_tui.browse.rows import Row

PAGE = 100
_PAGES_KEPT = 12
#: From this width on a row has room for the whole date.
_ROOMY = 46


class NoteList(ScrollView, can_focus=True):
    """Rows by their place, 0 the newest or best. Whoever owns it answers `PageWanted` with `fill`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "go(0)", "First", show=False),
        Binding("end,G", "go(-1)", "Last", show=False),
        Binding("enter", "open", "Open", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "note-list--row",
        "note-list--cursor",
        "note-list--glyph",
        "note-list--dim",
        "note-list--pin",
    }

    cursor: reactive[int] = reactive(0)

    @dataclass
    class PageWanted(Message):
        """Rows of this page are on screen and not here. `generation` says for which contents of the list."""

        page: int
        generation: int

    @dataclass
    class Moved(Message):
        """The cursor came to rest on this row."""

        row: Row

    @dataclass
    class Opened(Message):
        """Enter or a click on the row under the cursor."""

        row: Row

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._count = 0
        self._row_height = 1
        self._generation = 0
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()
        self._wanted: set[int] = set()

    @property
    def count(self) -> int:
        """How many rows there are in all."""
        return self._count

    @property
    def row(self) -> Row | None:
        """The row under the cursor, when it is here."""
        return self.row_at(self.cursor)

    def row_at(self, place: int) -> Row | None:
        """The row at a place; None beyond the end or while its page is on its way."""
        rows = self._pages.get(place // PAGE, ())
        return rows[place % PAGE] if 0 <= place < self._count and place % PAGE < len(rows) else None

    def show(self, count: int, pages: Mapping[int, Sequence[Row]], *, place: int = 0, explained: bool = False) -> None:
        """Replace what is listed and put the cursor at `place`; `explained` gives each row a second line for why."""
        self._generation += 1
        self._count, self._row_height = count, 2 if explained else 1
        self._pages = OrderedDict(pages)
        self._wanted.clear()
        self.virtual_size = Size(0, count * self._row_height)
        with self.prevent(NoteList.Moved):
            self.set_reactive(NoteList.cursor, max(0, min(place, count - 1)))
        self._reveal()
        self.refresh()

    def fill(self, page: int, generation: int, rows: Sequence[Row]) -> None:
        """Take in a page that was asked for; one meant for earlier contents is dropped."""
        if generation != self._generation:
            return
        self._wanted.discard(page)
        self._pages[page] = rows
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        self.refresh()
        if self.cursor // PAGE == page and self.row is not None:
            self.post_message(self.Moved(self.row))

    # -- moving ------------------------------------------------------------------------------------------------

    def watch_cursor(self) -> None:
        self._reveal()
        self.refresh()
        self._want(self.cursor // PAGE)
        if self.row is not None:
            self.post_message(self.Moved(self.row))

    def action_step(self, by: int) -> None:
        self._go(self.cursor + by)

    def action_leap(self, pages: int) -> None:
        self._go(self.cursor + pages * max(1, self.size.height // self._row_height - 1))

    def action_go(self, place: int) -> None:
        self._go(place if place >= 0 else self._count - 1)

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(self.Opened(self.row))

    def on_click(self, event: events.Click) -> None:
        place = (event.y + int(self.scroll_y)) // self._row_height
        if place == self.cursor:
            self.action_open()
        elif place < self._count:
            self._go(place)

    def _go(self, place: int) -> None:
        if self._count:
            self.cursor = max(0, min(place, self._count - 1))

    def _reveal(self) -> None:
        height = self._row_height
        self.scroll_to_region(Region(0, self.cursor * height, 1, height), animate=False, force=True)

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        line = y + int(self.scroll_y)
        place, part = divmod(line, self._row_height)
        base = self.get_component_rich_style("note-list--row")
        if place >= self._count:
            return Strip.blank(self.size.width, self.rich_style)
        row = self.row_at(place)
        if place == self.cursor:
            base = self.get_component_rich_style("note-list--cursor")
        if row is None:
            self._want(place // PAGE)
            return Strip([Segment(fit("  …", self.size.width), base)])
        segments = self._first_line(row, base) if part == 0 else self._second_line(row, base)
        return Strip(segments).adjust_cell_length(self.size.width, base).simplify()

    def _first_line(self, row: Row, base: Style) -> list[Segment]:
        dim, glyph = self._over("note-list--dim", base), self._over("note-list--glyph", base)
        tail = f" {f'{row.links}↔' if row.links else '':>4} "
        when = row.day if self.size.width >= _ROOMY else row.day[5:]
        tail += f"{row.score:>5.2f} " if row.score is not None else f"{when} "
        room = max(4, self.size.width - 3 - cell_len(tail) - (2 if row.pinned else 0))
        segments = [Segment(f" {row.glyph} ", glyph), Segment(fit(row.title, room), base)]
        if row.pinned:
            segments.append(Segment(" ▪", self._over("note-list--pin", base)))
        return [*segments, Segment(tail, dim)]

    def _second_line(self, row: Row, base: Style) -> list[Segment]:
        return [Segment(fit(f"   {row.why}", max(1, self.size.width - 1)), self._over("note-list--dim", base))]

    def _over(self, component: str, base: Style) -> Style:
        """The component's foreground on the row's own background."""
        style = self.get_component_rich_style(component, partial=True)
        return base + style

    def _want(self, page: int) -> None:
        if self._count and page not in self._pages and page not in self._wanted:
            self._wanted.add(page)
            self.post_message(self.PageWanted(page, self._generation))

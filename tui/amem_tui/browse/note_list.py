"""A list of notes of any length: it holds the pages around what is seen and asks for the others as they come up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amem_tui.browse.row_line import laid_out
from amem_tui.cells import fit
from amem_tui.toned import toned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.style import Style
    from textual import events

    from amem_tui.browse.row_line import Piece
    from amem_tui.browse.rows import Row

PAGE = 100
_PAGES_KEPT = 16
#: A click on so many cells at the left marks the row.
_MARGIN = 2


class NoteList(ScrollView, can_focus=True):
    """Rows by their place, 0 the first. Its owner answers `RowsWanted` with `fill` for as long as some are `missing`.

    `marked` are the ids that are ticked, `year` the one whose dates need not say it, `hint` stands in an empty list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "go(0)", "First", show=False),
        Binding("end,G", "go(-1)", "Last", show=False),
        Binding("enter", "open", "Read", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "note-list--row",
        "note-list--cursor",
        "note-list--mark",
        "note-list--glyph",
        "note-list--dim",
        "note-list--pin",
        "note-list--waiting",
        "note-list--score",
        "note-list--long",
        "note-list--short",
        "note-list--unlit",
        "note-list--person",
        "note-list--agent",
        "note-list--machine",
        "note-list--superseded",
        "note-list--archived",
        "note-list--deleted",
    }

    cursor: reactive[int] = reactive(0)
    year: reactive[int] = reactive(0)

    @dataclass
    class RowsWanted(Message):
        """Rows that are on screen, or next to it, are not here: see `missing`."""

    @dataclass
    class Moved(Message):
        """The cursor came to rest on this row."""

        row: Row

    @dataclass
    class Opened(Message):
        """Enter or a double click on the row under the cursor."""

        row: Row

    @dataclass
    class Ticked(Message):
        """A click in the margin of this row."""

        row: Row

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.marked: set[str] = set()
        self.hint = ""
        self._count = 0
        self._row_height = 1
        self._generation = 0
        self._pages: OrderedDict[int, Sequence[Row | None]] = OrderedDict()
        self._asked = False

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

    @property
    def seen(self) -> range:
        """The places that are on screen."""
        first = int(self.scroll_y) // self._row_height
        last = (int(self.scroll_y) + max(1, self.size.height) - 1) // self._row_height
        return range(first, min(self._count, last + 1))

    # -- what is listed ----------------------------------------------------------------------------------------

    def show(
        self,
        count: int,
        pages: Mapping[int, Sequence[Row | None]],
        *,
        place: int = 0,
        explained: bool = False,
        steady: bool = False,
    ) -> None:
        """Replace what is listed and put the cursor at `place`; `explained` gives each row a second line for why.

        `steady` keeps the row under the cursor where it is on the screen, or the top where the list stands at its top.
        """
        height = 2 if explained else 1
        before, above = self.cursor, self.scroll_y
        self._generation += 1
        self._count, self._row_height = count, height
        self._pages = OrderedDict(pages)
        self._asked = False
        self.virtual_size = Size(0, count * height)
        with self.prevent(NoteList.Moved):
            self.set_reactive(NoteList.cursor, max(0, min(place, count - 1)))
        if steady and above:
            self.scroll_to(y=above + (self.cursor - before) * height, animate=False, force=True, immediate=True)
        self._reveal()
        self.refresh()

    def missing(self) -> tuple[int, int] | None:
        """(the page that is wanted most, the generation it is of); None when nothing is. Pages on screen come first."""
        if not self._count:
            return None
        seen = self.seen
        first, last = seen.start // PAGE, max(seen.start, seen.stop - 1) // PAGE
        near = (self.cursor // PAGE, *range(first, last + 1), last + 1, first - 1)
        for page in near:
            if page not in self._pages and 0 <= page * PAGE < self._count:
                return page, self._generation
        self._asked = False
        return None

    def fill(self, page: int, generation: int, rows: Sequence[Row | None]) -> None:
        """Take in a page; one meant for earlier contents is dropped."""
        if generation != self._generation:
            return
        self._pages[page] = rows
        self._pages.move_to_end(page)
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        self.refresh()
        if self.cursor // PAGE == page and self.row is not None:
            self.post_message(self.Moved(self.row))

    def give_up(self) -> None:
        """What was asked for could not be had; the next move asks again."""
        self._asked = False

    def tick(self, ids: set[str]) -> None:
        """Mark these notes and no others."""
        self.marked = ids
        self.refresh()

    # -- moving ------------------------------------------------------------------------------------------------

    def put_cursor(self, place: int) -> None:
        """Move the cursor without saying so."""
        with self.prevent(NoteList.Moved):
            self.set_reactive(NoteList.cursor, max(0, min(place, self._count - 1)))
        self._reveal()
        self.refresh()

    def watch_cursor(self) -> None:
        self._reveal()
        self.refresh()
        if self.row is not None:
            self.post_message(self.Moved(self.row))
        else:
            self._want()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        seen = self.seen
        if any(page not in self._pages for page in {seen.start // PAGE, max(0, seen.stop - 1) // PAGE}):
            self._want()

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
        at = event.get_content_offset(self)
        place = -1 if at is None else (at.y + int(self.scroll_y)) // self._row_height
        if at is None or not 0 <= place < self._count:
            return
        again = place == self.cursor
        self._go(place)
        if at.x < _MARGIN and self.row is not None:
            self.post_message(self.Ticked(self.row))
        elif event.chain > 1 and again:
            self.action_open()

    def _go(self, place: int) -> None:
        if self._count:
            self.cursor = max(0, min(place, self._count - 1))

    def _reveal(self) -> None:
        height = self._row_height
        self.scroll_to_region(Region(0, self.cursor * height, 1, height), animate=False, force=True, immediate=True)

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        line = y + int(self.scroll_y)
        width = self.size.width
        place, part = divmod(line, self._row_height)
        if place >= self._count:
            dim = self.get_component_rich_style("note-list--dim")
            return Strip([Segment(fit(f" {self.hint}" if not line and self.hint else "", width), dim)])
        base = self.get_component_rich_style("note-list--cursor" if place == self.cursor else "note-list--row")
        row = self.row_at(place)
        if row is None:
            pieces: list[Piece] = [(fit("   …" if part == 0 else "", width), "note-list--dim")]
            if place // PAGE not in self._pages:
                self._want()
        elif part == 0:
            pieces = laid_out(row, width, marked=row.id in self.marked, year=self.year)
        else:
            pieces = [(fit(f"     {row.why}", width), "note-list--dim")]
        segments = [Segment(text, self._over(look, base)) for text, look in pieces if text]
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def _over(self, component: str, base: Style) -> Style:
        """The component's look on the row's own background."""
        return toned(base, self.get_component_rich_style(component, partial=True)) if component else base

    def _want(self) -> None:
        if self._count and not self._asked:
            self._asked = True
            self.post_message(self.RowsWanted())

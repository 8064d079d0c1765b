"""A list of lines of any length, of which only what is seen is drawn, and only what was near is held."""

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
    from collections.abc import Iterable, Sequence

    from rich.style import Style
    from textual import events

#: A piece of text and its look: "" for plain, or one of dim, strong, good, watch, bad, person, agent, machine.
Piece = tuple[str, str]

PAGE = 100
_PAGES_KEPT = 20
_LOOKS = ("dim", "strong", "good", "watch", "bad", "person", "agent", "machine")


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: `head` as it is, `title` cut where there is no room, `tail` at the right; `below` its second row.

    `key` is the id of the note it is about, "" when it is about none.
    """

    key: str
    title: str
    head: Sequence[Piece] = ()
    tail: Sequence[Piece] = ()
    below: str = ""
    look: str = ""


class LineList(ScrollView, can_focus=True):
    """Lines by their place from 0. Whoever owns it answers `Wanted` with `fill`, or shows all of them at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "go(0)", "First", show=False),
        Binding("end,G", "go(-1)", "Last", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-list--row",
        "line-list--cursor",
        *(f"line-list--{look}" for look in _LOOKS),
    }
    DEFAULT_CSS = """
    LineList { height: 1fr; overflow-x: hidden; }
    LineList .line-list--row { color: $foreground; background: $background; }
    LineList .line-list--cursor { background: $block-cursor-blurred-background; color: $foreground; }
    LineList:focus .line-list--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    LineList .line-list--dim { color: $muted; }
    LineList .line-list--strong { text-style: bold; }
    LineList .line-list--good { color: $success; }
    LineList .line-list--watch { color: $warning; }
    LineList .line-list--bad { color: $error; }
    LineList .line-list--person { color: $success; }
    LineList .line-list--agent { color: $primary; }
    LineList .line-list--machine { color: $accent; }
    """

    cursor: reactive[int] = reactive(0)

    @dataclass
    class Wanted(Message):
        """Lines from `start` on are on screen and not here. `generation` says for which contents of the list."""

        list: LineList
        start: int
        generation: int

    @dataclass
    class Moved(Message):
        """The cursor came to rest on another line."""

        list: LineList
        line: Line

    @dataclass
    class Opened(Message):
        """A click on the line under the cursor."""

        list: LineList
        line: Line

    def __init__(self, *, rows: int = 1, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows, self._empty = rows, empty
        self._count = self._generation = 0
        self._pages: OrderedDict[int, Sequence[Line]] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return self._count

    @property
    def line(self) -> Line | None:
        """The line under the cursor, when it is here."""
        return self.line_at(self.cursor)

    def line_at(self, place: int) -> Line | None:
        """The line at a place; None beyond the end or while it is on its way."""
        page = self._pages.get(place // PAGE, ())
        return page[place % PAGE] if 0 <= place < self._count and place % PAGE < len(page) else None

    def show(self, count: int, lines: Iterable[Line] = (), *, place: int = 0, empty: str | None = None) -> None:
        """Replace what is listed, all or the first of it, the cursor at `place`; `empty` stands where there is none."""
        held = list(lines)
        self._generation += 1
        self._count = count
        self._empty = self._empty if empty is None else empty
        self._pages = OrderedDict((start // PAGE, held[start : start + PAGE]) for start in range(0, len(held), PAGE))
        self._asked.clear()
        self.virtual_size = Size(0, count * self._rows)
        self.set_reactive(LineList.cursor, max(0, min(place, count - 1)))
        self._reveal()
        self.refresh()

    def fill(self, start: int, generation: int, lines: Sequence[Line]) -> None:
        """Take in a page that was asked for; one meant for earlier contents is dropped."""
        if generation != self._generation:
            return
        page = start // PAGE
        self._asked.discard(page)
        self._pages[page] = lines
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        self.refresh()
        if self.cursor // PAGE == page and self.line is not None:
            self.post_message(self.Moved(self, self.line))

    # -- moving ------------------------------------------------------------------------------------------------

    def watch_cursor(self) -> None:
        self._reveal()
        self.refresh()
        self._want(self.cursor // PAGE)
        if self.line is not None:
            self.post_message(self.Moved(self, self.line))

    def action_step(self, by: int) -> None:
        self._go(self.cursor + by)

    def action_leap(self, pages: int) -> None:
        self._go(self.cursor + pages * max(1, self.size.height // self._rows - 1))

    def action_go(self, place: int) -> None:
        self._go(place if place >= 0 else self._count - 1)

    def on_click(self, event: events.Click) -> None:
        place = (event.get_content_offset_capture(self).y + int(self.scroll_y)) // self._rows
        if place >= self._count:
            return
        if place == self.cursor and self.line is not None:
            self.post_message(self.Opened(self, self.line))
        self._go(place)

    def _go(self, place: int) -> None:
        if self._count:
            self.cursor = max(0, min(place, self._count - 1))

    def _reveal(self) -> None:
        self.scroll_to_region(Region(0, self.cursor * self._rows, 1, self._rows), animate=False, force=True)

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.get_component_rich_style("line-list--row")
        if self._count == 0:
            words = f" {self._empty}" if y == 0 else ""
            return Strip([Segment(fit(words, width), self._over("dim", base))])
        place, part = divmod(y + int(self.scroll_y), self._rows)
        if place >= self._count:
            return Strip.blank(width, base)
        if place == self.cursor:
            base = self.get_component_rich_style("line-list--cursor")
        line = self.line_at(place)
        if line is None:
            self._want(place // PAGE)
            return Strip([Segment(fit("  …", width), base)])
        if part:
            return Strip([Segment(fit(f"   {line.below}", width), self._over("dim", base))])
        head = [Segment(text, self._over(look, base)) for text, look in line.head]
        tail = [Segment(text, self._over(look, base)) for text, look in line.tail]
        room = width - sum(cell_len(each.text) for each in (*head, *tail))
        if room < min(12, cell_len(line.title)):
            tail = []
            room = width - sum(cell_len(each.text) for each in head)
        title = Segment(fit(line.title, max(1, room)), self._over(line.look, base))
        return Strip([*head, title, *tail]).adjust_cell_length(width, base)

    def _over(self, look: str, base: Style) -> Style:
        """The look's foreground on the row's own background."""
        return base + self.get_component_rich_style(f"line-list--{look}", partial=True) if look else base

    def _want(self, page: int) -> None:
        if self._count and page not in self._pages and page not in self._asked:
            self._asked.add(page)
            self.post_message(self.Wanted(self, page * PAGE, self._generation))

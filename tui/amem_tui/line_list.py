"""A list of lines of any length: one entry, its colours, and how it is fitted into the width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip

from amem_tui.cells import fit
from amem_tui.paged_list import PAGE, PagedList

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import Style

#: A piece of text and its look: "" for plain, or one of dim, strong, good, watch, bad, person, agent, machine.
Piece = tuple[str, str]

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


class LineList(PagedList[Line]):
    """Lines by their place from 0, all of them or the first pages; see `PagedList` for the others."""

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
        super().__init__(row_height=rows, id=id)
        self._empty = empty

    @property
    def line(self) -> Line | None:
        """The line under the cursor, when it is here."""
        return self.entry_at(self.cursor)

    def show(self, count: int, lines: Iterable[Line] = (), *, place: int = 0, empty: str | None = None) -> None:
        """Replace what is listed, all or the first of it, the cursor at `place`; `empty` stands where there is none."""
        held = list(lines)
        self._empty = self._empty if empty is None else empty
        self.replace(count, {start // PAGE: held[start : start + PAGE] for start in range(0, len(held), PAGE)})
        self.put_cursor(place)

    def came(self) -> None:
        if self.line is not None:
            self.post_message(self.Moved(self, self.line))

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if again and self.line is not None:
            self.post_message(self.Opened(self, self.line))

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.get_component_rich_style("line-list--row")
        if not self.count:
            words = f" {self._empty}" if y == 0 else ""
            return Strip([Segment(fit(words, width), self._over("dim", base))])
        place, part = self.at_line(y)
        if place >= self.count:
            return Strip.blank(width, base)
        if place == self.cursor:
            base = self.get_component_rich_style("line-list--cursor")
        line = self.entry_at(place)
        if line is None:
            self.want()
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

"""The notes as a list of any length: how a row is drawn, marked and opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from amem_tui.browse.row_line import below, laid_out
from amem_tui.browse.rows import Row
from amem_tui.cells import fit
from amem_tui.paged_list import PagedList
from amem_tui.toned import toned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.style import Style

    from amem_tui.cells import Piece

#: A click on so many cells at the left marks the row.
_MARGIN = 2


class NoteList(PagedList[Row | None]):
    """Rows by their place, 0 the first; None for a note that was destroyed since.

    `marked` are the ids that are ticked, `year` the one whose dates need not say it, `hint` stands in an empty list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
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
        "note-list--found",
        "note-list--superseded",
        "note-list--archived",
        "note-list--deleted",
    }

    year: reactive[int] = reactive(0)

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

    @property
    def row(self) -> Row | None:
        """The row under the cursor, when it is here."""
        return self.entry_at(self.cursor)

    def show(
        self,
        count: int,
        pages: Mapping[int, Sequence[Row | None]],
        *,
        place: int = 0,
        explained: bool = False,
        steady: bool = False,
    ) -> None:
        """Replace what is listed and put the cursor at `place`; `explained` gives each row two lines, as hits need.

        `steady` keeps the row under the cursor where it is on the screen, or the top where the list stands at its top.
        """
        self._row_height = 2 if explained else 1
        self.replace(count, pages)
        self.put_cursor(place, steady=steady)

    def tick(self, ids: set[str]) -> None:
        """Mark these notes and no others."""
        self.marked = ids
        self.refresh()

    def came(self) -> None:
        if self.row is not None:
            self.post_message(self.Moved(self.row))

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if x < _MARGIN and self.row is not None:
            self.post_message(self.Ticked(self.row))
        elif double and again:
            self.action_open()

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(self.Opened(self.row))

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        place, part = self.at_line(y)
        width = self.size.width
        if place >= self.count:
            dim = self.get_component_rich_style("note-list--dim")
            return Strip([Segment(fit(f" {self.hint}" if not y and self.hint else "", width), dim)])
        base = self.get_component_rich_style("note-list--cursor" if place == self.cursor else "note-list--row")
        row = self.entry_at(place)
        if row is None:
            pieces: list[Piece] = [(fit("   …" if part == 0 else "", width), "note-list--dim")]
            self.want()
        elif part == 0:
            pieces = laid_out(row, width, marked=row.id in self.marked, year=self.year)
        else:
            pieces = below(row, width)
        segments = [Segment(text, self._over(look, base)) for text, look in pieces if text]
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def _over(self, component: str, base: Style) -> Style:
        """The component's look on the row's own background."""
        return toned(base, self.get_component_rich_style(component, partial=True)) if component else base

"""A list of any length with a cursor: how keys and clicks move the cursor, and the cursor what is on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView

if TYPE_CHECKING:
    from textual import events


class CursorList(ScrollView, can_focus=True):
    """Entries by their place from 0, each `row_height` lines high.

    Whoever derives from it says how many there are (`count`), draws them (`render_line`), and hears where the cursor
    came to (`came`) and what was clicked on (`clicked`).
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("pageup", "leap(-1)", "Page up", show=False),
        Binding("pagedown", "leap(1)", "Page down", show=False),
        Binding("home", "go(0)", "First", show=False),
        Binding("end,G", "go(-1)", "Last", show=False),
    ]

    cursor: reactive[int] = reactive(0)

    def __init__(self, *, row_height: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self._row_height = row_height

    @property
    def count(self) -> int:
        """How many entries there are."""
        raise NotImplementedError

    def came(self) -> None:
        """The cursor was moved, and is in sight."""

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        """There was a click in this column of the entry under the cursor, which stood there before if `again`."""

    def resting(self, place: int, by: int) -> int:
        """Where the cursor comes to rest that was to go to `place`, upwards if `by` is negative."""
        return place

    def extent(self, place: int) -> Region:
        """What is to be in sight when the cursor stands there."""
        return Region(0, place * self._row_height, 1, self._row_height)

    @property
    def seen(self) -> range:
        """The places that are on screen."""
        top = self.scroll_offset.y
        last = (top + max(1, self.size.height) - 1) // self._row_height
        return range(top // self._row_height, min(self.count, last + 1))

    def at_line(self, y: int) -> tuple[int, int]:
        """The place of the entry on this line of the screen, and which of its lines that is."""
        return divmod(y + self.scroll_offset.y, self._row_height)

    # -- moving ------------------------------------------------------------------------------------------------

    def put_cursor(self, place: int, *, steady: bool = False) -> None:
        """Move the cursor without saying so.

        `steady` keeps the row under it where it is on the screen, or the top where the list stands at its top.
        """
        top, before = self.scroll_offset.y, self.cursor
        self.set_reactive(CursorList.cursor, self.resting(self._within(place), 1))
        if steady and top:
            top += (self.cursor - before) * self._row_height
            self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.reveal()

    def reveal(self) -> None:
        """Bring the cursor in sight."""
        self.scroll_to_region(self.extent(self.cursor), animate=False, force=True, immediate=True)
        self.refresh()

    def watch_cursor(self) -> None:
        self.reveal()
        self.came()

    def action_step(self, by: int) -> None:
        self.go(self.cursor + by, by)

    def action_leap(self, pages: int) -> None:
        self.go(self.cursor + pages * max(1, self.size.height // self._row_height - 1), pages)

    def action_go(self, place: int) -> None:
        self.go(place if place >= 0 else self.count - 1)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        place = -1 if at is None else self.at_line(at.y)[0]
        if at is None or not 0 <= place < self.count or self.resting(place, 1) != place:
            return
        again = place == self.cursor
        self.go(place)
        self.clicked(at.x, again=again, double=event.chain > 1)

    def go(self, place: int, by: int = 1) -> None:
        """Move the cursor to a place, or as near to it as there is one."""
        if self.count:
            self.cursor = self.resting(self._within(place), by)

    def _within(self, place: int) -> int:
        return max(0, min(place, self.count - 1))

    def _resized(self) -> None:
        """There are more entries now, or fewer, or higher ones."""
        self.virtual_size = Size(0, self.count * self._row_height)

"""A list of any length with a cursor, and text cut to terminal cells, of which a Chinese character takes two."""

from __future__ import annotations

from collections import OrderedDict
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.cache import FIFOCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amem.labels import cut
from amem_tui.keymap import cursor_keys
from amem_tui.themes import toned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual import events
    from textual.binding import BindingType

    from amem_tui.client import CollectionClient


#: Lines that are kept as they were drawn: what scrolls is drawn once.
_DRAWN = 512
#: A line that is begun late begins with a word where one does within so many characters.
_WORD = 12


def fit(text: str, width: int) -> str:
    """The text in exactly `width` cells: padded with blanks, or cut with an ellipsis."""
    return set_cell_size(cut(text, width), width)


def fitted(text: Content, width: int) -> tuple[Content, Content]:
    """The text in exactly `width` cells, padded or cut with an ellipsis, and what was cut, from a word on."""
    if text.cell_length <= width:
        return text.truncate(width, pad=True), Content()
    end = len(fit(text.plain, width).rstrip()) - 1
    space = text.plain.rfind(" ", max(0, end - _WORD), end + 1)
    return (text[:end] + "…").truncate(width, pad=True), text[space + 1 if space >= 0 else end :]


def begun_late(text: Content, width: int, *, show: str) -> Content:
    """The text in exactly `width` cells, begun late enough to see the first words of the style `show`."""
    plain, first = text.plain, min((span.start for span in text.spans if span.style == show), default=0)
    before = cell_len(plain[:first])
    # A third of the line is what came before: as much as it takes to read the word in its place.
    skip = min(before - width // 3, text.cell_length - width + 1) if before > width // 2 else 0
    if skip <= 0:
        return fitted(text, width)[0]
    start = next((n for n, cells in enumerate(accumulate(map(cell_len, plain)), 1) if cells >= skip), len(plain))
    space = plain.find(" ", start, min(first, start + _WORD))
    return "…" + fitted(text[max(start, space + 1) :], width - 1)[0]


class CursorList(ScrollView, can_focus=True):
    """Entries by their place from 0, each `row_height` lines high, whose lines a subclass draws (`content`)."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--cursor"}

    BINDINGS: ClassVar[list[BindingType]] = cursor_keys("step(-1)", "step(1)", "leap(-1)", "leap(1)", "go(0)", "go(-1)")
    BINDING_GROUP_TITLE = "In the list"
    cursor: var[int] = var(0)

    def __init__(self, *, row_height: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self._row_height = row_height
        self.entries: Sequence[Any] = ()
        self.empty = ""
        self._drawn = FIFOCache[tuple[int, int, int, bool], Strip](_DRAWN)

    @property
    def count(self) -> int:
        return len(self.entries)

    def entry_at(self, place: int) -> Any:
        """The entry at a place; None beyond the end, or while it is on its way."""
        return self.entries[place] if place < self.count else None

    @property
    def line(self) -> Any:
        return self.entry_at(self.cursor)

    def content(self, place: int, part: int, width: int) -> Content:
        """Line `part` (0 is the first) of an entry, in at most `width` cells."""
        raise NotImplementedError

    def came(self) -> None:
        """The cursor came to rest on another entry, or what it stands on was read."""

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
        last = self._at_line(max(1, self.size.height) - 1)[0]
        return range(self._at_line(0)[0], min(self.count, last + 1))

    def _at_line(self, y: int) -> tuple[int, int]:
        """The place of the entry on this line of the screen, and which of its lines that is."""
        return divmod(y + self.scroll_offset.y, self._row_height)

    def put_cursor(self, place: int, *, steady: bool = False) -> None:
        """Move the cursor without saying so. `steady` keeps its row where it is on the screen, but at the top."""
        top, before = self.scroll_offset.y, self.cursor
        self.set_reactive(CursorList.cursor, self.resting(self._within(place), 1))
        if steady and top:
            top += (self.cursor - before) * self._row_height
            self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.refresh()
        self.reveal()

    def reveal(self) -> None:
        self.scroll_to_region(self.extent(self.cursor), animate=False, force=True, immediate=True)

    def watch_cursor(self, before: int, now: int) -> None:
        for place in (before, now):
            self.refresh_lines(place * self._row_height, self._row_height)
        self.reveal()
        self.came()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw the list anew; with `regions`, as a step of the cursor or scrolling has, only what is new in sight."""
        if not regions:
            self._drawn.clear()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def action_step(self, by: int) -> None:
        self.go(self.cursor + by, by)

    def action_leap(self, pages: int) -> None:
        self.go(self.cursor + pages * max(1, self.size.height // self._row_height - 1), pages)

    def action_go(self, place: int) -> None:
        self.go(place if place >= 0 else self.count - 1)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        place = -1 if at is None else self._at_line(at.y)[0]
        if at is None or not 0 <= place < self.count or self.resting(place, 1) != place:
            return
        again = place == self.cursor
        self.go(place)
        self.clicked(at.x, again=again, double=event.chain > 1)

    def go(self, place: int, by: int = 1) -> None:
        if self.count:
            self.cursor = self.resting(self._within(place), by)

    def _within(self, place: int) -> int:
        return max(0, min(place, self.count - 1))

    def _resized(self) -> None:
        self.virtual_size = Size(0, self.count * self._row_height)

    def render_line(self, y: int) -> Strip:
        (place, part), width = self._at_line(y), self.scrollable_content_region.width
        drawn = place, part, width, place == self.cursor
        if (strip := self._drawn.get(drawn)) is None:
            strip = self._drawn[drawn] = self._draw(*drawn)
        return strip

    def _draw(self, place: int, part: int, width: int, chosen: bool) -> Strip:
        base = self.rich_style
        if place >= self.count:
            words = f" {self.empty}" if self.empty and not self.count and place == part == 0 else ""
            row = Content.styled(fit(words, width), "$muted")
        else:
            base = self.get_component_rich_style("list--cursor") if chosen else base
            row = self.content(place, part, width)
        pieces = row.render(end="", parse_style=self._get_style)
        # The looks on the row's own background, so that they can be read there.
        segments = [Segment(text, toned(base, look.rich_style)) for text, look in pieces]
        return Strip(segments).adjust_cell_length(width, base).simplify()


#: Rows that are read at a time, above and below one that comes into sight; so many from it none may be missing, or a
#: page down would find nothing to show; and how many are kept.
_AHEAD, _NEAR, _KEPT = 100, 50, 2_000


class ReadList(CursorList):
    """A list whose rows are read when they come into sight; those that were read last are kept.

    A subclass says by what the row at a place is known (`key`, None for what needs no reading) and reads rows (`read`).
    """

    class Moved(Message):
        """The cursor came to rest on another entry."""

    class Opened(Message):
        """The entry under the cursor is to be opened."""

    def __init__(self, client: CollectionClient, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._client = client
        self.rows: OrderedDict[int, Any] = OrderedDict()
        self._asked: set[int] = set()

    def came(self) -> None:
        if self.line is not None:
            self.post_message(self.Moved())

    def action_open(self) -> None:
        if self.line is not None:
            self.post_message(self.Opened())

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if again:
            self.action_open()

    def key(self, place: int) -> int | None:
        return place

    async def read(self, keys: Sequence[int]) -> Mapping[int, Any]:
        raise NotImplementedError

    def row_at(self, place: int) -> Any:
        """What was read for the line at a place, else None; what is missing there or near it is asked for."""
        key = self.key(place)
        if self._missing([place, self._within(place - _NEAR), self._within(place + _NEAR)]):
            missing = self._missing(range(self._within(place - _AHEAD), self._within(place + _AHEAD) + 1))
            self._asked.update(missing)
            self.run_worker(self._fetch(missing), group="rows")
        return None if key is None else self.rows.get(key)

    def _missing(self, places: Iterable[int]) -> list[int]:
        return [key for key in map(self.key, places) if key is not None and key not in self._asked]

    async def _fetch(self, keys: Sequence[int]) -> None:
        self.rows.update(await self.read(keys))
        while len(self.rows) > _KEPT:
            self._asked.discard(self.rows.popitem(last=False)[0])
        self._drawn.clear()
        if any(self.key(place) in keys for place in self.seen):
            self.refresh()
        if self.key(self.cursor) in keys:
            self.came()

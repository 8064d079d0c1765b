"""A list of any length that holds the pages around what is seen, and asks for the others as they come up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.geometry import Region, clamp
from textual.message import Message

from amem_tui.cursor_list import CursorList

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.timer import Timer

Entry = TypeVar("Entry")

PAGE = 100
_PAGES_KEPT = 16
#: Seconds for which what is on screen stands still, until the rows that the cursor went to are here: reading them takes
#: less as a rule, and dots that are gone at once would be one more picture to draw.
_BLINK = 0.04


@dataclass(frozen=True, slots=True)
class Missing:
    """A page that is to be read, and whether it is `seen`; `generation` says for which contents of the list."""

    page: int
    seen: bool
    generation: int

    @property
    def start(self) -> int:
        """The place of its first entry."""
        return self.page * PAGE


class PagedList(CursorList, Generic[Entry]):
    """Its owner answers `Wanted` with `fill` for as long as something is `missing`, and then with `rest`."""

    @dataclass
    class Wanted(Message):
        """Entries that are on screen, or next to it, are not here."""

        list: PagedList[Any]

    def __init__(self, *, row_height: int = 1, id: str | None = None) -> None:
        super().__init__(row_height=row_height, id=id)
        self._count = self._generation = 0
        self._pages: OrderedDict[int, Sequence[Entry]] = OrderedDict()
        self._asked = False
        #: Runs while the cursor stands where nothing is here yet, and the screen still shows where it stood before.
        self._blink: Timer | None = None

    @property
    def count(self) -> int:
        """How many entries there are in all."""
        return self._count

    @property
    def seen(self) -> range:
        """The places that are on screen, or will be in a moment."""
        return super().seen if self._blink is None else self._sight

    def entry_at(self, place: int) -> Entry | None:
        """The entry at a place; None beyond the end or while its page is on its way."""
        entries = self._pages.get(place // PAGE, ())
        return entries[place % PAGE] if 0 <= place < self._count and place % PAGE < len(entries) else None

    def replace(self, count: int, pages: Mapping[int, Sequence[Entry]]) -> None:
        """List something else, of which these pages are here."""
        self._generation += 1
        self._count, self._pages = count, OrderedDict(pages)
        self._resized()

    def missing(self) -> Missing | None:
        """The page that is wanted most; None when nothing is. What is seen comes first, then what is next to it."""
        here = self._pages_of(self.seen)
        for page in (self.cursor // PAGE, *here, here.stop, here.start - 1):
            if page not in self._pages and 0 <= page * PAGE < self._count:
                return Missing(page, page in here, self._generation)
        return None

    def fill(self, wanted: Missing, entries: Sequence[Entry]) -> None:
        """Take in a page; one meant for earlier contents is dropped."""
        if wanted.generation != self._generation:
            return
        self._pages[wanted.page] = entries
        self._pages.move_to_end(wanted.page)
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        if self._blink is None:
            self.refresh()
        elif self._ready:
            self.reveal()
        if self.cursor // PAGE == wanted.page:
            self.came()

    def rest(self) -> None:
        """Nothing more is read; the next move asks again for what is missing by then."""
        self._asked = False

    def want(self) -> None:
        """Ask for what is missing."""
        if not self._asked and self.missing() is not None:
            self._asked = True
            self.post_message(self.Wanted(self))

    # -- moving ------------------------------------------------------------------------------------------------

    def watch_cursor(self) -> None:
        if self._ready:
            self.reveal()
        elif self._blink is None:
            self._blink = self.set_timer(_BLINK, self.reveal)
        self.want()
        self.came()

    def reveal(self) -> None:
        if self._blink is not None:
            self._blink.stop()
            self._blink = None
        super().reveal()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.want()

    @property
    def _sight(self) -> range:
        """The places that are on screen when the cursor is in sight."""
        here = self.scrollable_content_region.at_offset(self.scroll_offset)
        top = here.y + Region.get_scroll_to_visible(here, self.extent(self.cursor)).y
        return self._places(clamp(top, 0, self.max_scroll_y))

    @property
    def _ready(self) -> bool:
        """Whether all is here that is on screen when the cursor is in sight."""
        return all(page in self._pages for page in self._pages_of(self._sight))

    def _pages_of(self, places: range) -> range:
        return range(places.start // PAGE, max(places.start, places.stop - 1) // PAGE + 1)

"""A list of any length that holds the pages around what is seen, and asks for the others as they come up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from amem_tui.cursor_list import CursorList

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Entry = TypeVar("Entry")

PAGE = 100
_PAGES_KEPT = 16


@dataclass(frozen=True, slots=True)
class Missing:
    """A page that is to be read; `generation` says for which contents of the list."""

    page: int
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

    @property
    def count(self) -> int:
        """How many entries there are in all."""
        return self._count

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
        seen = self.seen
        first, last = seen.start // PAGE, max(seen.start, seen.stop - 1) // PAGE
        for page in (self.cursor // PAGE, *range(first, last + 1), last + 1, first - 1):
            if page not in self._pages and 0 <= page * PAGE < self._count:
                return Missing(page, self._generation)
        return None

    def fill(self, wanted: Missing, entries: Sequence[Entry]) -> None:
        """Take in a page; one meant for earlier contents is dropped."""
        if wanted.generation != self._generation:
            return
        self._pages[wanted.page] = entries
        self._pages.move_to_end(wanted.page)
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        self.refresh()
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

    def watch_cursor(self) -> None:
        super().watch_cursor()
        self.want()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.want()

"""What the list of the start screen shows, and how it is read in a thread."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.content import Content

from amem.query import Filter, Query
from amem.retrieval.confidence import Support, best_support
from amem.storage.note_lists import ORDERS, Order, Shelf
from amem_tui.browse.news import News, NewsTeller, how_to_begin, read_news
from amem_tui.browse.note_list import NoteList, Row, row_of
from amem_tui.browse.open_note import OpenNoteScreen
from amem_tui.browse.sidebar import Conditions, Facets, Sidebar, read_facets
from amem_tui.formatting import one_line, plural
from amem_tui.lists import PAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from textual.timer import Timer

    from amem.memory_system import AgenticMemorySystem
    from amem.retrieval.hit import Hit
    from amem.storage.note_lists import Card
    from amem_tui.client import CollectionClient


# What the list is to show, and how it is read: notes in an order, those that hold what is typed, or hits.

HITS = 50
#: A search always has its most hits, however little they have to do with what was asked. The score of one that was
#: found by its words, or clearly by its meaning, stays well above this share of the best one's; what is merely the
#: next in meaning falls below it. So many are shown in any case: who asked badly sees what there is.
WEAK, LEAST = 0.15, 3
_RELEVANCE = "relevance"
_HIT_ORDERS = (_RELEVANCE, "time", "recorded", "strength", "recalls")
_ORDER_WORDS = {
    "time": "newest first",
    "recorded": "last written first",
    "strength": "strongest first",
    "recalls": "most recalled first",
    "importance": "most important first",
    _RELEVANCE: "best first",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read: how many rows there are, the pages around `place`, and the shelf that holds the others.

    `total` counts all active notes. `kept` says that `place` is where the note that was to be kept stands now.
    `weaker` hits were left out; `certain` tells whether any of them surely answers.
    """

    count: int
    pages: Mapping[int, Sequence[Row | None]]
    place: int
    kept: bool
    total: int
    shelf: Shelf | None = None
    weaker: int = 0
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Listing:
    """`question` lists its best hits, `starting` the notes that hold these words, each perhaps unfinished.

    `weak` lists those hits too that have little to do with the question.
    """

    conditions: Conditions = field(default_factory=Conditions)
    question: str = ""
    starting: str = ""
    weak: bool = False
    order: Order = "time"
    hit_order: str = _RELEVANCE

    @property
    def heading(self) -> str:
        """What stands above the list."""
        if self.question:
            what = f"Search “{one_line(self.question, 40)}”"
        else:
            what = f"Filter “{one_line(self.starting, 40)}”" if self.starting else "Notes"
        return f"{what} · {self.conditions.words}" if self.conditions else what

    @property
    def ordered(self) -> str:
        """The order, in words."""
        return _ORDER_WORDS[self.hit_order if self.question else self.order]

    @property
    def asks(self) -> bool:
        """Whether words decide what is listed."""
        return bool(self.question or self.starting)

    @property
    def narrowed(self) -> bool:
        """Whether anything but the order was asked for."""
        return bool(self.conditions) or self.asks

    def counted(self, contents: Contents) -> str:
        """How many there are, in words."""
        count, total = contents.count, contents.total
        if self.question:
            left = f", {plural(contents.weaker, 'weaker one')} left out" if contents.weaker else ""
            unsure = "" if contents.certain or not count else "; nothing certain"
            return f"{plural(count, 'hit')}{left}{unsure}"
        return f"{count:,} of {plural(total, 'note')}" if self.narrowed else plural(count, "note")

    def next_order(self) -> Listing:
        """The same in the next order."""
        if self.question:
            return replace(self, hit_order=_HIT_ORDERS[(_HIT_ORDERS.index(self.hit_order) + 1) % len(_HIT_ORDERS)])
        return replace(self, order=ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)])

    def read(self, memory: AgenticMemorySystem, zone: tzinfo, place: int, keep: str | None) -> Contents:
        """The list with its cursor on the note with the id `keep`, or at `place` where that is not listed."""
        total = memory.count(Filter())
        if self.question:
            rows, weaker, certain = self._hits(memory, zone)
            found = next((at for at, row in enumerate(rows) if row.id == keep), None)
            place = _within(place, len(rows), found)
            return Contents(len(rows), {0: rows}, place, found is not None, total, weaker=weaker, certain=certain)
        shelf = memory.shelf(self.conditions.filter(zone), starting=self.starting, order=self.order)
        found = None if keep is None else memory.place(shelf, keep)
        place = _within(place, len(shelf), found)
        # Only what a screen can show at once, so that the first sight of a long list does not wait for more.
        near = sorted({max(0, place - PAGE // 2) // PAGE, place // PAGE, (place + PAGE // 2) // PAGE})
        pages = {page: page_of(memory, shelf, zone, page) for page in near if page * PAGE < len(shelf)}
        return Contents(len(shelf), pages, place, found is not None, total, shelf)

    def _hits(self, memory: AgenticMemorySystem, zone: tzinfo) -> tuple[list[Row], int, bool]:
        """The hits as rows, how many weak ones are not among them, and whether any surely answers."""
        asked = Query(self.question, HITS, self.conditions.filter(zone), touch=False, passages=True)
        every = memory.ask(asked)
        hits = every if self.weak else [hit for n, hit in enumerate(every) if n < LEAST or _counts(hit, every[0])]
        cards = memory.cards_of([hit.id for hit in hits])
        found = [(cards[hit.id], hit) for hit in hits if hit.id in cards]
        if self.hit_order != _RELEVANCE:
            found.sort(key=lambda pair: _rank(pair[0], self.hit_order), reverse=True)
        certain = best_support(every) is Support.STRONG
        return [row_of(card, zone, hit) for card, hit in found], len(every) - len(hits), certain


def page_of(memory: AgenticMemorySystem, shelf: Shelf, zone: tzinfo, page: int) -> list[Row | None]:
    """One page of a shelf; None in the place of a note that was destroyed since."""
    start, stop = page * PAGE, min(len(shelf), (page + 1) * PAGE)
    held = {card.key: card for card in memory.cards(shelf, start, stop)}
    found = (held.get(key) for key in shelf.keys[start:stop].tolist())
    return [None if card is None else row_of(card, zone) for card in found]


def ids_of(memory: AgenticMemorySystem, shelf: Shelf, limit: int) -> list[str]:
    """The ids of the first notes of a shelf."""
    return [card.id for card in memory.cards(shelf, 0, limit)]


def _counts(hit: Hit, best: Hit) -> bool:
    """Whether a hit has enough to do with the question, measured by the best one."""
    return hit.score >= WEAK * best.score


def _within(place: int, count: int, found: int | None) -> int:
    return max(0, min(place, count - 1)) if found is None else found


def _rank(card: Card, order: str) -> float:
    if order == "time":
        return card.at.timestamp()
    return float({"recorded": card.key, "strength": card.strength, "recalls": card.recalls}[order])


# The list of the start screen: read in a thread, the newest wish alone, and never moved under one's eyes.

#: Seconds for which keys wait for a list: as long as one waits for an answer without looking elsewhere.
_PATIENCE = 1.5
#: Seconds between two looks at what there is to narrow by, while others write.
_PAUSE = 1.0
#: Seconds for which what is typed must rest before it is counted what it leaves to narrow by.
_LOOK = 0.25


@dataclass(frozen=True, slots=True)
class _ListRequest:
    """A list to be read. `fresh` ones were asked for by the person, who then reads the note at `place`, or `keep`."""

    listing: Listing
    fresh: bool
    place: int = 0
    keep: str | None = None


class ListScreen(OpenNoteScreen):
    """Lists what `_start_over` asks for; reads it anew whenever somebody wrote."""

    _sidebar = getters.query_one(Sidebar)

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._listing = Listing()
        self._shelf: Shelf | None = None
        self._weaker = 0
        #: Where the cursor stood, and on which note, before words decided what is listed.
        self._before: tuple[int, str | None] = (0, None)
        #: Until when keys wait for the list that was asked for.
        self._awaited = 0.0
        self._seen: int | None = None
        self._news = NewsTeller(self._client.say, self.set_timer)
        self._facets = Facets()
        #: What the facets were counted besides: conditions, and words that notes hold.
        self._counted: tuple[Conditions, str] = (Conditions(), "")
        self._look_later: Timer | None = None
        self._asked: _ListRequest | None = None
        self._to_reveal: str | None = None
        self._reading = self._looking = self._look_again = False

    def _question(self) -> Query | str:
        if not self._listing.question:
            return ""
        return Query(self._listing.question, HITS, self._listing.conditions.filter(self._client.zone), touch=False)

    def load(self) -> None:
        if self._asked is None:  # one that is asked for already will show what is there then
            self._ask(_ListRequest(self._listing, fresh=False))
        self._look_around()

    def _start_over(self, listing: Listing, *, keep: str | None = None) -> None:
        """List something else, from its top or from the note with the id `keep`.

        Where words decide no more what is listed, and that note is not listed, from where the cursor stood before.
        """
        place = 0
        if not self._listing.asks and self._wanted is not None:
            self._before = self._notes.cursor, self._wanted
        elif self._listing.asks and not listing.asks:
            place, stood = self._before
            keep = keep or stood
        self._listing = listing
        self._awaited = monotonic() + _PATIENCE
        self._ask(_ListRequest(listing, fresh=True, place=place, keep=keep))

    @property
    def settling(self) -> bool:
        """Whether a list was asked for just now, whose note the next key is meant for."""
        return monotonic() < self._awaited

    def _ask(self, asked: _ListRequest) -> None:
        """Read this list next; what was asked for before and not begun is not wanted any more."""
        self._asked = asked
        if not self._reading:
            self._reading = True
            self._read()

    @work(group="list")
    async def _read(self) -> None:
        try:
            while (asked := self._asked) is not None:
                self._asked = None
                if asked.listing.question and asked.fresh:
                    self._notes.border_title = "Searching…"
                if not asked.fresh:  # where the cursor stands now, not where it stood when this was asked for
                    row = self._notes.row
                    keep = self._to_reveal or (None if row is None else row.id)
                    asked = replace(asked, listing=self._listing, place=self._notes.cursor, keep=keep)
                with self._client.refusals(self._refused):
                    read = partial(_read, self.memory, self._client.zone, asked, self._seen)
                    contents, news = await self.ask(read)
                    if not asked.fresh:  # the cursor may have gone on meanwhile
                        contents = replace(contents, place=contents.place + self._notes.cursor - asked.place)
                    self._show(asked, contents, news)
        finally:
            self._reading = False
            self._awaited = 0.0

    def _show(self, asked: _ListRequest, contents: Contents, news: News) -> None:
        listing, notes = asked.listing, self._notes
        self._shelf = contents.shelf
        self._to_reveal = None
        notes.show(
            contents.count,
            contents.pages,
            place=contents.place,
            explained=bool(listing.question),
            steady=not asked.fresh,
        )
        notes.empty = "" if contents.count else self._hint().partition("\n")[0]
        notes.border_title = Content(listing.heading)
        self._weaker = contents.weaker
        self.bar.tell(f"{listing.counted(contents)} ")
        self._subtitle()
        row = notes.row
        left = self._wanted in self._leaving and (row is None or row.id != self._wanted)
        if asked.fresh or left or self._wanted is None:
            self._trail.clear()
            self._leaving.clear()
            if row is not None:
                self._want(row.id)
            else:
                self._want(None)
                self._pane.show_hint(self._hint())
        else:
            self._open()
        visible = {row.id for place in notes.seen if (row := notes.entry_at(place)) is not None}
        self._news.hear(news, but=visible | self._own)
        if (listing.conditions, listing.starting) != self._counted:
            if self._look_later is not None:
                self._look_later.stop()
            self._look_later = self.set_timer(_LOOK, self._look_around) if listing.starting else None
            if self._look_later is None:
                self._look_around()
        self._seen = news.newest
        self.refresh_bindings()

    def _hint(self) -> str:
        """What to do where nothing is listed."""
        if not self._listing.narrowed:
            return how_to_begin(self.memory.settings, self._facets.collections)
        return _widening(self._listing)

    def _refused(self, words: str) -> None:
        self._notes.border_title = Content(self._listing.heading)
        self._pane.show_hint(words)

    def _subtitle(self) -> None:
        marked = f"{len(self._marked()):,} marked · " if self._marked() else ""
        weaker = f" · {self._weaker} weaker: / enter shows them" if self._weaker else ""
        self._notes.border_subtitle = Content(f"{marked}{self._listing.ordered}{weaker}")

    @on(NoteList.Wanted)
    @work(group="page")
    async def _fetch(self) -> None:
        """Fetch what is on screen now until nothing is missing; what was passed on the way there is left out."""
        try:
            with self._client.refusals():
                while self._shelf is not None and (wanted := self._notes.missing()) is not None:
                    read = partial(page_of, self.memory, self._shelf, self._client.zone, wanted.page)
                    before = self._notes.row
                    self._notes.fill(wanted, await self.ask(read))
                    if before is None:
                        self._follow_cursor()
        finally:
            self._notes.rest()

    def _reveal(self, id: str) -> None:
        row = self._notes.row
        if row is None or row.id != id:
            self._to_reveal = id
            self.reload()

    def _look_around(self) -> None:
        self._look_again = True
        if not self._looking:
            self._looking = True
            self._read_facets()

    @work(group="facets")
    async def _read_facets(self) -> None:
        try:
            while self._look_again:
                self._look_again = False
                counted = self._counted = self._listing.conditions, self._listing.starting
                conditions, starting = counted
                wanted = conditions.filter(self._client.zone)
                with self._client.refusals():
                    read = partial(read_facets, self.memory, self._facets.collections, wanted, starting)
                    self._facets = await self.ask(read)
                    self._show_facets()
                if self._look_again and counted == (self._listing.conditions, self._listing.starting):
                    await asyncio.sleep(_PAUSE)  # others write; what is chosen is counted at once
        finally:
            self._looking = False

    def _show_facets(self) -> None:
        self._sidebar.show(self._facets)
        if self._wanted is None and not self._listing.narrowed and self._shelf is not None and not self._notes.count:
            self._pane.show_hint(self._hint())  # other collections are known by now
        if self._counted == (Conditions(), ""):
            self._notes.year = int(max(self._facets.months, default="0")[:4])


def _read(memory: AgenticMemorySystem, zone: tzinfo, asked: _ListRequest, seen: int | None) -> tuple[Contents, News]:
    """The list, and what others wrote since the operation `seen`."""
    news = read_news(memory, seen)
    return asked.listing.read(memory, zone, asked.place, asked.keep), news


def _widening(listing: Listing) -> str:
    """What to do where nothing was found."""
    if listing.question or listing.starting:
        last = "the search" if listing.question else "the filter"
    else:
        last = listing.conditions.chosen[-1].words
    other = "\n/ asks for it by meaning" if listing.starting else ""
    return f"Nothing was found.\n\nescape takes away {last}{other}\ns, then All notes, shows everything"

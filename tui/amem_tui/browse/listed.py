"""The list of the start screen: read in a thread, the newest wish alone, and never moved under one's eyes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content

from amem.query import Query
from amem_tui.browse.beginning import how_to_begin
from amem_tui.browse.conditions import Conditions
from amem_tui.browse.facets import Facets, read_facets
from amem_tui.browse.headlines import Headlines
from amem_tui.browse.listing import HITS, Contents, Listing, page_of
from amem_tui.browse.news import News, read_news
from amem_tui.browse.note_list import NoteList
from amem_tui.browse.opening import Opening
from amem_tui.browse.sidebar import Sidebar

if TYPE_CHECKING:
    from datetime import tzinfo

    from textual.timer import Timer

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.cards import Shelf
    from amem_tui.desk import Desk

#: Seconds for which keys wait for a list: as long as one waits for an answer without looking elsewhere.
_PATIENCE = 1.5
#: Seconds between two looks at what there is to narrow by, while others write.
_PAUSE = 1.0
#: Seconds for which what is typed must rest before it is counted what it leaves to narrow by.
_LOOK = 0.25


@dataclass(frozen=True, slots=True)
class _Asked:
    """A list to be read. `fresh` ones were asked for by the person, who then reads the note at `place`, or `keep`."""

    listing: Listing
    fresh: bool
    place: int = 0
    keep: str | None = None


class Listed(Opening):
    """Lists what `_start_over` asks for; reads it anew whenever somebody wrote."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._listing = Listing()
        self._shelf: Shelf | None = None
        self._weaker = 0
        #: Where the cursor stood, and on which note, before words decided what is listed.
        self._before: tuple[int, str | None] = (0, None)
        #: Until when keys wait for the list that was asked for.
        self._awaited = 0.0
        self._seen: int | None = None
        self._headlines = Headlines(self._desk.say, self.set_timer)
        self._facets = Facets()
        #: What the facets were counted besides: conditions, and words that notes hold.
        self._counted: tuple[Conditions, str] = (Conditions(), "")
        self._look_later: Timer | None = None
        self._asked: _Asked | None = None
        self._to_reveal: str | None = None
        self._reading = self._looking = self._look_again = False

    @property
    def _sidebar(self) -> Sidebar:
        return self.query_one(Sidebar)

    def _question(self) -> Query | str:
        if not self._listing.question:
            return ""
        return Query(self._listing.question, HITS, self._listing.conditions.filter(self._desk.zone), touch=False)

    def reload(self) -> None:
        if self._asked is None:  # one that is asked for already will show what is there then
            self._ask(_Asked(self._listing, fresh=False))
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
        self._ask(_Asked(listing, fresh=True, place=place, keep=keep))

    @property
    def settling(self) -> bool:
        """Whether a list was asked for just now, whose note the next key is meant for."""
        return monotonic() < self._awaited

    def _ask(self, asked: _Asked) -> None:
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
                with self._desk.refusals(self._refused):
                    read = partial(_read, self.memory, self._desk.zone, asked, self._seen)
                    contents, news = await self.ask(read)
                    if not asked.fresh:  # the cursor may have gone on meanwhile
                        contents = replace(contents, place=contents.place + self._notes.cursor - asked.place)
                    self._show(asked, contents, news)
        finally:
            self._reading = False
            self._awaited = 0.0

    def _show(self, asked: _Asked, contents: Contents, news: News) -> None:
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
        notes.hint = "" if contents.count else self._hint().partition("\n")[0]
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
        self._headlines.hear(news, but=visible | self._own)
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
            with self._desk.refusals():
                while self._shelf is not None and (wanted := self._notes.missing()) is not None:
                    read = partial(page_of, self.memory, self._shelf, self._desk.zone, wanted.page)
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

    # -- what to narrow by -------------------------------------------------------------------------------------

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
                wanted = conditions.filter(self._desk.zone)
                with self._desk.refusals():
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


def _read(memory: AgenticMemorySystem, zone: tzinfo, asked: _Asked, seen: int | None) -> tuple[Contents, News]:
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

"""The start screen: what to narrow by, the list of notes or of hits, and the open note."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import events, getters, on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input

from amem.interop.exporting import export_chosen
from amem.labels import counted
from amem_tui import changes
from amem_tui.browse.note_list import LEGEND, Listing, NewsToasts, NoteList, how_to_go_on, read_news
from amem_tui.browse.note_pane import LinkPicker, NotePane
from amem_tui.browse.sidebar import Conditions, Facets, SearchLine, Sidebar, read_facets
from amem_tui.client import Refresher
from amem_tui.dialogs import Question, path_prompt
from amem_tui.formatting import one_line, titles_of
from amem_tui.keymap import ROOM_KEYS
from amem_tui.rooms import REST, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.app import ComposeResult

    from amem.note import MemoryNote
    from amem.query import Query
    from amem_tui.browse.note_list import Contents
    from amem_tui.client import CollectionClient


#: What needs a note, open or marked.
_NEEDS_A_NOTE = ("edit", "delete", "pin", "copy_note", "copy_id", "export")
#: So many notes are named before they are deleted.
_NAMED = 5


#: So many notes are marked at once.
_MOST = 1000
#: Seconds for which the note under the cursor is left unread while one types: reading it slows that down.
_TYPING_REST = 0.15
#: Seconds for which keys wait for a list: as long as one waits for an answer without looking elsewhere.
PATIENCE = 1.5
#: Seconds for which what is typed must rest before it is counted what it leaves to narrow by.
_LOOK = 0.25
#: Below so many cells, or lines, there is room for the list or for the note, not for both.
_SMALL = (60, 18)
_LETTERS = frozenset(binding.action.partition("(")[0] for binding in ROOM_KEYS["browse"]) - {"back"}


class BrowseScreen(NotesScreen):
    """What is listed, where the cursor stands, and the open note; the list is never moved under one's eyes."""

    _line = getters.query_one(SearchLine)
    _sidebar = getters.query_one(Sidebar)
    _notes = getters.query_one(NoteList)
    _pane = getters.query_one(NotePane)
    ROOM = "browse"
    AUTO_FOCUS = "#notes"
    HELP = LEGEND

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self.opening = True
        self._marked: dict[str, None] = {}
        self._listing = Listing()
        #: Where the cursor stood, and on which note, before words decided what is listed.
        self._before: tuple[int, str | None] = (0, None)
        #: Until when keys wait for the list that was asked for; 0 once it is there.
        self._awaited = 0.0
        #: The place, and the note, to begin at in a list that the person asked for and that is not being read yet.
        self._begin_at: tuple[int, str | None] | None = None
        self._to_reveal: str | None = None
        self._reader = Refresher(self._read, partial(self.run_worker, group="list"))
        #: The newest operation that was seen, and the notes that the person opened by other ways than the list.
        self._seen: int | None = None
        self._own: set[str] = set()
        self._news = NewsToasts(self.client.say, self.set_timer)
        self._facets = Facets()
        #: What the facets were counted besides: conditions, and words that notes hold.
        self._counted: tuple[Conditions, str] = (Conditions(), "")
        self._counting = Refresher(self._count, partial(self.run_worker, group="facets"))

    def furnish(self) -> ComposeResult:
        yield SearchLine(id="searching")
        with Horizontal(id="panes"):
            yield Sidebar(id="sidebar")
            yield NoteList(self.client, id="notes")
            yield NotePane(self.client, self._told_of, lambda: _TYPING_REST if self._line.typing else REST, id="note")

    def on_mount(self) -> None:
        self.watch(self._notes, "cursor", self._follow_cursor, init=False)
        self._notes.border_title = Content(self._listing.heading)

    @on(events.Resize)
    def _fit(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _SMALL[0] or event.size.height < _SMALL[1], "-small")

    # The list: what is wanted, read, and shown.

    def load(self) -> None:
        self._reader.want(now=True)
        self._want_counts()

    @property
    def settling(self) -> bool:
        """Whether a list was asked for just now, whose note the next key is meant for; typing needs no list."""
        return monotonic() < self._awaited and not self._line.typing

    def _start_over(self, listing: Listing, *, place: int = 0, keep: str | None = None) -> None:
        """List something else, from `place`, from the note with the id `keep`, or from where the cursor was before."""
        if not self._listing.asks and self._pane.wanted is not None:
            self._before = self._notes.cursor, self._pane.wanted
        elif self._listing.asks and not listing.asks:
            place, stood = self._before
            keep = keep or stood
        self._listing = listing
        self._awaited = monotonic() + PATIENCE
        self._begin_at = place, keep
        self._reader.want(now=True)

    async def _read(self) -> None:
        listing, begin_at, self._begin_at = self._listing, self._begin_at, None
        fresh, row = begin_at is not None, self._notes.line
        if listing.question and fresh:
            self._notes.border_title = "Searching…"
        place, keep = begin_at or (self._notes.cursor, self._to_reveal or (None if row is None else row.id))
        try:
            with self.client.refusals(self._refused):
                newest, made = await self.ask(read_news, self.memory, self._seen)
                contents = await self.ask(listing.read, self.memory, self.client.zone, place, keep)
                if not fresh:  # the cursor may have gone on meanwhile
                    contents = replace(contents, place=contents.place + self._notes.cursor - place)
                self._show(listing, contents, fresh=fresh)
                visible = {row.id for at in self._notes.seen if (row := self._notes.entry_at(at)) is not None}
                self._news.add(made, but=visible | self._own)
                self._seen, self.opening = newest, False
                self.refresh_bindings()
        finally:
            if self._begin_at is None:
                self._awaited = 0.0

    def _refused(self, words: str) -> None:
        self.opening = False
        self._notes.border_title = Content(self._listing.heading)
        self._pane.show_hint(words)

    def _show(self, listing: Listing, contents: Contents, *, fresh: bool) -> None:
        """Show a list, and of one that was asked for open the note under the cursor; of another the open one stays."""
        notes, pane = self._notes, self._pane
        self._to_reveal = None
        notes.show(contents, explained=bool(listing.question), steady=not fresh)
        notes.empty = "" if contents.count else self._hint().partition("\n")[0]
        notes.border_title = Content(listing.heading)
        self.bar.tell(f"{listing.counted(contents)} ")
        self._subtitle()
        if not fresh and pane.wanted is not None:
            pane.read_again()
        else:
            pane.start(None if notes.line is None else notes.line.id)
            if notes.line is None:
                pane.show_hint(self._hint())
        if (listing.conditions, listing.starting) != self._counted:
            self._want_counts()

    def _hint(self) -> str:
        return how_to_go_on(self._listing, self.memory.settings, self._facets.collections)

    def _subtitle(self) -> None:
        marked = f"{len(self._marked):,} marked · " if self._marked else ""
        weaker = self._notes.contents.weaker
        more = f" · {weaker} weaker: / enter shows them" if weaker else ""
        self._notes.border_subtitle = Content(f"{marked}{self._listing.ordered}{more}")

    def action_order(self) -> None:
        self._start_over(self._listing.next_order())

    @work(group="mark", exclusive=True)
    async def action_mark_all(self) -> None:
        if (shelf := self._notes.contents.shelf) is not None:
            ids = [card.id for card in await self.ask(self.memory.cards, shelf, 0, _MOST)]
        else:
            rows = (self._notes.entry_at(place) for place in range(self._notes.count))
            ids = [row.id for row in rows if row is not None]
        every = all(id in self._marked for id in ids)
        self._mark(ids, not every)
        if not every and self._notes.count > len(ids):
            self.client.say(f"Marked the first {len(ids):,} of {self._notes.count:,}")

    # The open note.

    def _told_of(self, id: str) -> tuple[str, Query | str]:
        row = self._notes.line
        found = row.why if row is not None and row.id == id else ""
        return found, self._listing.query(self.client.zone) if self._listing.question else ""

    def turn_to(self, id: str) -> None:
        self._own.add(id)
        self._pane.start(id)
        row = self._notes.line
        if row is None or row.id != id:
            self._to_reveal = id
            self.reload()
        if self.has_class("-small"):  # where there is no room for the list beside it
            self._step_inside()

    def _follow_cursor(self) -> None:
        """Whoever asks in the same moment is told of the note under the cursor, which is read a little later."""
        if self._notes.line is not None:
            self.client.note = self._notes.line.id

    @on(NoteList.Moved)
    def _moved(self) -> None:
        self._pane.trail.clear()
        if self._notes.line is not None and self._notes.line.id != self._pane.wanted:
            self._pane.want(self._notes.line.id)

    @on(NoteList.Opened)
    def _open_row(self) -> None:
        if not self._awaited:  # else it is one of a list that is about to go
            self._step_inside()

    def _step_inside(self) -> None:
        self.add_class("-reading")
        self._pane.focus_inside()

    @on(events.DescendantFocus)
    def _stepped_out(self, event: events.DescendantFocus) -> None:
        if event.widget is self._notes:
            self.remove_class("-reading")

    # What is done with the open note, or with those that are marked.

    def action_tab(self, by: int) -> None:
        self._pane.action_step_tab(by)

    def action_link(self) -> None:
        if self._pane.opened_note is not None:
            self.app.push_screen(LinkPicker(self.client, self._pane.opened_note.note))

    def action_unlink(self) -> None:
        if (link := self._pane.chosen_link) is not None:
            self.change(changes.unlink, self.memory, link)

    def _mark(self, ids: Sequence[str], marked: bool) -> None:
        gone = () if marked else set(ids)
        self._marked = dict.fromkeys([id for id in self._marked if id not in gone] + list(ids) * marked)
        self._notes.marked = set(self._marked)
        self._subtitle()
        self.refresh_bindings()

    @on(NoteList.Ticked)
    def _tick(self) -> None:
        if self._notes.line is not None:
            self._mark([self._notes.line.id], self._notes.line.id not in self._marked)

    def action_mark(self) -> None:
        self._tick()
        self._notes.action_step(1)

    def action_undo(self) -> None:
        """Bring back the note that is gone, else take back the last step."""
        if self._pane.gone and self._pane.wanted is not None:
            self.change(changes.bring_back, self.memory, self._pane.wanted)
        else:
            super().action_undo()

    def action_edit(self, elsewhere: bool = False) -> None:
        self._with_note(self.client.app.write_elsewhere if elsewhere else self.client.app.write_note)

    def action_copy_note(self) -> None:
        self._with_note(self._copy)

    def _copy(self, note: MemoryNote) -> None:
        self.app.copy_to_clipboard(note.content)
        self.client.say(f"Copied the text ({counted(len(note.content), 'character')})")

    def action_copy_id(self) -> None:
        if self.client.note is not None:
            self.app.copy_to_clipboard(self.client.note)
            self.client.say(f"Copied the id {self.client.note}")

    def action_pin(self) -> None:
        if self.client.note is not None:
            self.change(changes.pin, self.memory, self.client.note)

    @work(group="opening")
    async def _with_note(self, do: Callable[[MemoryNote], object]) -> None:
        id = self.client.note
        if id is not None and (note := await self.ask(self.memory.read, id)) is not None:
            do(note)

    def _chosen(self) -> list[str]:
        return list(self._marked) or [id for id in [self.client.note] if id is not None]

    @work(group="change")
    async def action_delete(self) -> None:
        ids = self._chosen()
        titles = list((await self.ask(titles_of, self.memory, ids)).values())
        if not titles:
            return
        question = "Delete this note?" if len(titles) == 1 else f"Delete {counted(len(titles), 'note')}?"
        named = [f"  {one_line(each, 60)}" for each in titles[:_NAMED]]
        named += [f"  and {len(titles) - _NAMED:,} more"] if len(titles) > _NAMED else []
        asks = Question(question, "\n".join(named), key="d", yes="deletes", no="keeps", grave=True)
        if await self.app.push_screen_wait(asks):
            self._mark(ids, False)
            if await self.client.carry_out(changes.delete_notes, self.memory, ids):  # what moves up is open next
                self._start_over(self._listing, place=self._notes.cursor, keep=self._pane.wanted)

    @work(group="export")
    async def action_export(self) -> None:
        ids = self._chosen()
        titles = list((await self.ask(titles_of, self.memory, ids)).values())
        if not titles:
            return
        words = titles[0] if len(ids) == 1 else f"{self.memory.settings.collection} notes"
        plain = "".join(char if char.isalnum() else " " for char in one_line(words, 60))
        name = "-".join(plain.split())[:40] or "notes"

        def write(path: Path, replace: bool) -> int:
            return export_chosen(self.memory, ids, path, self.client.zone, replace=replace)

        heading, forms = f"Write {counted(len(ids), 'note')} to a file", ".md to read, .jsonl to import"
        self.app.push_screen(path_prompt(self.client, heading, f"{name}.md", write, forms=forms))

    # The sidebar: what the list can be narrowed by.

    def _want_counts(self) -> None:
        now = (self._listing.conditions, self._listing.starting) != self._counted  # others' writing can wait
        self._counting.want(now=now)

    async def _count(self) -> None:
        await asyncio.sleep(_LOOK if self._listing.starting else 0)
        conditions, starting = self._counted = self._listing.conditions, self._listing.starting
        wanted = conditions.filter(self.client.zone)
        self._facets = await self.ask(read_facets, self.memory, self._facets.collections, wanted, starting)
        self._sidebar.show(self._facets)
        nothing = self._notes.contents.shelf is not None and not self._notes.count
        if self._pane.wanted is None and not self._listing.narrowed and nothing:
            self._pane.show_hint(self._hint())  # other collections are known by now
        if self._counted == (Conditions(), ""):
            self._notes.year = int(max(self._facets.choices["period"], default="0")[:4])

    @on(Sidebar.Chosen)
    def _choose(self, event: Sidebar.Chosen) -> None:
        condition, collection = event.line.condition, event.line.collection
        if not event.stay or collection is not None:
            self._leave_sidebar()
        if collection is None:
            self._narrow(Conditions() if condition is None else self._listing.conditions.toggled(condition))
        elif collection != self.memory.settings.collection:
            self.client.app.switch_collection(collection)

    def _narrow(self, conditions: Conditions, *, keep: str | None = None) -> None:
        self._sidebar.show(conditions=conditions)
        self._start_over(replace(self._listing, conditions=conditions), keep=keep)

    def action_sidebar(self) -> None:
        if self._sidebar.has_focus:
            self._leave_sidebar()
        else:
            self.add_class("-sidebar")
            self.set_focus(self._sidebar)

    def _leave_sidebar(self) -> None:
        self.remove_class("-sidebar")
        self._sidebar.narrow("")
        self._follow_listing()
        self.set_focus(self._notes)

    # The line to type in.

    def action_search(self) -> None:
        self._line.begin("search", self._listing.question or self._listing.starting)

    def action_filter(self) -> None:
        if self._sidebar.has_focus:
            self._line.begin("sidebar", self._sidebar.wanted)
            return
        words = self._listing.starting or self._listing.question
        self._line.begin("filter", words)
        if words != self._listing.starting:
            self._filter(words)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if self._line.mode == "sidebar":
            self._sidebar.narrow(event.value)
        elif self._line.mode == "filter":
            self._filter(event.value)

    def _filter(self, words: str) -> None:
        self._start_over(replace(self._listing, question="", starting=words.strip()), keep=self._pane.wanted)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.set_focus(self._sidebar if self._line.mode == "sidebar" else self._notes)
        words = event.value.strip()
        if self._line.mode != "search":
            return
        if words != self._listing.question or self._listing.starting:
            self._start_over(replace(self._listing, question=words, starting="", weak=False))
        elif self._notes.contents.weaker:  # asked once more: then all there is
            self._start_over(replace(self._listing, weak=True), keep=self._pane.wanted)

    def action_clear(self) -> None:
        """Type nothing after all."""
        sidebar = self._line.mode == "sidebar"
        self._line.put(self._line.mode, "")
        self.set_focus(self._sidebar if sidebar else self._notes)
        if sidebar:
            self._sidebar.narrow("")
            self._follow_listing()
        elif self._listing.asks:  # all notes that meet the conditions again, from the one that is open
            self._filter("")

    def _follow_listing(self) -> None:
        listing = self._listing
        self._line.put("filter" if listing.starting else "search", listing.starting or listing.question)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _LETTERS and (not self.is_mounted or self._line.typing):
            return False
        if action in ("tab", "link", "unlink"):
            shown = self.query(NotePane)  # none before the screen is furnished
            return any(pane.chosen_link if action == "unlink" else pane.opened_note for pane in shown)
        if action in _NEEDS_A_NOTE:
            return self.client.note is not None or (action in ("delete", "export") and bool(self._marked))
        return action not in ("order", "mark", "mark_all") or self._notes.count > 0

    def action_back(self) -> None:
        """One step back out: of the note, the sidebar, the search, the marks, the conditions."""
        if self._pane.trail:
            self._pane.want(*self._pane.trail.pop())
        elif self.focused is not self._notes:
            self.remove_class("-reading")
            self._leave_sidebar()
        elif self._listing.asks:
            self._line.put("search", "")
            self._filter("")
        elif self._marked:
            self._mark(list(self._marked), False)
        elif self._listing.conditions:
            self._narrow(Conditions(self._listing.conditions.chosen[:-1]), keep=self._pane.wanted)

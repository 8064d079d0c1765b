"""The start screen: tags, the list of notes or of hits, and the open note."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from amem_tui import changes
from amem_tui.browse.dossier import open_dossier
from amem_tui.browse.keys import KEYS
from amem_tui.browse.listing import Contents, Listing
from amem_tui.browse.note_list import NoteList
from amem_tui.browse.note_pane import NotePane
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import one_line
from amem_tui.shell.editor import EditorScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.note import MemoryNote
    from amem_tui.desk import Desk

#: A cursor that is held down passes notes nobody wants to read; this short rest leaves them unread.
_REST = 0.04
_EMPTY = """No notes yet.

Press n to write the first one, or let an agent write here:

  amem add "The first thing to remember"
  amem import notes.jsonl

New notes appear by themselves."""

_GONE = """This note is not here any more.

The log (l) says who deleted it, and can undo that."""


class BrowseScreen(NotesScreen):
    """What is open and where the cursor stands; everything it shows comes from the collection."""

    ROOM = "browse"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._listing = Listing()
        self._trail: list[str] = []
        self._wanted: str | None = None
        self._showing = asyncio.Lock()

    def furnish(self) -> ComposeResult:
        yield Input(placeholder="/ to search", id="search", compact=True, select_on_focus=True)
        with Horizontal(id="panes"):
            yield OptionList(id="tags", compact=True)
            yield NoteList(id="notes")
            yield NotePane(self._desk.zone, id="note")

    def on_mount(self) -> None:
        self.query_one("#tags").border_title = "Tags"
        self._notes.focus()

    @property
    def _notes(self) -> NoteList:
        return self.query_one(NoteList)

    @property
    def _pane(self) -> NotePane:
        return self.query_one(NotePane)

    @property
    def _open(self) -> MemoryNote | None:
        return None if self._pane.dossier is None else self._pane.dossier.note

    # -- what is listed ----------------------------------------------------------------------------------------

    @work(exclusive=True, group="list")
    async def _reload(self, *, place: int = 0, keep: str | None = None) -> None:
        """Read the list anew, and stay on the note with the id `keep` if it is near where it was."""
        with self._desk.refusals(self._pane.show_hint):
            if self._listing.question:
                self._notes.border_title = "Searching…"
            read = partial(self._listing.read, self.memory, self._desk.zone, place, keep)
            contents = await self.ask(read)
            self._notes.show(
                contents.count, contents.pages, place=contents.place, explained=bool(self._listing.question)
            )
            self._notes.border_title = Content(self._listing.heading)
            self.bar.tell(f"{self._listing.counted(contents.count)} ")
            self._show_tags(contents)
            if self._wanted is None and self._notes.row is not None:
                self._wanted = self._notes.row.id
            if self._notes.count:
                await self._show_wanted()
            else:
                self._wanted = None
                self._pane.show_hint(_EMPTY if self._listing == Listing() else "Nothing was found.")
            self.refresh_bindings()

    def _show_tags(self, contents: Contents) -> None:
        shown = self.query_one("#tags", OptionList)
        place = shown.highlighted
        shown.clear_options()
        shown.add_option(Option(_tag_line("All notes", contents.total), id="all"))
        shown.add_options([Option(_tag_line(tag, number), id=f"tag {tag}") for tag, number in contents.tags.items()])
        shown.highlighted = min(place or 0, shown.option_count - 1)

    @on(NoteList.PageWanted)
    @work(group="page")
    async def _fetch(self, event: NoteList.PageWanted) -> None:
        with self._desk.refusals():
            page = partial(self._listing.page, self.memory, self._desk.zone, event.page)
            self._notes.fill(event.page, event.generation, await self.ask(page))

    def reload(self) -> None:
        row = self._notes.row
        self._reload(place=self._notes.cursor, keep=None if row is None else row.id)

    # -- what is open ------------------------------------------------------------------------------------------

    @on(NoteList.Moved)
    def _open_row(self, event: NoteList.Moved) -> None:
        self._trail.clear()
        self.turn_to(event.row.id)

    @on(NoteList.Opened)
    def _step_inside(self) -> None:
        self._pane.focus_inside()

    @on(NotePane.Followed)
    def _follow(self, event: NotePane.Followed) -> None:
        if self._open is not None:
            self._trail.append(self._open.id)
        self.turn_to(event.id)

    def turn_to(self, id: str) -> None:
        """Open a note, wherever it stands in the list."""
        self._wanted = id
        self._turn()

    @work(exclusive=True, group="note")
    async def _turn(self) -> None:
        await asyncio.sleep(_REST)
        with self._desk.refusals():
            await self._show_wanted()
        self.refresh_bindings()

    async def _show_wanted(self) -> None:
        """Read the note that should be open and show it, or say that it is gone."""
        async with self._showing:
            id = self._wanted
            if id is None:
                return
            dossier = await self.ask(partial(open_dossier, self.memory, id))
            row = self._notes.row
            self._desk.note = None if dossier is None else id
            if dossier is not None:
                await self._pane.show(dossier, row.why if row is not None and row.id == id else "")
            else:
                self._pane.show_hint(_GONE)

    # -- keys --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered: without an open note there is nothing to edit, delete or pin."""
        return action not in ("edit", "delete", "pin") or self._open is not None

    def action_search(self) -> None:
        self.query_one("#search", Input).focus()

    @on(Input.Submitted, "#search")
    def _search(self, event: Input.Submitted) -> None:
        self._start_over(replace(self._listing, question=event.value.strip()))

    def action_back(self) -> None:
        search = self.query_one("#search", Input)
        if self.has_class("-tags"):
            self.remove_class("-tags")
            self._notes.focus()
        elif self._trail:
            self.turn_to(self._trail.pop())
        elif self._listing.question or search.value:
            search.clear()
            self._start_over(replace(self._listing, question=""))
        elif self.focused is not self._notes:
            self._notes.focus()
        elif self._listing.tag is not None:
            self._start_over(Listing())

    def action_sidebar(self) -> None:
        self.add_class("-tags")
        self.query_one("#tags").focus()

    @on(OptionList.OptionSelected, "#tags")
    def _choose_tag(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option_id or "all"
        self.remove_class("-tags")
        self._start_over(replace(self._listing, tag=chosen[4:] if chosen.startswith("tag ") else None))

    def _start_over(self, listing: Listing) -> None:
        """List something else, from its top."""
        self._listing = listing
        self._trail.clear()
        self._wanted = None
        self._pane.show_hint("")
        self._notes.focus()
        self._reload(place=0)

    def action_new(self) -> None:
        async def save(text: str) -> bool:
            return await self._desk.carry_out(partial(self._add, text))

        self.app.push_screen(EditorScreen("New note", "", save))

    def _add(self, text: str) -> str:
        id, said = changes.add(self.memory, text)
        self.app.call_from_thread(self.turn_to, id)
        return said

    def action_edit(self) -> None:
        note = self._open
        if note is None:
            return

        async def save(text: str) -> bool:
            return await self._desk.carry_out(partial(changes.edit, self.memory, note, text))

        self.app.push_screen(EditorScreen("Edit note", note.content, save))

    def action_delete(self) -> None:
        if self._open is not None:
            self._delete(self._open)

    @work(group="change")
    async def _delete(self, note: MemoryNote) -> None:
        self._wanted = None  # whatever moves up under the cursor is opened next
        self._trail.clear()
        if not await self._desk.carry_out(partial(changes.delete, self.memory, note)):
            self._wanted = note.id

    def action_pin(self) -> None:
        if self._open is not None:
            self.change(partial(changes.pin, self.memory, self._open))


def _tag_line(tag: str, number: int) -> Content:
    return Content.assemble((f"{number:>4} ", "$muted"), one_line(tag, 60))

"""The open note: which one it is, and the way back along the links that were followed."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on, work

from amem.interop.exporting import export_chosen
from amem_tui import changes
from amem_tui.browse.news import deletion_words
from amem_tui.browse.note_list import NoteList
from amem_tui.browse.note_pages import load_note
from amem_tui.browse.note_pane import FIRST_PAGE, NotePane, ReadingScreen
from amem_tui.dialogs import PathPrompt, Question
from amem_tui.formatting import one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem.note import MemoryNote
    from amem.query import Query
    from amem_tui.client import CollectionClient


#: So many notes are named before they are deleted.
_NAMED = 5


#: A cursor that is held down passes notes nobody wants to read; this short rest leaves them unread.
REST = 0.04


class OpenNoteScreen(ReadingScreen):
    """Shows the note that is wanted last, one at a time, and does what is done with it or with the marked ones.

    Whatever was wanted while one is read is read next. `_marked` are the ids of the marked notes, in their order.
    """

    #: What needs a note, open or marked.
    NEEDS_A_NOTE = ("edit", "edit_elsewhere", "delete", "pin", "copy_note", "copy_id", "export")

    _notes = getters.query_one(NoteList)

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._wanted: str | None = None
        #: Whence links were followed, and on which page of the pane.
        self._trail: list[tuple[str, str]] = []
        #: The page on which the wanted note opens; None for the one that is open.
        self._page: str | None = None
        self._own: set[str] = set()
        #: Notes that are being deleted here: whatever moves up under the cursor is opened in their place.
        self._leaving: set[str] = set()
        self._gone = False
        self._stale = self._opening = False

    def _reveal(self, id: str) -> None:
        """Put the list's cursor on this note, if it is listed."""
        raise NotImplementedError

    def _rest(self) -> float:
        """Seconds until the note under the cursor is read."""
        return REST

    def _question(self) -> Query | str:
        """What the list answers; "" when it answers none."""
        raise NotImplementedError

    def turn_to(self, id: str) -> None:
        """Open a note, wherever it stands in the list."""
        self._trail.clear()
        self._own.add(id)
        self._want(id)
        self._reveal(id)

    def _want(self, id: str | None, page: str | None = None) -> None:
        """Open this note, or none; on this page of the pane, or on the one that is open."""
        self._wanted = self._client.note = id
        self._page = page
        self._gone = False
        self._open()

    def _open(self) -> None:
        """Read the wanted note (again)."""
        self._stale = True
        if not self._opening:
            self._opening = True
            self._open_wanted()

    @work(group="note")
    async def _open_wanted(self) -> None:
        try:
            while self._stale:
                self._stale = False
                await asyncio.sleep(self._rest())
                if not self._stale:
                    with self._client.refusals():
                        await self._show_wanted()
        finally:
            self._opening = False
        self.refresh_bindings()

    async def _show_wanted(self) -> None:
        id = self._wanted
        if id is None:
            return
        opened_note = await self.ask(partial(load_note, self.memory, id))
        words, gone = "", False
        if opened_note is None:
            words, gone = await self.ask(partial(deletion_words, self.memory, id, self._client.zone))
        if self._wanted != id or (opened_note is None and id in self._leaving):  # another one is shown next
            return
        self._gone = gone
        if opened_note is None:
            self._client.note = None
            self._pane.show_hint(words)
        else:
            row = self._notes.row
            self._client.note = id
            found = row.why if row is not None and row.id == id else ""
            page, self._page = self._page, None
            await self._pane.show(opened_note, found, self._question(), page)

    def _forget(self, ids: Sequence[str]) -> None:
        self._leaving = set(ids)
        if self._wanted in ids:
            self._trail.clear()

    def _follow_cursor(self) -> None:
        """Whoever asks in the same moment is told of the note under the cursor, which is read a little later."""
        if self._notes.row is not None:
            self._client.note = self._notes.row.id

    @on(NoteList.Moved)
    def _moved(self, event: NoteList.Moved) -> None:
        self._trail.clear()
        if event.row.id != self._wanted:
            self._want(event.row.id)

    @on(NotePane.Followed)
    def _follow(self, event: NotePane.Followed) -> None:
        if self._wanted is not None:
            self._trail.append((self._wanted, self._pane.tab))
        self._want(event.id, FIRST_PAGE)

    def _step_back(self) -> None:
        """Whence the last link was followed."""
        self._want(*self._trail.pop())

    def action_undo(self) -> None:
        """Bring back the note that is gone, else take back the last step."""
        if self._gone and self._wanted is not None:
            self.change(partial(changes.bring_back, self.memory, self._wanted))
        else:
            super().action_undo()

    def action_edit(self) -> None:
        self._client.app.hold_keys(self._edit())

    def action_edit_elsewhere(self) -> None:
        self._client.app.hold_keys(self._edit_elsewhere())

    @work(group="edit")
    async def _edit(self) -> None:
        note = await self._read_open()
        if note is not None:
            self._client.app.write_note(note)

    @work(group="edit")
    async def _edit_elsewhere(self) -> None:
        note = await self._read_open()
        if note is not None:
            self._client.app.write_elsewhere(note)

    def _marked(self) -> list[str]:
        raise NotImplementedError

    def _chosen(self) -> list[str]:
        """The ids of the marked notes, or that of the open one."""
        open_one = self._client.note
        return self._marked() or ([] if open_one is None else [open_one])

    @work(group="copy")
    async def action_copy_note(self) -> None:
        note = await self._read_open()
        if note is not None:
            self.app.copy_to_clipboard(note.content)
            self._client.say(f"Copied the text ({plural(len(note.content), 'character')})")

    def action_copy_id(self) -> None:
        if self._client.note is not None:
            self.app.copy_to_clipboard(self._client.note)
            self._client.say(f"Copied the id {self._client.note}")

    @work(group="change")
    async def action_delete(self) -> None:
        ids = self._chosen()
        with self._client.refusals():
            cards = await self.ask(partial(self.memory.cards_of, ids))
            titles = [title(card.text) for card in cards.values()]
            if not titles:
                return
            question = "Delete this note?" if len(titles) == 1 else f"Delete {plural(len(titles), 'note')}?"
            if await self.app.push_screen_wait(_deletion(question, titles)):
                self._forget(ids)
                if not await self._client.carry_out(partial(changes.delete_notes, self.memory, ids)):
                    self._forget([])

    @work(group="change")
    async def action_pin(self) -> None:
        note = await self._read_open()
        if note is not None:
            await self._client.carry_out(partial(changes.pin, self.memory, note))

    async def _read_open(self) -> MemoryNote | None:
        id = self._client.note
        with self._client.refusals():
            return None if id is None else await self.ask(partial(self.memory.read, id))
        return None

    @work(group="export")
    async def action_export(self) -> None:
        ids = self._chosen()
        if not ids:
            return
        named = await self._read_open() if len(ids) == 1 else None
        name = _file_name(title(named.content) if named is not None else f"{self.memory.settings.collection} notes")

        def write(path: Path, replace: bool) -> int:
            return export_chosen(self.memory, ids, path, self._client.zone, replace=replace)

        heading, forms = f"Write {plural(len(ids), 'note')} to a file", ".md to read, .jsonl to import"
        self.app.push_screen(PathPrompt(self._client, heading, f"{name}.md", write, forms=forms))


def _deletion(question: str, titles: Sequence[str]) -> Question:
    named = [f"  {one_line(title, 60)}" for title in titles[:_NAMED]]
    if len(titles) > _NAMED:
        named.append(f"  and {len(titles) - _NAMED:,} more")
    return Question(question, "\n".join(named), key="d", yes="deletes", no="keeps", grave=True)


def _file_name(words: str) -> str:
    """A name for a file, of the letters and digits of these words."""
    plain = "".join(char if char.isalnum() else " " for char in one_line(words, 60))
    return "-".join(plain.split())[:40] or "notes"

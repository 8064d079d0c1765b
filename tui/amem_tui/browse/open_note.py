"""What is done with the open note, or with those that are marked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on, work

from amem.interop.exporting import export_chosen
from amem_tui import changes
from amem_tui.browse.note_list import NoteList
from amem_tui.browse.note_pane import LinkPicker, NotePane
from amem_tui.dialogs import PathPrompt, Question
from amem_tui.formatting import one_line, plural, title
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from amem.note import MemoryNote
    from amem_tui.browse.note_list import Row
    from amem_tui.client import CollectionClient


#: So many notes are named before they are deleted.
_NAMED = 5


class OpenNoteScreen(NotesScreen):
    """A screen with a list, whose notes can be marked, and the open note beside it."""

    #: What needs a note, open or marked.
    NEEDS_A_NOTE = ("edit", "edit_elsewhere", "delete", "pin", "copy_note", "copy_id", "export")

    _notes = getters.query_one(NoteList)
    _pane = getters.query_one(NotePane)

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._marked: dict[str, None] = {}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a note there are no pages, and without a chosen link there is none to take away."""
        if action in ("tab", "link", "unlink"):
            shown = self.query(NotePane)  # none before the screen is furnished
            return any(pane.chosen_link if action == "unlink" else pane.opened_note for pane in shown)
        if action in self.NEEDS_A_NOTE:
            return self._client.note is not None or (action in ("delete", "export") and bool(self._marked))
        if action in ("mark", "mark_all"):
            return self._notes.count > 0
        return super().check_action(action, parameters)

    def action_tab(self, by: int) -> None:
        self._pane.action_step_tab(by)

    def action_link(self) -> None:
        if self._pane.opened_note is not None:
            self.app.push_screen(LinkPicker(self._client, self._pane.opened_note.note))

    def action_unlink(self) -> None:
        if (link := self._pane.chosen_link) is not None:
            self.change(partial(changes.unlink, self.memory, link))

    def _mark(self, ids: Sequence[str], marked: bool) -> None:
        for id in ids:
            if marked:
                self._marked[id] = None
            else:
                self._marked.pop(id, None)
        self._notes.tick(set(self._marked))
        self._subtitle()
        self.refresh_bindings()

    def _subtitle(self) -> None:
        """Say below the list what is to be said of all of it."""
        raise NotImplementedError

    def _toggle(self, row: Row) -> None:
        self._mark([row.id], row.id not in self._marked)

    def action_mark(self) -> None:
        if self._notes.line is not None:
            self._toggle(self._notes.line)
            self._notes.action_step(1)

    @on(NoteList.Ticked)
    def _ticked(self, event: NoteList.Ticked) -> None:
        self._toggle(event.row)

    def action_undo(self) -> None:
        """Bring back the note that is gone, else take back the last step."""
        if self._pane.gone and self._pane.wanted is not None:
            self.change(partial(changes.bring_back, self.memory, self._pane.wanted))
        else:
            super().action_undo()

    def action_edit(self) -> None:
        self._client.app.hold_keys(self._with_note(self._client.app.write_note))

    def action_edit_elsewhere(self) -> None:
        self._client.app.hold_keys(self._with_note(self._client.app.write_elsewhere))

    def action_copy_note(self) -> None:
        self._with_note(self._copy)

    def _copy(self, note: MemoryNote) -> None:
        self.app.copy_to_clipboard(note.content)
        self._client.say(f"Copied the text ({plural(len(note.content), 'character')})")

    def action_copy_id(self) -> None:
        if self._client.note is not None:
            self.app.copy_to_clipboard(self._client.note)
            self._client.say(f"Copied the id {self._client.note}")

    def action_pin(self) -> None:
        self._with_note(lambda note: self._client.carry_out(partial(changes.pin, self.memory, note)))

    @work(group="note action")
    async def _with_note(self, do: Callable[[MemoryNote], Awaitable[object] | None]) -> None:
        """Read the open note and do this with it."""
        note = await self._read_open()
        done = None if note is None else do(note)
        if done is not None:
            await done

    async def _read_open(self) -> MemoryNote | None:
        id = self._client.note
        with self._client.refusals():
            return None if id is None else await self.ask(partial(self.memory.read, id))
        return None

    def _chosen(self) -> list[str]:
        """The ids of the marked notes, or that of the open one."""
        return list(self._marked) or [id for id in [self._client.note] if id is not None]

    @work(group="change")
    async def action_delete(self) -> None:
        ids = self._chosen()
        with self._client.refusals():
            cards = await self.ask(partial(self.memory.cards_of, ids))
            titles = [title(card.text) for card in cards.values()]
            if not titles:
                return
            if await self.app.push_screen_wait(_deletion(titles)):
                self._pane.let_go(ids)
                self._mark(ids, False)
                if not await self._client.carry_out(partial(changes.delete_notes, self.memory, ids)):
                    self._pane.let_go([])

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


def _deletion(titles: Sequence[str]) -> Question:
    question = "Delete this note?" if len(titles) == 1 else f"Delete {plural(len(titles), 'note')}?"
    named = [f"  {one_line(title, 60)}" for title in titles[:_NAMED]]
    if len(titles) > _NAMED:
        named.append(f"  and {len(titles) - _NAMED:,} more")
    return Question(question, "\n".join(named), key="d", yes="deletes", no="keeps", grave=True)


def _file_name(words: str) -> str:
    """A name for a file, of the letters and digits of these words."""
    plain = "".join(char if char.isalnum() else " " for char in one_line(words, 60))
    return "-".join(plain.split())[:40] or "notes"

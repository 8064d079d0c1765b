"""What is done with the notes that are marked, or with the open one: copy, write to a file, delete, pin."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from amem.errors import AmemError
from amem.interop.exporting import export_chosen
from amem_tui import changes
from amem_tui.browse.dialogs import DeleteScreen, ExportScreen
from amem_tui.browse.pane.reading import ReadingScreen
from amem_tui.phrases import one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.note import MemoryNote


class Selecting(ReadingScreen):
    """A list some of whose notes are marked; `_marked` keeps them in the order in which they were."""

    #: What needs a note, open or marked.
    NEEDS_A_NOTE = ("edit", "edit_elsewhere", "delete", "pin", "copy_note", "copy_id", "export")

    def _marked(self) -> list[str]:
        raise NotImplementedError

    def _forget(self, ids: Sequence[str]) -> None:
        """These notes are about to go: unmark them, and leave the open one if it is among them."""
        raise NotImplementedError

    def _chosen(self) -> list[str]:
        """The ids of the marked notes, or that of the open one."""
        open_one = self._desk.note
        return self._marked() or ([] if open_one is None else [open_one])

    # -- copying -----------------------------------------------------------------------------------------------

    @work(group="copy")
    async def action_copy_note(self) -> None:
        note = await self._read_open()
        if note is not None:
            self.app.copy_to_clipboard(note.content)
            self._desk.say(f"Copied the text ({plural(len(note.content), 'character')})")

    def action_copy_id(self) -> None:
        if self._desk.note is not None:
            self.app.copy_to_clipboard(self._desk.note)
            self._desk.say(f"Copied the id {self._desk.note}")

    # -- deleting and pinning ----------------------------------------------------------------------------------

    @work(group="change")
    async def action_delete(self) -> None:
        ids = self._chosen()
        with self._desk.refusals():
            cards = await self.ask(partial(self.memory.cards_of, ids))
            titles = [title(card.text) for card in cards.values()]
            if not titles:
                return
            question = "Delete this note?" if len(titles) == 1 else f"Delete {plural(len(titles), 'note')}?"
            if await self.app.push_screen_wait(DeleteScreen(question, titles)):
                self._forget(ids)
                if not await self._desk.carry_out(partial(changes.delete_notes, self.memory, ids)):
                    self._forget([])

    @work(group="change")
    async def action_pin(self) -> None:
        note = await self._read_open()
        if note is not None:
            await self._desk.carry_out(partial(changes.pin, self.memory, note))

    async def _read_open(self) -> MemoryNote | None:
        id = self._desk.note
        with self._desk.refusals():
            return None if id is None else await self.ask(partial(self.memory.read, id))
        return None

    # -- writing to a file -------------------------------------------------------------------------------------

    @work(group="export")
    async def action_export(self) -> None:
        ids = self._chosen()
        if not ids:
            return
        named = await self._read_open() if len(ids) == 1 else None
        name = _file_name(title(named.content) if named is not None else f"{self.memory.settings.collection} notes")

        async def write(said: str, replace: bool) -> str | None:
            path = Path(said).expanduser()
            try:
                number = await self.ask(
                    partial(export_chosen, self.memory, ids, path, self._desk.zone, replace=replace)
                )
            except AmemError as error:
                again = "; enter once more replaces it" if not error.hint else f": {error.hint}"
                return f"{error}{again}"
            except OSError as error:
                return f"This cannot be written: {error.strerror or error}"
            self._desk.say(f"Wrote {plural(number, 'note')} to {path.absolute()}")
            return None

        heading = f"Write {plural(len(ids), 'note')} to a file"
        self.app.push_screen(ExportScreen(heading, f"{name}.md", write, ".md to read, .jsonl to import"))


def _file_name(words: str) -> str:
    """A name for a file, of the letters and digits of these words."""
    plain = "".join(char if char.isalnum() else " " for char in one_line(words, 60))
    return "-".join(plain.split())[:40] or "notes"

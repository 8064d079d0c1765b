"""What machines and people did, newest first, each operation undoable."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem_tui import changes
from amem_tui.log.keys import KEYS
from amem_tui.naming import titles
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import operation

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Operation

_SHOWN = 200


class LogScreen(NotesScreen):
    """The newest operations."""

    ROOM = "log"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield OptionList(id="operations", compact=True)

    def reload(self) -> None:
        self._reload()

    @work(exclusive=True)
    async def _reload(self) -> None:
        with self._desk.refusals():
            found = await self.ask(partial(_newest, self.memory))
            shown = self.query_one(OptionList)
            before = shown.highlighted_option
            shown.clear_options()
            shown.add_options(
                [Option(operation(each, about, self._desk.zone), id=str(each.id)) for each, about in found]
            )
            if not found:
                shown.add_option(Option("Nothing has happened yet.", disabled=True))
                return
            ids = [str(each.id) for each, _ in found]
            shown.highlighted = ids.index(before.id) if before is not None and before.id in ids else 0

    def action_undo(self) -> None:
        chosen = self.query_one(OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self.change(partial(changes.undo, self.memory, int(chosen.id)))


def _newest(memory: AgenticMemorySystem) -> list[tuple[Operation, str]]:
    """The newest operations, each with the title of the first note it is about."""
    found = memory.log(limit=_SHOWN)
    held = {each.id: (*each.created, *each.notes)[:1] for each in found}
    # What only made links is about the note whose arrival set it off.
    about = {each.id: held[each.id] or held.get(each.parent or 0, ()) for each in found}
    named = titles(memory, [id for ids in about.values() for id in ids])
    return [(each, "".join(named[id] for id in about[each.id])) for each in found]

"""What machines and people did, newest first, each operation undoable."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from amem_tui import changes
from amem_tui.desk import CollectionChanged, Desk
from amem_tui.phrases import operation

if TYPE_CHECKING:
    from textual.app import ComposeResult

_SHOWN = 300


class LogScreen(Screen[None]):
    """The newest operations."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Undo this one"),
        Binding("ctrl+r", "redo", "Redo"),
        Binding("escape,l", "leave", "Back"),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def compose(self) -> ComposeResult:
        yield Static(" Log", classes="heading")
        yield OptionList(id="operations", compact=True)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self._reload()

    @on(CollectionChanged)
    def _catch_up(self) -> None:
        self._reload()

    @work(exclusive=True)
    async def _reload(self) -> None:
        with self._desk.refusals():
            found = await self._desk.ask(partial(self._desk.memory.log, limit=_SHOWN))
            shown = self.query_one(OptionList)
            before = shown.highlighted_option
            shown.clear_options()
            shown.add_options([Option(operation(each, self._desk.zone), id=str(each.id)) for each in found])
            if not found:
                shown.add_option(Option("Nothing has happened yet.", disabled=True))
                return
            ids = [str(each.id) for each in found]
            shown.highlighted = ids.index(before.id) if before is not None and before.id in ids else 0

    def action_undo(self) -> None:
        chosen = self.query_one(OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self._change(partial(changes.undo, self._desk.memory, int(chosen.id)))

    def action_redo(self) -> None:
        self._change(partial(changes.redo, self._desk.memory))

    @work(group="change")
    async def _change(self, change: partial[str]) -> None:
        await self._desk.carry_out(change)

    def action_leave(self) -> None:
        self.dismiss()

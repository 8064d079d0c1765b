"""What every screen over a collection shares: its frame, asking without freezing, and undo, redo and back."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, on, work
from textual.screen import Screen

from amem_tui import changes
from amem_tui.desk import CollectionChanged
from amem_tui.keymap import room_keys
from amem_tui.room_bar import RoomBar, RoomTab
from amem_tui.shell.footer import KeyFooter

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import ActiveBinding

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.desk import Desk

Answer = TypeVar("Answer")


class NotesScreen(Screen[None]):
    """A room at a desk: it furnishes itself, and reloads when it is entered or the collection has changed.

    A room that is left keeps its state (and its workers) until it is entered again.
    """

    ROOM: ClassVar[str]
    #: Actions that stand first in the line below the screen; the others follow in the order of their keys.
    FOOTER: ClassVar[tuple[str, ...]] = ()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def compose(self) -> ComposeResult:
        settings = self.memory.settings
        yield RoomBar(settings.collection, self.ROOM, room_keys(settings.tui_keys))
        yield from self.furnish()
        yield KeyFooter()

    def furnish(self) -> ComposeResult:
        """What stands between the bar and the footer."""
        raise NotImplementedError

    def reload(self) -> None:
        """Show what is there now; called when the room is entered, again, and when somebody wrote."""
        raise NotImplementedError

    @on(events.ScreenResume)
    def _entered(self) -> None:
        if not self._desk.left:
            self.reload()

    @on(CollectionChanged)
    def _changed(self) -> None:
        if self.is_current and not self._desk.left:
            self.reload()

    @on(RoomTab.Chosen)
    def _visit(self, event: RoomTab.Chosen) -> None:
        self._desk.rooms.visit(event.room)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that do something now: none before there is something to do it with, nor while it is removed."""
        return super().active_bindings if self.is_mounted and self.display else {}

    @property
    def desk(self) -> Desk:
        """The collection that the room is about."""
        return self._desk

    @property
    def memory(self) -> AgenticMemorySystem:
        """The collection; to be asked through `ask` alone."""
        return self._desk.memory

    @property
    def bar(self) -> RoomBar:
        """The line on top."""
        return self.query_one(RoomBar)

    async def ask(self, question: Callable[[], Answer]) -> Answer:
        """Answer a question in a thread; the worker that waits for it ends with the screen."""
        answer = await self._desk.ask(question)
        if not self.app.is_running or not self.is_attached:
            raise asyncio.CancelledError
        return answer

    @work(group="change")
    async def change(self, change: Callable[[], str]) -> None:
        """Carry out one of `amem_tui.changes` and say what it did."""
        await self._desk.carry_out(change)

    def action_undo(self) -> None:
        self.change(partial(changes.undo, self.memory))

    def action_redo(self) -> None:
        self.change(partial(changes.redo, self.memory))

    def action_leave(self) -> None:
        self._desk.rooms.leave()

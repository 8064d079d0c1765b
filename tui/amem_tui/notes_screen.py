"""What every screen over a collection shares: asking without freezing, and undo, redo and back."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual import work
from textual.screen import Screen

from amem_tui import changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.desk import Desk

Answer = TypeVar("Answer")


class NotesScreen(Screen[None]):
    """A screen at a desk."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    @property
    def memory(self) -> AgenticMemorySystem:
        """The collection; to be asked through `ask` alone."""
        return self._desk.memory

    async def ask(self, question: Callable[[], Answer]) -> Answer:
        """Answer a question in a thread; the worker that waits for it ends with the screen."""
        answer = await self._desk.ask(question)
        if not self.app.is_running or self not in self.app.screen_stack:
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
        self.dismiss()

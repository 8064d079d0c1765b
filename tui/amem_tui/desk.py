"""Where screens meet the collection: every call in a thread, every refusal a toast, every outside change announced."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message

from amem.clock import zone
from amem.errors import AmemError
from amem_tui.phrases import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.app import App

    from amem.memory_system import AgenticMemorySystem

Answer = TypeVar("Answer")


class CollectionChanged(Message):
    """Somebody wrote to the collection: this browser, or another process."""


class Desk:
    """One open collection, shared by the app's screens."""

    def __init__(self, app: App[None], memory: AgenticMemorySystem) -> None:
        self.memory = memory
        self.zone = zone(memory.settings.timezone)
        self._app = app
        self._pulse: tuple[int, int] | None = None
        self._silent = False

    async def ask(self, work: Callable[[], Answer]) -> Answer:
        """Do the work in a thread, so that the interface stays awake."""
        return await asyncio.to_thread(work)

    async def carry_out(self, change: Callable[[], str]) -> bool:
        """Make a change, say what it did (or why it could not be made); True when it was made."""
        with self.refusals():
            self.say(await self.ask(change))
            await self.look()
            return True
        return False

    async def look(self) -> None:
        """Compare the collection with what was seen last, and tell every open screen when it changed."""
        seen, self._pulse = self._pulse, await self.ask(self._feel)
        if seen is not None and seen != self._pulse:
            self._announce()

    async def follow(self, every: float) -> None:
        """Look again and again. A collection that cannot be read is said once, and once more when it is back."""
        while True:
            try:
                await self.look()
            except AmemError as error:
                if not self._silent:
                    self.refuse(error)
                self._silent = True
            else:
                if self._silent:
                    self.say("The collection can be read again.")
                    self._announce()
                self._silent = False
            await asyncio.sleep(every)

    def _announce(self) -> None:
        for screen in self._app.screen_stack:
            screen.post_message(CollectionChanged())

    def say(self, message: str) -> None:
        """Tell the person, in a corner of the screen."""
        self._app.notify(clean(message), markup=False)

    def refuse(self, error: AmemError) -> None:
        """Say what went wrong and what to do next."""
        self._app.notify(_words(error), severity="error", timeout=8, markup=False)

    @contextmanager
    def refusals(self, show: Callable[[str], None] | None = None) -> Iterator[None]:
        """Turn an AmemError of the block into a toast, and hand its words to `show` as well."""
        try:
            yield
        except AmemError as error:
            self.refuse(error)
            if show is not None:
                show(_words(error))

    def _feel(self) -> tuple[int, int]:
        newest = self.memory.log(limit=1)
        return self.memory.count(), newest[0].id if newest else 0


def _words(error: AmemError) -> str:
    return clean(f"{error}\n{error.hint}" if error.hint else str(error))

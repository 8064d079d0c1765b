"""Where screens meet the collection: every call in a thread, every refusal a toast, every outside change announced."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from textual.message import Message

from amem.clock import zone
from amem.errors import AmemError
from amem_tui.phrases import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem.memory_system import AgenticMemorySystem

Answer = TypeVar("Answer")


class CollectionChanged(Message):
    """Somebody wrote to the collection: this browser, or another process."""


class Rooms(Protocol):
    """What a room may ask of the app."""

    def visit(self, room: str) -> None:
        """Go to a room."""

    def leave(self) -> None:
        """Go back to where one came from."""

    def read_note(self, id: str) -> None:
        """Open a note in the start room."""

    def announce(self) -> None:
        """Tell the room in front that somebody wrote."""

    def toast(self, message: str, *, error: bool = False) -> None:
        """Say something in a corner of the screen."""


class Desk:
    """One open collection, shared by the app's rooms; `note` is the id of the note that is open, if one is."""

    def __init__(self, rooms: Rooms, memory: AgenticMemorySystem) -> None:
        self.rooms = rooms
        self.memory = memory
        self.zone = zone(memory.settings.timezone)
        self.note: str | None = None
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
        seen, self._pulse = self._pulse, await self.ask(self.memory.pulse)
        if seen is not None and seen != self._pulse:
            self.rooms.announce()

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
                    self.rooms.announce()
                self._silent = False
            await asyncio.sleep(every)

    def say(self, message: str) -> None:
        """Tell the person, in a corner of the screen."""
        self.rooms.toast(clean(message))

    def refuse(self, error: AmemError) -> None:
        """Say what went wrong and what to do next."""
        self.rooms.toast(_words(error), error=True)

    @contextmanager
    def refusals(self, show: Callable[[str], None] | None = None) -> Iterator[None]:
        """Turn an AmemError of the block into a toast, and hand its words to `show` as well."""
        try:
            yield
        except AmemError as error:
            self.refuse(error)
            if show is not None:
                show(_words(error))


def _words(error: AmemError) -> str:
    return clean(f"{error}\n{error.hint}" if error.hint else str(error))

"""Entering a room of the browser in tests, with a note open in the start room where there is one."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from amem_tui.browser_app import NotesApp
from amem_tui.rooms import NotesScreen
from driving import settled, wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


@asynccontextmanager
async def visiting(
    memory: AgenticMemorySystem, key: str, room: str, size: tuple[int, int] = (120, 36), *, follow: float = 0.1
) -> AsyncIterator[Pilot[None]]:
    """The app in that room, once it has come to rest."""
    app = NotesApp(memory, follow_every=follow)
    async with app.run_test(size=size, notifications=True) as pilot:
        await wait_until(pilot, lambda: in_room(pilot, "browse"))
        await wait_until(pilot, lambda: app.client.note is not None or memory.count() == 0)
        await settled(pilot)
        await enter(pilot, key, room)
        yield pilot


async def enter(pilot: Pilot[None], key: str, room: str) -> None:
    """Go to a room by its key."""
    await pilot.press(key)
    await wait_until(pilot, lambda: in_room(pilot, room))
    await settled(pilot)


def in_room(pilot: Pilot[None], room: str) -> bool:
    """Whether that room is in front."""
    return isinstance(pilot.app.screen, NotesScreen) and room == pilot.app.screen.ROOM

"""A collection of one note: every room has something to say about it, at the usual size and in a small window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import TEA
from driving import browsing, opened, screen_text, titles, wait_until

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem

SAID = {
    "g": "Nothing is linked",
    "h": "1 version",
    "t": "2026",
    "l": "1 operation",
    "H": "notes",
}


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 36), (40, 12)], ids=["usual", "small"])
async def test_every_room_shows_the_only_note(empty: AgenticMemorySystem, size: tuple[int, int]) -> None:
    empty.add(TEA)
    async with browsing(empty, size) as pilot:
        assert titles(pilot) == [TEA]
        assert opened(pilot) == TEA
        for key, said in SAID.items():
            await pilot.press(key)
            await wait_until(pilot, lambda said=said: said in screen_text(pilot))
            await pilot.press("b")
            await wait_until(pilot, lambda: "Green tea" in screen_text(pilot))
        # The last one goes, and comes back.
        await pilot.press("d", "d")
        await wait_until(pilot, lambda: titles(pilot) == [])
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [TEA])

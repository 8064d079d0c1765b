"""u and ctrl+r take back and redo what was done from this browser, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import CAT, KETTLE, TEA
from driving import browsing, opened, titles, toasts, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem


@pytest.mark.thorough
async def test_what_was_done_before_or_in_another_terminal_is_left_alone(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    here = open_home()
    async with browsing(here) as pilot:
        await pilot.press("u")
        await wait_until(pilot, lambda: "Nothing done from here is left to undo" in toasts(pilot))
        await pilot.press("p")
        await wait_until(pilot, lambda: f"Pinned “{KETTLE}”" in toasts(pilot))
        memory.add("Written in another terminal")
        await wait_until(pilot, lambda: len(titles(pilot)) == 4 and opened(pilot) == KETTLE)
        await pilot.press("u")
        await wait_until(pilot, lambda: "; ctrl+r redoes it" in toasts(pilot))
        assert [note.content for note in memory.list() if note.pinned] == []
        memory.undo(memory.own_last())
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: "Redone: " in toasts(pilot))
        assert [note.content for note in memory.list() if note.pinned] == [KETTLE]
        assert memory.count() == 3

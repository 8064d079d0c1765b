"""Leaving the browser: at once, but for what was typed and would be lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from amem_tui.note_form import NoteForm
from driving import PATIENCE, browsing, toasts, wait_until
from textual.widgets import TextArea

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


async def gone(pilot: Pilot[None], key: str) -> None:
    """Press a key that ends the app: the pilot's own press would wait for its answer."""
    pilot.app.simulate_key(key)
    async with asyncio.timeout(PATIENCE):
        while pilot.app.is_running:
            await asyncio.sleep(0.01)


async def test_a_note_half_written_is_asked_for_once(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", *"half", "ctrl+q")
        await wait_until(pilot, lambda: "Not saved: ctrl+s saves. ctrl+q once more throws the text" in toasts(pilot))
        await pilot.press("x", "ctrl+q")  # another key in between: it is asked again
        assert isinstance(pilot.app.screen, NoteForm)
        await gone(pilot, "ctrl+q")


@pytest.mark.thorough
async def test_a_line_that_was_not_sent_is_asked_for_from_any_room(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
        await pilot.press(*"half", "escape", "b", "q")
        await wait_until(pilot, lambda: "What you wrote in Chat is not sent. q once more" in toasts(pilot))
        await gone(pilot, "q")


@pytest.mark.thorough
async def test_nothing_is_asked_where_nothing_was_typed(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "q quits; ctrl+q does while you write." in toasts(pilot))
        await pilot.press("n")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm))
        await gone(pilot, "ctrl+q")

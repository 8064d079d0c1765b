"""What nobody does on purpose: windows of one cell, models that never end, notes purged from under every room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chat_home import Home, Talker, ending, say, spoken, talking
from conftest import KETTLE, TEA
from driving import browsing, opened, screen_text, settled, titles, toasts, wait_until
from visiting import enter, visiting

from amem.testing import FakeOllama, Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

SIZES = [(1, 1), (10, 3), (100, 1), (120, 36)]
ROOMS = {
    "graph": "g", "history": "h", "timeline": "t", "chat": "c", "review": "r", "log": "l", "health": "H",
}  # fmt: skip


@pytest.mark.parametrize(
    "way",
    ["", "d", "g", "t d", "c", "c escape s", "l a", "n", "ctrl+p"],
)
async def test_a_window_may_shrink_to_one_cell_and_grow_again(memory: AgenticMemorySystem, way: str) -> None:
    async with visiting(memory, "b", "browse") as pilot:
        await pilot.press(*way.split())
        await pilot.pause(0.05)
        before = type(pilot.app.screen)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.press("down")
        assert type(pilot.app.screen) is before
        assert pilot.app._exception is None
        assert len(screen_text(pilot).splitlines()) == SIZES[-1][1]


async def test_a_model_that_never_ends_is_cut_off_and_the_next_question_is_answered(tmp_path: Path) -> None:
    talker = Talker(["All right."])
    with FakeOllama(talker, fault=Fault.NOISE) as ollama:
        home = Home(tmp_path, talker, ollama)
        memory = home.open()
        memory.add(TEA)
        async with talking(memory) as pilot:
            await say(pilot, "What about tea?")
            assert "cut off" in ending(pilot)
            ollama.fault = None
            await say(pilot, "And now?")
            assert spoken(pilot)[-1] == ("And now?", "All right.")
        home.close()


@pytest.mark.parametrize("name", ROOMS)
async def test_a_note_that_another_process_purges_may_be_shown_in_any_room(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem], name: str
) -> None:
    other = open_home("agent")
    async with visiting(memory, ROOMS[name], name) as pilot:
        note = pilot.app.client.note
        assert note is not None
        assert other.purge(note)
        await settled(pilot)
        await pilot.pause(0.3)
        await pilot.press("down", "enter", "u", "tab", "up", "w", "escape", "escape")
        await settled(pilot)
        assert "unforeseen" not in toasts(pilot)
        assert pilot.app._exception is None
        await enter(pilot, "b", "browse")
        await wait_until(pilot, lambda: KETTLE not in titles(pilot) and opened(pilot) != KETTLE)


async def test_marked_notes_that_another_process_purges_are_marked_no_more(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        await pilot.press("A")
        await settled(pilot)
        assert other.purge(memory.list()[0].id)
        await pilot.press("d")
        await pilot.pause(0.2)
        await pilot.press("y", "enter")
        await settled(pilot)
        assert "unforeseen" not in toasts(pilot)
        assert pilot.app._exception is None


@pytest.mark.parametrize("name", ["graph", "chat", "log", "health"])
async def test_a_store_that_goes_and_comes_back_is_survived_in_every_room(
    memory: AgenticMemorySystem, name: str
) -> None:
    folder = memory.folder
    assert folder is not None
    async with visiting(memory, ROOMS[name], name) as pilot:
        folder.rename(folder.with_name("elsewhere"))
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: "The collection is gone" in screen_text(pilot))
        folder.with_name("elsewhere").rename(folder)
        await wait_until(pilot, lambda: "The collection is gone" not in screen_text(pilot))
        await settled(pilot)
        assert pilot.app._exception is None

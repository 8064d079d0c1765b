"""Browsing beside others who write: what they add, change and delete, while one reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, settled, titles, toasts, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem


async def test_notes_of_another_process_appear_by_themselves(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent:writer")
    async with browsing(memory) as pilot:
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        other.add("Written elsewhere", time="2026-03-09")
        await wait_until(pilot, lambda: titles(pilot) == ["Written elsewhere", KETTLE, CAT, TEA])
        assert opened(pilot) == TEA
        assert listed(pilot).cursor == 3
        assert "new note" not in toasts(pilot)


@pytest.mark.thorough
async def test_new_notes_move_nothing_that_one_looks_at_and_those_out_of_sight_are_told(
    empty: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    empty.add_notes([f"{number} things" for number in range(150)])
    other = open_home("agent:scribe")
    async with browsing(empty, (120, 24)) as pilot:
        here = listed(pilot)
        await pilot.press(*["pagedown"] * 3, *["up"] * 3)
        await settled(pilot)
        read, above = opened(pilot), here.cursor - int(here.scroll_y)
        for number in range(3):
            other.add(f"Written elsewhere {number}", time="2026-03-09")
        await wait_until(pilot, lambda: here.count == 153)
        await wait_until(pilot, lambda: "by scribe" in toasts(pilot))
        assert here.line is not None
        assert here.line.title == read == opened(pilot)
        assert here.cursor - int(here.scroll_y) == above


@pytest.mark.thorough
async def test_a_note_deleted_elsewhere_while_open_says_so_and_comes_back_on_u(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent:helper")
    async with browsing(memory) as pilot:
        other.delete(memory.list()[0].id)
        await wait_until(pilot, lambda: "Deleted by ▲ helper" in hint(pilot))
        assert KETTLE in hint(pilot)
        assert pilot.app.client.note is None
        assert titles(pilot) == [CAT, TEA]
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA] and opened(pilot) == KETTLE)
        other.delete(memory.list()[0].id)
        await wait_until(pilot, lambda: "Deleted by ▲ helper" in hint(pilot))
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) in (CAT, TEA))


async def test_a_note_destroyed_elsewhere_says_so(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home()
    async with browsing(memory) as pilot:
        other.purge(memory.list()[0].id)
        await wait_until(pilot, lambda: "destroyed for good" in hint(pilot))
        assert titles(pilot) == [CAT, TEA]


@pytest.mark.thorough
async def test_a_filtered_list_follows_what_others_write(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        await pilot.press("f", *"kettle", "enter")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE])
        other.add("Another kettle", time="2026-03-09")
        await wait_until(pilot, lambda: titles(pilot) == ["Another kettle", KETTLE])
        assert opened(pilot) == KETTLE

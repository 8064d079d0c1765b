"""What the timeline looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled
from visiting import enter

from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

STATES = [("fading", (120, 36)), ("calendar", (60, 20)), ("fading", (60, 20))]


@pytest.fixture
def year(empty: AgenticMemorySystem) -> AgenticMemorySystem:
    """A hundred notes over a year, more on some days than on others."""
    clock = empty.parts.clock
    assert isinstance(clock, FrozenClock)
    notes = [
        {
            "content": f"第 {number} 条：今天的茶" if number % 4 == 0 else f"Note {number} about the garden",
            "time": (clock.now() - timedelta(days=(number * number) % 340)).isoformat(),
            "kind": ("chitchat", "fact", "episode", "decision")[number % 4],
            "importance": 0.3 + (number % 7) / 10,
        }
        for number in range(100)
    ]
    empty.add_notes(notes)
    clock.advance(timedelta(days=40))
    return empty


@pytest.mark.parametrize(("pane", "size"), STATES, ids=["wide", "small", "small-fading"])
def test_a_year_of_notes(
    year: AgenticMemorySystem, pane: str, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    async def enter_timeline(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await enter(pilot, "t", "timeline")
        await pilot.press(*(["plus", "shift+tab"] if pane == "fading" else ["home", "enter"]))
        await settled(pilot)

    assert snap_compare(NotesApp(year, follow_every=60), terminal_size=size, run_before=enter_timeline)

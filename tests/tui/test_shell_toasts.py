"""What is said in a corner of the screen leaves the screen to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driving import browsing, screen_text, toasts, wait_until

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem


async def test_three_things_are_said_at_a_time_and_what_failed_stays_longest(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        pilot.app.toast("It failed", error=True)
        for number in range(5):
            pilot.app.toast(f"Said {number}")
        await wait_until(pilot, lambda: "Said 4" in toasts(pilot))
        assert toasts(pilot).splitlines() == ["It failed", "Said 3", "Said 4"]


async def test_half_of_the_smallest_screen_stays_to_be_seen(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (20, 8)) as pilot:
        for number in range(3):
            pilot.app.toast(f"Said {number} and much more than such a small screen has room for")
        await wait_until(pilot, lambda: "Said 2" in screen_text(pilot))
        assert "much" in screen_text(pilot)
        lines = screen_text(pilot).splitlines()
        assert sum("▌" in line for line in lines) == 4
        assert "memories" in lines[0]
        assert "Notes" in lines[1]

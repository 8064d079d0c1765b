"""What the start screen looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.sidebar import Sidebar
from amem_tui.browser_app import NotesApp
from driving import settled, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

SIZES = [(120, 36), (60, 20)]


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_notes_are_listed_and_one_is_open(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    app = NotesApp(memory, follow_every=60)
    assert snap_compare(app, terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_a_search_explains_its_hits_and_marked_notes_are_ticked(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    app = NotesApp(memory, follow_every=60)

    async def search(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("slash", *"green tea", "enter", "space")
        await settled(pilot)

    assert snap_compare(app, terminal_size=size, run_before=search)


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_a_filter_keeps_to_what_the_sidebar_says(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    app = NotesApp(memory, follow_every=60)

    async def narrow(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("s", *["down"] * 3, "enter", "f", *"zebra", "enter")
        sidebar = pilot.app.screen.query_one(Sidebar)
        await wait_until(pilot, lambda: ("preference", 0) in [(line.text, line.count) for line in sidebar.entries])
        await pilot.press("s")
        await settled(pilot)

    assert snap_compare(app, terminal_size=size, run_before=narrow)

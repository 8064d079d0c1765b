"""What the graph looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled
from linked_notes import collection, graph_of, hub, move

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

SIZES = [(120, 36), (60, 20)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with collection(tmp_path) as memory:
        yield memory


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_three_hops_around_a_note(
    memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    ids = move(memory)

    async def walk(pilot: Pilot[None]) -> None:
        await graph_of(pilot, ids["move"])
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("tab", "tab")
        await settled(pilot)

    assert snap_compare(NotesApp(memory, follow_every=60), terminal_size=size, run_before=walk)


@pytest.mark.parametrize("size", SIZES, ids=["wide", "small"])
def test_a_hub(memory: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    id = hub(memory, 100)

    async def enter(pilot: Pilot[None]) -> None:
        await graph_of(pilot, id)

    assert snap_compare(NotesApp(memory, follow_every=60), terminal_size=size, run_before=enter)


def test_topics(memory: AgenticMemorySystem, snap_compare: Callable[..., bool]) -> None:
    ids = move(memory)
    for name in ("cat", "vet", "Lisbon"):
        memory.declare_topic(name)

    async def look(pilot: Pilot[None]) -> None:
        await graph_of(pilot, ids["move"])
        await pilot.press("o")
        await settled(pilot)

    # As a tree alone: where circles of the same size stand depends on their ids, which are new in each run.
    assert snap_compare(NotesApp(memory, follow_every=60), terminal_size=SIZES[1], run_before=look)

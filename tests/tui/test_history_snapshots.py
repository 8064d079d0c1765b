"""What history, review and log look like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem
    from amem.testing import FrozenClock

pytestmark = pytest.mark.thorough

SIZES = pytest.mark.parametrize("size", [(120, 36), (60, 20)], ids=["wide", "small"])


@pytest.fixture
def edited(memory: AgenticMemorySystem) -> AgenticMemorySystem:
    """The newest note, edited by a person and by an agent; two that contradict each other."""
    clock: FrozenClock = memory.parts.clock
    id = memory.list()[0].id
    memory.update(
        id, content="The new kettle keeps green tea at 75 degrees.\n\n水壶能保温两小时。", tags=["tea", "kettle"]
    )
    clock.advance(timedelta(hours=1))
    memory.acting_as("agent:helper").update(id, context="What the new kettle can do")
    early = memory.add_note("The kiln fires at 900 degrees", time="2026-01-01")
    late = memory.add_note("The glaze needs a cold oven", time="2026-02-01")
    memory.link(late, early, "contradicts", "one wants heat")
    memory.delete(memory.add_note("Written by mistake"))
    return memory


def pressing(*keys: str, note: str | None = None) -> Callable[[Pilot[None]], object]:
    """Open a note, press these keys, and let everything settle."""

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        if note is not None:
            pilot.app.read_note(note)
            await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return run


def kettle(memory: AgenticMemorySystem) -> str:
    return next(note.id for note in memory.list() if "kettle" in note.content)


@SIZES
def test_a_version_beside_the_one_before(
    edited: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    run = pressing("h", "j", "j", note=kettle(edited))
    assert snap_compare(NotesApp(edited, follow_every=60), terminal_size=size, run_before=run)


@SIZES
def test_a_rewrite_to_decide(
    edited: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    assert snap_compare(NotesApp(edited, follow_every=60), terminal_size=size, run_before=pressing("r"))


@SIZES
def test_a_conflict_as_a_timeline(
    edited: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    assert snap_compare(NotesApp(edited, follow_every=60), terminal_size=size, run_before=pressing("r", "right"))


@SIZES
def test_the_log_and_what_an_operation_did(
    edited: AgenticMemorySystem, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    keys = ("l", *["j"] * 6)
    assert snap_compare(NotesApp(edited, follow_every=60), terminal_size=size, run_before=pressing(*keys))

"""What the open note looks like: its words, its links, and why it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled
from pane_driving import turn_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

SIZES = pytest.mark.parametrize("size", [(120, 36), (60, 20)], ids=["wide", "small"])
TEXT = """# Tea at home

**Green tea** at 80 degrees, from the [[Pot]]; see [[Samovar]] and https://tea.example.

- rinse the *pot*
- wait `2` minutes, 再泡两分钟 🍵

| tea | degrees |
|---|--:|
| green | 80 |
| black | 96 |
"""


@pytest.fixture
def rich(empty: AgenticMemorySystem) -> AgenticMemorySystem:
    """A note with everything that a note may have, of ids that are always the same."""
    pot = empty.add("# Pot\n\nOf clay", time="2026-01-01").id
    old = empty.add("Black tea in the morning", time="2026-01-02").id
    note = empty.add(TEXT, time="2026-01-05T18:30", tags=["tea", "home"], speaker="Ana").id
    empty.link(note, pot, "part_of", "it is made in it")
    empty.link(note, old, "caused_by")
    empty.pin(note)
    return empty


async def at_links(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("enter")
    await turn_to(pilot, "links")


async def at_why(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("slash", *"green tea", "enter")
    await settled(pilot)
    await pilot.press("enter")
    await turn_to(pilot, "why")


async def at_note(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("enter", "down")
    await settled(pilot)


@SIZES
@pytest.mark.parametrize("tab", [at_note, at_links, at_why], ids=["note", "links", "why"])
def test_a_page_of_the_note(
    rich: AgenticMemorySystem,
    size: tuple[int, int],
    tab: Callable[[Pilot[None]], object],
    snap_compare: Callable[..., bool],
) -> None:
    assert snap_compare(NotesApp(rich, follow_every=60), terminal_size=size, run_before=tab)

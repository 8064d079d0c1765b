"""What the health room looks like, wide and small. ``pytest --snapshot-update`` takes the pictures anew."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from driving import settled
from visiting import enter

from amem.memory_system import AgenticMemorySystem
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.pilot import Pilot

pytestmark = pytest.mark.thorough

STATES = [("maintenance", (120, 36)), ("state", (60, 20)), ("maintenance", (60, 20))]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgenticMemorySystem]:
    """A collection that was maintained; in memory, since the size of files is another on every machine."""
    clock = FrozenClock("2026-03-01T09:00")
    monkeypatch.setenv("AMEM_TIMEZONE", "UTC")
    monkeypatch.setenv("AMEM_OLLAMA_HOST", "http://127.0.0.1:9")
    memory = AgenticMemorySystem(llm_backend="offline", clock=clock, embedder=HashEmbedder(), analyst=ScriptedAnalyst())
    memory.add_notes(
        [{"content": f"今天天气真好 {number}", "kind": "chitchat", "importance": 0.3} for number in range(12)]
    )
    memory.add("The boiler is serviced in May", kind="fact", importance=0.9)
    clock.advance(timedelta(days=90))
    memory.maintain()
    clock.advance(timedelta(days=2))
    yield memory
    memory.close()


@pytest.mark.parametrize(("side", "size"), STATES, ids=["wide", "small", "small-maintenance"])
def test_a_collection_that_was_maintained(
    kept: AgenticMemorySystem, side: str, size: tuple[int, int], snap_compare: Callable[..., bool]
) -> None:
    async def enter_health(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await enter(pilot, "H", "health")
        if side == "maintenance":
            await pilot.press("tab", "down")
        await settled(pilot)

    assert snap_compare(NotesApp(kept, follow_every=60), terminal_size=size, run_before=enter_health)

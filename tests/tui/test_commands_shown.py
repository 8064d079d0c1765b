"""Commands that the browser shows are about the collection that is open, whatever shell they are copied into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.formatting import command
from driving import browsing, hint, wait_until

from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path


def test_home_and_collection_are_named_where_they_are_not_the_default(tmp_path: Path) -> None:
    assert command(Settings(home=tmp_path), "maintain") == "amem maintain"
    assert command(Settings(home=tmp_path, collection="garden"), "maintain") == "amem -c garden maintain"
    elsewhere = Settings(home=tmp_path / "my notes")
    assert command(elsewhere, "enrich") == f"amem --home '{tmp_path}/my notes' enrich"


async def test_an_empty_collection_names_those_that_have_notes(tmp_path: Path, memory: AgenticMemorySystem) -> None:
    settings = Settings(home=tmp_path, collection="empty", dense_base="exact", timezone="UTC", llm_backend="offline")
    clock = FrozenClock("2026-03-01T09:00", seed="empty")
    with AgenticMemorySystem(settings=settings, clock=clock, embedder=HashEmbedder()) as empty:
        async with browsing(empty) as pilot:
            assert 'amem -c empty add "The first' in hint(pilot)
            await wait_until(pilot, lambda: "There are notes in memories (3): ctrl+o opens it." in hint(pilot))

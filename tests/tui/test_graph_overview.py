"""The topics of a collection at a glance, and the way from there to their notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.graph.drawing import GraphCanvas
from amem_tui.graph.graph_room import GraphScreen
from amem_tui.graph.scene import LOOSE
from driving import said, screen_text, wait_until
from linked_notes import TEXTS, collection, in_the_graph, move, press

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with collection(tmp_path) as memory:
        yield memory


@pytest.fixture
def topics(memory: AgenticMemorySystem) -> dict[str, str]:
    """Ids of topics and notes by name."""
    ids = move(memory)
    return ids | {name: memory.declare_topic(name).topic.id for name in ("cat", "vet", "Lisbon")}


def canvas(pilot: Pilot[None]) -> GraphCanvas:
    return pilot.app.screen.query_one(GraphCanvas)


async def test_topics_are_drawn_with_their_sizes_and_lead_to_their_notes(
    memory: AgenticMemorySystem, topics: dict[str, str]
) -> None:
    async with in_the_graph(memory, topics["move"]) as pilot:
        await press(pilot, "o")
        text = screen_text(pilot)
        assert "3 topics" in text
        assert "# cat 3" in text
        assert "# vet 2" in text
        assert "in no topic 1" in text
        assert canvas(pilot).chosen == topics["cat"]
        assert "3 notes  declared" in said(pilot, "#about")
        assert "1 link or shared note" in said(pilot, "#about")
        passed = set()
        for _ in range(4):
            await pilot.press("tab")
            passed.add(canvas(pilot).chosen)
        assert passed == {topics["cat"], topics["vet"], topics["Lisbon"], LOOSE}
        while canvas(pilot).chosen != topics["vet"]:
            await pilot.press("tab")
        await press(pilot, "enter")
        assert TEXTS["bus"] in screen_text(pilot)
        assert "← part of" in said(pilot, "#about")
        await press(pilot, "backspace")
        assert "3 topics" in screen_text(pilot)
        assert canvas(pilot).chosen == topics["vet"]
        await press(pilot, "o")
        assert canvas(pilot).chosen == topics["move"]


@pytest.mark.thorough
async def test_notes_in_no_topic_are_counted_but_lead_nowhere(
    memory: AgenticMemorySystem, topics: dict[str, str]
) -> None:
    async with in_the_graph(memory, None) as pilot:
        await press(pilot, "o")
        while canvas(pilot).chosen != LOOSE:
            await pilot.press("tab")
        assert "Notes in no topic" in said(pilot, "#about")
        await press(pilot, "enter", "e")
        assert isinstance(pilot.app.screen, GraphScreen)
        assert "3 topics" in screen_text(pilot)
        await press(pilot, "2", "f", "a", "up", "down", "left", "right", "home")
        assert canvas(pilot).chosen == topics["cat"]
        await press(pilot, "o")
        assert "No note is open" in screen_text(pilot)


@pytest.mark.thorough
async def test_without_topics_it_says_how_they_come_about(memory: AgenticMemorySystem) -> None:
    ids = move(memory)
    async with in_the_graph(memory, ids["move"]) as pilot:
        await press(pilot, "o")
        assert "amem maintain" in screen_text(pilot)
        assert "Health (H)" in screen_text(pilot)
        memory.declare_topic("cat")
        await wait_until(pilot, lambda: "# cat 3" in screen_text(pilot))
        memory.undo()
        await wait_until(pilot, lambda: "amem maintain" in screen_text(pilot))
        await press(pilot, "backspace")
        assert TEXTS["move"] in screen_text(pilot)


@pytest.mark.thorough
async def test_topics_are_a_list_on_a_small_terminal(memory: AgenticMemorySystem, topics: dict[str, str]) -> None:
    async with in_the_graph(memory, topics["move"], (40, 12)) as pilot:
        await press(pilot, "o")
        assert "# cat 3" in screen_text(pilot)
        await press(pilot, "down", "down", "up", "enter")
        assert "part of" in said(pilot, "#about")
        await press(pilot, "backspace", "o")
        assert canvas(pilot).chosen == topics["move"]

"""Keys right behind a search or a filter are meant for what it finds."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from amem_tui.browse import browse_room
from amem_tui.graph.drawing import GraphCanvas
from amem_tui.graph.graph_room import GraphScreen
from conftest import TEA
from driving import browsing, burst, listed, settled, titles, wait_until

from amem.memory_system import AgenticMemorySystem


@pytest.fixture(autouse=True)
def a_slow_machine_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search of a process may take longer than a person would wait."""
    monkeypatch.setattr(browse_room, "PATIENCE", 15.0)


@pytest.mark.thorough
async def test_the_graph_right_behind_a_search_is_that_of_the_first_hit(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1].id
    async with browsing(memory) as pilot:
        burst(pilot, "slash", *"boiling", "enter", "g")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, GraphScreen))
        assert pilot.app.client.note == tea
        await settled(pilot)
        assert pilot.app.screen.query_one(GraphCanvas).chosen == tea
        assert titles(pilot)[0] == TEA


@pytest.mark.thorough
async def test_keys_wait_for_a_filter_and_for_another_order_too(memory: AgenticMemorySystem) -> None:
    cat = memory.list()[1].id
    async with browsing(memory) as pilot:
        burst(pilot, "f", *"芝麻", "enter", "g")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, GraphScreen))
        assert pilot.app.client.note == cat
        await settled(pilot)
        burst(pilot, "b", "escape", "o", "home", "down", "g")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, GraphScreen) and listed(pilot).cursor == 1)
        row = listed(pilot).line
        assert row is not None
        assert listed(pilot).count == 3
        assert pilot.app.client.note == row.id


@pytest.mark.thorough
async def test_a_search_that_takes_long_keeps_keys_waiting_for_a_moment_only(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = Event()
    real = AgenticMemorySystem.search

    def slow(self: AgenticMemorySystem, *given: object, **named: object) -> object:
        assert going_on.wait(20)
        return real(self, *given, **named)

    monkeypatch.setattr(AgenticMemorySystem, "search", slow)
    monkeypatch.setattr(browse_room, "PATIENCE", 0.05)
    async with browsing(memory) as pilot:
        burst(pilot, "slash", *"boiling", "enter", "g")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, GraphScreen))
        going_on.set()
        await settled(pilot)


async def test_enter_while_a_search_takes_long_opens_no_row_of_the_list_before_it(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = Event()
    real = AgenticMemorySystem.ask

    def slow(self: AgenticMemorySystem, *given: Any, **named: Any) -> object:
        assert going_on.wait(20)
        return real(self, *given, **named)

    monkeypatch.setattr(browse_room, "PATIENCE", 0.05)
    async with browsing(memory) as pilot:
        monkeypatch.setattr(AgenticMemorySystem, "ask", slow)
        await pilot.press("slash", *"boiling", "enter")
        await pilot.pause(0.1)
        await pilot.press("enter")
        assert listed(pilot).has_focus
        going_on.set()
        await settled(pilot)
        await pilot.press("enter")
        assert not listed(pilot).has_focus
        assert titles(pilot)[0] == TEA

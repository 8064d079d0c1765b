"""The live filter: what one types narrows the list at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.sidebar import SearchLine
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, screen_text, titles, wait_until
from textual.widgets import Input

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem


async def test_the_list_follows_what_is_typed_and_the_cursor_its_note(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await pilot.press("f", *"gre")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await wait_until(pilot, lambda: "Into the list" in screen_text(pilot).splitlines()[-1])
        assert "Delete" not in screen_text(pilot).splitlines()[-1]
        assert "Filter “gre”" in screen_text(pilot)
        assert "2 of 3 notes" in screen_text(pilot)
        assert listed(pilot).cursor == 1
        assert opened(pilot) == TEA
        await pilot.press(*"en k")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE] and opened(pilot) == KETTLE)
        await pilot.press(*["backspace"] * 7)
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        assert opened(pilot) == KETTLE
        await pilot.press("escape")
        assert pilot.app.focused is listed(pilot)


@pytest.mark.thorough
async def test_enter_and_the_arrow_lead_into_the_list_and_escape_clears(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        for key in ("enter", "down"):
            await pilot.press("f", *"芝麻", key)
            await wait_until(pilot, lambda: titles(pilot) == [CAT])
            assert pilot.app.focused is listed(pilot)
            assert "Filter “芝麻”" in screen_text(pilot)
            await pilot.press("escape")
            await wait_until(pilot, lambda: len(titles(pilot)) == 3)
            assert pilot.app.screen.query_one(Input).value == ""


@pytest.mark.thorough
async def test_a_filter_and_a_search_take_each_others_place_and_words(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("f", *"kettle", "enter")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE])
        await pilot.press("slash")
        line = pilot.app.screen.query_one(SearchLine)
        assert (line.mode, line.query_one(Input).value) == ("search", "kettle")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Search “kettle”" in screen_text(pilot))
        await pilot.press("f")
        await wait_until(pilot, lambda: "Filter “kettle”" in screen_text(pilot) and titles(pilot) == [KETTLE])


@pytest.mark.thorough
async def test_nothing_found_says_how_to_widen(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("f", *"zebra")
        await wait_until(pilot, lambda: "Nothing was found" in hint(pilot))
        assert "/ asks for it by meaning" in hint(pilot)
        assert pilot.app.client.note is None
        await pilot.press("enter", "down", "end", "enter", "escape", "escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3 and opened(pilot) == KETTLE)

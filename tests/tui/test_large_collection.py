"""The start screen on 100,000 notes: any place of the list is near, and no more of it is held than is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_list import NEAR
from amem_tui.browse.sidebar import Sidebar
from driving import browsing, listed, opened, screen_text, settled, wait_until
from textual.widgets import Input

from amem.note import Kind, Status
from amem.query import Filter

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

ACTIVE = 89_200


def seen(pilot: Pilot[None]) -> list[str]:
    """The ids of the rows on screen; fails while one of them is on its way."""
    rows = [listed(pilot).entry_at(place) for place in listed(pilot).seen]
    assert all(row is not None for row in rows)
    return [row.id for row in rows if row is not None]


async def all_there(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda: all(listed(pilot).entry_at(place) is not None for place in listed(pilot).seen))


def expected(memory: AgenticMemorySystem, pilot: Pilot[None], filter: Filter | None = None, **how: str) -> list[str]:
    """The ids that should be on screen, by what the core says of the whole order."""
    shelf = memory.shelf(filter, **how)
    assert len(shelf) == listed(pilot).count
    places = listed(pilot).seen
    return [card.id for card in memory.cards(shelf, places.start, places.stop)]


def held(pilot: Pilot[None]) -> int:
    """How many rows the list holds."""
    return len(listed(pilot).rows)


async def test_the_first_page_is_shown_with_how_many_there_are(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        assert "89,200 notes" in screen_text(pilot)
        assert seen(pilot) == expected(crowd, pilot)
        await wait_until(pilot, lambda: opened(pilot) is not None)
        assert opened(pilot) == crowd.list(limit=1)[0].content
        assert held(pilot) <= 3 * NEAR


async def test_every_place_is_a_key_away_and_few_pages_are_held(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        await pilot.press("end")
        await all_there(pilot)
        assert listed(pilot).cursor == ACTIVE - 1
        assert seen(pilot) == expected(crowd, pilot)
        await wait_until(pilot, lambda: opened(pilot) == crowd.cards(crowd.shelf(), ACTIVE - 1, ACTIVE)[0].text)
        await pilot.press("pageup", "pageup", "up")
        await all_there(pilot)
        assert seen(pilot) == expected(crowd, pilot)
        await pilot.press("home")
        assert listed(pilot).cursor == 0
        for _ in range(40):
            await pilot.press("pagedown")
        await all_there(pilot)
        assert listed(pilot).cursor > 1_000
        assert seen(pilot) == expected(crowd, pilot)
        # A drag of the scroll bar passes everything between.
        listed(pilot).scroll_to(y=44_000, animate=False, force=True, immediate=True)
        await all_there(pilot)
        assert 44_000 in listed(pilot).seen
        assert seen(pilot) == expected(crowd, pilot)
        for place in range(0, 80_000, 4_000):
            listed(pilot).put_cursor(place)
            await all_there(pilot)
        assert held(pilot) <= 20 * NEAR


async def test_each_order_is_that_of_the_whole_collection(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        for order in ("recorded", "strength", "recalls", "importance", "time"):
            await pilot.press("o")
            await settled(pilot)
            await all_there(pilot)
            assert seen(pilot) == expected(crowd, pilot, order=order)


async def test_the_filter_follows_what_is_typed(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        for typed in ("green te", "八十度", "ops-1000", "nowhere"):
            await pilot.press("f")
            await wait_until(pilot, lambda: isinstance(pilot.app.focused, Input))
            await pilot.press(*("space" if letter == " " else letter for letter in typed))
            count = len(crowd.shelf(starting=typed))
            await wait_until(pilot, lambda count=count: listed(pilot).count == count)
            await all_there(pilot)
            assert seen(pilot) == expected(crowd, pilot, starting=typed)
            assert f"{count:,} of 89,200 notes" in screen_text(pilot)
            await pilot.press("escape")
            await wait_until(pilot, lambda: listed(pilot).count == ACTIVE)


async def test_a_search_lists_its_hits_and_why(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        await pilot.press("slash", *"telescope", "space", *"porto", "enter")
        await wait_until(pilot, lambda: 0 < listed(pilot).count < 100)
        await settled(pilot)
        row = listed(pilot).entry_at(0)
        assert row is not None
        assert "telescope" in row.title or "telescope" in crowd.read(row.id).content
        assert "by words" in screen_text(pilot)


async def test_the_sidebar_counts_all_and_narrows_to_what_it_counted(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=ACTIVE) as pilot:
        sidebar = pilot.app.screen.query_one(Sidebar)
        await wait_until(pilot, lambda: len(sidebar.entries) > 5)
        counts = {line.text: line.count for line in sidebar.entries}
        census = crowd.census()
        assert counts["All notes"] == ACTIVE == census.statuses[Status.ACTIVE]
        assert counts["code"] in (census.kinds[Kind.CODE], census.tags["code"])
        line = next(line for line in sidebar.entries if line.text == "decision")
        assert line.count == census.kinds[Kind.DECISION]
        await pilot.press("s")
        for _ in range(sidebar.entries.index(line)):
            await pilot.press("down")
        await pilot.press("enter")
        await wait_until(pilot, lambda: listed(pilot).count == line.count)
        await all_there(pilot)
        assert seen(pilot) == expected(crowd, pilot, Filter(kinds=(Kind.DECISION,)))

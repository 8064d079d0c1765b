"""What the start screen's list can be narrowed by, and how conditions combine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.sidebar import Sidebar
from amem_tui.browser_app import NotesApp
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, screen_text, titles, wait_until

from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


def sidebar(pilot: Pilot[None]) -> Sidebar:
    return pilot.app.screen_stack[1].query_one(Sidebar)


def shown(pilot: Pilot[None]) -> list[tuple[str, int | None]]:
    return [(line.text, line.count) for line in sidebar(pilot).entries]


async def go_to(pilot: Pilot[None], text: str) -> None:
    """Put the sidebar's cursor on a line, with the arrow keys."""
    await wait_until(pilot, lambda: text in [line.text for line in sidebar(pilot).entries])
    if not sidebar(pilot).has_focus:
        await pilot.press("s")
    await pilot.press("home")
    place = [line.text for line in sidebar(pilot).entries].index(text)
    await pilot.press(*["down"] * place)
    assert sidebar(pilot).entries[sidebar(pilot).cursor].text == text


async def test_everything_there_is_is_counted(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await wait_until(pilot, lambda: ("tea", 2) in shown(pilot))
        lines = shown(pilot)
        assert lines[0] == ("All notes", 3)
        assert {("preference", 2), ("fact", 1), ("cat", 1), ("2026", 3)} <= set(lines)
        await go_to(pilot, "Collections")
        await pilot.press("right")
        assert (memory.settings.collection, 3) in shown(pilot)
        await go_to(pilot, "2026")
        await pilot.press("right")
        assert ("March 2026", 3) in shown(pilot)
        await go_to(pilot, "Status")
        await pilot.press("enter", "down")
        assert ("active", 3) in shown(pilot)
        await pilot.press("left", "left")
        assert ("active", 3) not in shown(pilot)


@pytest.mark.thorough
async def test_what_is_chosen_or_typed_narrows_the_counts_of_all_else(memory: AgenticMemorySystem) -> None:
    memory.add_note("A cat that likes tea", time="2026-02-11", kind="fact", tags=["tea", "both"])
    async with browsing(memory) as pilot:
        await go_to(pilot, "tea")
        await pilot.press("space")
        wanted = {("All notes", 4), ("tea", 3), ("preference", 2), ("fact", 1), ("both", 1), ("2026", 3)}
        await wait_until(pilot, lambda: wanted <= set(shown(pilot)))
        assert "cat" not in dict(shown(pilot))
        await go_to(pilot, "fact")
        await pilot.press("space")
        # Another kind would come to the first one, so kinds count all that carries the tag.
        wanted = {("tea", 1), ("preference", 2), ("fact", 1), ("both", 1), ("2026", 1)}
        await wait_until(pilot, lambda: wanted <= set(shown(pilot)))
        await pilot.press("home", "enter")
        await wait_until(pilot, lambda: ("cat", 1) in shown(pilot))
        await pilot.press("f", *"kettle")
        await wait_until(pilot, lambda: ("tea", 1) in shown(pilot) and "cat" not in dict(shown(pilot)))
        await pilot.press("escape")
        await wait_until(pilot, lambda: ("cat", 1) in shown(pilot))


@pytest.mark.thorough
async def test_a_condition_that_leaves_nothing_can_be_taken_off(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await go_to(pilot, "cat")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [CAT])
        memory.delete(next(note.id for note in memory.list() if note.content == CAT))
        await wait_until(pilot, lambda: titles(pilot) == [] and ("cat", 0) in shown(pilot))
        await go_to(pilot, "cat")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await wait_until(pilot, lambda: "cat" not in dict(shown(pilot)))


async def test_a_kind_and_a_tag_combine_and_escape_steps_back_out(memory: AgenticMemorySystem) -> None:
    memory.add_note("A cat that likes tea", kind="fact", tags=["tea"])
    async with browsing(memory) as pilot:
        await go_to(pilot, "tea")
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        assert pilot.app.focused is listed(pilot)
        assert "Notes · #tea" in screen_text(pilot)
        await go_to(pilot, "fact")
        await pilot.press("space")
        await wait_until(pilot, lambda: titles(pilot) == ["A cat that likes tea"])
        assert sidebar(pilot).has_focus
        assert "Notes · #tea · fact" in screen_text(pilot)
        assert "1 of 4 notes" in screen_text(pilot)
        await wait_until(pilot, lambda: opened(pilot) == "A cat that likes tea")
        await pilot.press("escape")
        assert pilot.app.focused is listed(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        assert opened(pilot) == "A cat that likes tea"
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 4)


@pytest.mark.thorough
async def test_two_kinds_are_alternatives_and_all_notes_takes_everything_off(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await go_to(pilot, "preference")
        await pilot.press("space")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await go_to(pilot, "fact")
        await pilot.press("space")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        await pilot.press("space")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await pilot.press("home", "enter")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        assert "Notes ·" not in screen_text(pilot)


@pytest.mark.thorough
async def test_a_search_and_a_filter_keep_to_the_conditions(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await go_to(pilot, "cat")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [CAT])
        await pilot.press("slash", *"green tea", "enter")
        await wait_until(pilot, lambda: "Search “green tea” · #cat" in screen_text(pilot))
        assert KETTLE not in titles(pilot)
        await pilot.press("f")
        await wait_until(pilot, lambda: "Nothing was found" in hint(pilot))
        assert "Filter “green tea” · #cat" in screen_text(pilot)
        assert "escape takes away the filter" in hint(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: titles(pilot) == [CAT])


@pytest.mark.thorough
async def test_a_topic_a_month_a_memory_and_a_status_narrow_the_list(memory: AgenticMemorySystem) -> None:
    kettle, _, tea = (note.id for note in memory.list())
    memory.add_note("Long ago", time="2024-12-31T23:30", kind="fact", tags=["old"])
    memory.link(kettle, memory.declare_topic("Kettles").topic.id, "part_of")
    memory.delete(tea)
    async with browsing(memory) as pilot:
        await go_to(pilot, "Kettles")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE])
        await pilot.press("escape")
        await go_to(pilot, "2024")
        await pilot.press("right", "down", "enter")
        await wait_until(pilot, lambda: titles(pilot) == ["Long ago"])
        assert "December 2024" in screen_text(pilot)
        await pilot.press("escape")
        await go_to(pilot, "Memory")
        await pilot.press("enter")
        await go_to(pilot, "short-term")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "short-term" in screen_text(pilot) and CAT in titles(pilot))
        await pilot.press("escape")
        await go_to(pilot, "Status")
        await pilot.press("enter")
        await go_to(pilot, "deleted")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [TEA])
        await wait_until(pilot, lambda: "u brings it back" in hint(pilot))
        assert "● you" in hint(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [])
        await pilot.press("escape")
        await wait_until(pilot, lambda: TEA in titles(pilot))


@pytest.mark.thorough
async def test_long_lists_of_tags_are_cut_and_can_be_searched(empty: AgenticMemorySystem) -> None:
    for first in range(0, 40, 10):
        empty.add_note(f"cat {first}", tags=[f"tag-{number}" for number in range(first, first + 10)])
    async with browsing(empty) as pilot:
        await go_to(pilot, "… 28 more")
        assert len([line for line in sidebar(pilot).entries if line.text.startswith("tag-")]) == 12
        await pilot.press("f", *"g-37")
        await wait_until(pilot, lambda: [line.text for line in sidebar(pilot).entries] == ["Tags", "tag-37"])
        await pilot.press("enter", "down", "enter")
        await wait_until(pilot, lambda: titles(pilot) == ["cat 30"])
        await wait_until(pilot, lambda: ("tag-30", 1) in shown(pilot) and ("tag-0", 1) not in shown(pilot))
        await pilot.press("escape")
        await go_to(pilot, "… 28 more")
        await pilot.press("enter")
        assert len([line for line in sidebar(pilot).entries if line.text.startswith("tag-")]) == 40
        await pilot.press("f", "x", "y", "escape")
        await wait_until(pilot, lambda: len(sidebar(pilot).entries) > 40)
        assert sidebar(pilot).has_focus


@pytest.mark.thorough
async def test_the_mouse_chooses_opens_and_closes(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await wait_until(pilot, lambda: ("cat", 1) in shown(pilot))
        await pilot.click(Sidebar, offset=(6, 1 + shown(pilot).index(("cat", 1))))
        await wait_until(pilot, lambda: titles(pilot) == [CAT])
        await pilot.click(Sidebar, offset=(6, 1 + shown(pilot).index(("Tags", None))))
        assert ("cat", 1) not in shown(pilot)
        await wait_until(pilot, lambda: ("2026", 1) in shown(pilot))
        await pilot.click(Sidebar, offset=(3, 1 + shown(pilot).index(("2026", 1))))
        assert ("March 2026", 1) in shown(pilot)


async def test_moving_about_in_the_sidebar(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (120, 14)) as pilot:
        await go_to(pilot, "tea")
        here = sidebar(pilot)
        await pilot.press("end")
        assert here.cursor == len(here.entries) - 1
        await pilot.press("pageup", "k", "j", "pagedown", "home")
        assert here.cursor == 0
        await pilot.press("G", "s")
        assert pilot.app.focused is listed(pilot)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_small_terminal_offers_the_sidebar_on_demand(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    async with browsing(memory, size) as pilot:
        assert not sidebar(pilot).display
        await pilot.press("s")
        await wait_until(pilot, lambda: sidebar(pilot).display)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not sidebar(pilot).display)
        await go_to(pilot, "cat")
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [CAT] and not sidebar(pilot).display)


@pytest.mark.thorough
async def test_choosing_another_collection_opens_it(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    memory.copy("another")
    settings = Settings(home=tmp_path, dense_base="exact", timezone="UTC", llm_backend="offline")
    app = NotesApp(settings=settings, follow_every=0.2)
    async with app.run_test(size=(120, 36)) as pilot:
        await wait_until(pilot, lambda: len(app.screen_stack) > 1 and bool(app.screen.query(Sidebar)))
        await wait_until(pilot, lambda: listed(pilot).count == 3)
        await wait_until(pilot, lambda: "Collections" in [line.text for line in sidebar(pilot).entries])
        await go_to(pilot, "Collections")
        await pilot.press("enter")
        await go_to(pilot, "another")
        assert ("another", 3) in shown(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.client.memory.settings.collection == "another")
        await wait_until(pilot, lambda: len(app.screen_stack) > 1 and bool(app.screen.query(Sidebar)))
        await wait_until(pilot, lambda: listed(pilot).count == 3)

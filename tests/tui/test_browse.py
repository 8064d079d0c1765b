"""The start screen, key by key, on real collections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_pane import NotePane
from amem_tui.log.screen import LogScreen
from amem_tui.review.screen import ReviewScreen
from amem_tui.shell.editor import EditorScreen
from amem_tui.shell.help import HelpScreen
from conftest import CAT, KETTLE, TEA
from driving import PATIENCE, browsing, hint, listed, opened, options, said, screen_text, titles, toasts, wait_until
from textual.widgets import Input, TabbedContent, TextArea

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


async def open_tab(pilot: Pilot[None], name: str) -> None:
    pilot.app.screen.query_one(TabbedContent).active = name
    pilot.app.screen.query_one(NotePane).focus_inside()
    await pilot.pause()


async def test_the_newest_note_is_open_with_what_analysis_made_of_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        assert titles(pilot) == [KETTLE, CAT, TEA]
        assert opened(pilot) == KETTLE
        await wait_until(pilot, lambda: "preference" in screen_text(pilot))
        shown = screen_text(pilot)
        assert "2026-03-03 09:00" in shown
        assert "About The new kett" in shown
        assert "The, new" in shown
        assert "#tea" in shown
        assert "◆ scripted" in shown
        assert "3 notes" in shown


async def test_arrows_open_the_note_under_the_cursor(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await pilot.press("home")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE)


async def test_tags_are_counted_and_narrow_the_list(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        assert [line.split() for line in options(pilot, "#tags")] == [["3", "All", "notes"], ["2", "tea"], ["1", "cat"]]
        await pilot.press("s", "down", "down", "enter")
        await wait_until(pilot, lambda: titles(pilot) == [CAT])
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)


async def test_search_shows_hits_with_score_and_reason_and_escape_leads_back(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("slash")
        assert pilot.app.focused is pilot.app.screen.query_one(Input)
        await pilot.press(*"kettle", "enter")
        await wait_until(pilot, lambda: "by words (kettle)" in screen_text(pilot))
        assert titles(pilot)[0] == KETTLE
        row = listed(pilot).row_at(0)
        assert row is not None
        assert row.score is not None
        assert f"{row.score:.2f}" in screen_text(pilot)
        await wait_until(pilot, lambda: opened(pilot) == KETTLE and "by words" in said(pilot, "#about-found"))
        await pilot.press("escape")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        assert pilot.app.screen.query_one(Input).value == ""


async def test_browsing_and_searching_do_not_count_as_use(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("slash", *"kettle", "enter")
        await wait_until(pilot, lambda: "by words" in screen_text(pilot))
    assert [note.retrieval_count for note in memory.list()] == [0, 0, 0]


async def test_enter_on_the_list_moves_into_the_note(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("enter")
        assert pilot.app.screen.query_one(NotePane) in pilot.app.focused.ancestors
        await pilot.press("escape")
        assert pilot.app.focused is listed(pilot)


async def test_delete_undo_and_redo_each_say_what_they_did(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("d")
        await wait_until(pilot, lambda: titles(pilot) == [CAT, TEA] and opened(pilot) == CAT)
        assert f"Deleted “{KETTLE}”; u brings it back" in toasts(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        assert f"delete “{KETTLE}”" in toasts(pilot)
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: titles(pilot) == [CAT, TEA])
        assert "Redid operation" in toasts(pilot)


async def test_undoing_when_nothing_is_left_is_a_toast_not_a_traceback(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await pilot.press("u")
        await wait_until(pilot, lambda: "nothing left to undo" in toasts(pilot))


async def test_undoing_a_new_note_names_the_note_that_went(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [CAT, TEA])
        assert f"add “{KETTLE}”" in toasts(pilot)


async def test_pin_marks_the_note_and_pin_again_unmarks_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("p")
        await wait_until(pilot, lambda: "▪ pinned" in screen_text(pilot))
        await wait_until(pilot, lambda: bool((row := listed(pilot).row) and row.pinned))
        await pilot.press("p")
        await wait_until(pilot, lambda: "▪ pinned" not in screen_text(pilot))


async def test_an_empty_collection_says_how_to_begin(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        assert "Press n to write the first one" in hint(pilot)
        await pilot.press("d", "e", "p", "enter", "down", "end", "pagedown")
        assert empty.count() == 0
        assert "Delete" not in screen_text(pilot)
        await pilot.press("n", *"First", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "First")
        await wait_until(pilot, lambda: "Delete" in screen_text(pilot))


async def test_one_note_that_is_deleted_leaves_the_hint(empty: AgenticMemorySystem) -> None:
    empty.add(TEA)
    async with browsing(empty) as pilot:
        await pilot.press("d")
        await wait_until(pilot, lambda: "No notes yet" in hint(pilot))


async def test_notes_of_another_process_appear_by_themselves(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent:writer")
    async with browsing(memory) as pilot:
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        other.add("Written elsewhere", time="2026-03-09")
        await wait_until(pilot, lambda: titles(pilot) == ["Written elsewhere", KETTLE, CAT, TEA])
        assert opened(pilot) == TEA
        assert listed(pilot).cursor == 3


async def test_a_note_deleted_elsewhere_while_open_says_so(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        other.delete(memory.list()[0].id)
        await wait_until(pilot, lambda: "not here any more" in hint(pilot))
        assert titles(pilot) == [CAT, TEA]
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == TEA)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_chinese_and_emoji_stay_in_their_columns(memory: AgenticMemorySystem, size: tuple[int, int]) -> None:
    async with browsing(memory, size) as pilot:
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await wait_until(pilot, lambda: screen_text(pilot).count("芝麻是只六岁") > 1)
        shown = screen_text(pilot)
        rows = [line for line in shown.splitlines() if "03-0" in line and ("芝麻" in line or "kettle" in line.lower())]
        assert rows


async def test_a_small_terminal_offers_tags_on_demand(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (80, 24)) as pilot:
        assert not pilot.app.screen.query_one("#tags").display
        await pilot.press("s")
        await wait_until(pilot, lambda: pilot.app.screen.query_one("#tags").display)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not pilot.app.screen.query_one("#tags").display)


async def test_control_characters_in_a_note_never_reach_the_terminal(empty: AgenticMemorySystem) -> None:
    empty.add("Harmless\x1b]0;owned\x07 looking\x9b2J", tags=["a\x1b[31m"], context="c\x1b[2J")
    async with browsing(empty) as pilot:
        await wait_until(pilot, lambda: "c[2J" in screen_text(pilot))
        shown = screen_text(pilot)
        assert "Harmless" in shown
        assert not any(char in shown for char in "\x1b\x07\x9b")


async def test_a_long_collection_is_read_a_page_at_a_time(empty: AgenticMemorySystem) -> None:
    empty.add_notes([f"cat number {number}" for number in range(450)])
    async with browsing(empty) as pilot:
        assert listed(pilot).row_at(300) is None
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == "cat number 0")
        await wait_until(pilot, lambda: "450 notes" in screen_text(pilot))


async def test_brackets_in_notes_are_text_not_markup(empty: AgenticMemorySystem) -> None:
    empty.add("[bold]not bold[/bold] [[a]]", tags=["[red]"])
    async with browsing(empty) as pilot:
        await wait_until(pilot, lambda: "#[red]" in screen_text(pilot))
        assert "[bold]not bold[/bold]" in screen_text(pilot)
        await pilot.press("p")
        await wait_until(pilot, lambda: "[bold]not bold[/bold]" in toasts(pilot))

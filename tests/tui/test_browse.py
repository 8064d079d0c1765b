"""The start screen's list, key by key, on real collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_list import NoteList
from amem_tui.browse.note_pane import NotePane
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, screen_text, settled, titles, toasts, wait_until
from textual.events import MouseScrollDown
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.content import Content

    from amem.memory_system import AgenticMemorySystem


async def test_the_newest_note_is_open_with_what_analysis_made_of_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        assert titles(pilot) == [KETTLE, CAT, TEA]
        assert opened(pilot) == KETTLE
        await wait_until(pilot, lambda: "2026-03-03" in screen_text(pilot) and "#tea" in screen_text(pilot))
        shown = screen_text(pilot)
        assert "preference" in shown
        assert "About The new kett" in shown
        assert "The, new" in shown
        assert "#tea" in shown
        assert "◆ scripted" in shown
        assert "3 notes" in shown


@pytest.mark.thorough
async def test_arrows_open_the_note_under_the_cursor(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        listed(pilot).action_step(1)
        assert pilot.app.client.note == memory.list()[1].id
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await pilot.press("home", "down")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await pilot.press("home")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE)
        await pilot.press("j")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await pilot.press("k", "G")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        assert pilot.app.client.note == memory.list()[-1].id


async def test_a_step_of_the_cursor_draws_no_more_rows_than_it_changes(
    empty: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.add_notes([f"cat number {number}" for number in range(60)])
    drawn: list[int] = []
    draw = NoteList.content

    def counted(self: NoteList, place: int, part: int, width: int) -> Content:
        drawn.append(place)
        return draw(self, place, part, width)

    async with browsing(empty, (120, 24)) as pilot:
        await wait_until(pilot, lambda: opened(pilot) == "cat number 59")
        monkeypatch.setattr(NoteList, "content", counted)
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == "cat number 58")
        assert sorted(drawn) == [0, 1]
        region = listed(pilot).content_region
        grounds = [pilot.app.screen.get_style_at(region.x + 10, region.y + row).bgcolor for row in range(3)]
        assert grounds[0] == grounds[2] != grounds[1]
        drawn.clear()
        last = listed(pilot).seen[-1]
        listed(pilot).go(last + 1)
        await wait_until(pilot, lambda: opened(pilot) == f"cat number {58 - last}")
        assert drawn == [last + 1]  # what comes up
        assert f"cat number {58 - last}" in screen_text(pilot)


@pytest.mark.thorough
async def test_a_click_opens_a_note_a_double_click_steps_into_it_and_the_wheel_scrolls(
    empty: AgenticMemorySystem,
) -> None:
    empty.add_notes([f"cat number {number}" for number in range(60)])
    async with browsing(empty, (120, 24)) as pilot:
        await pilot.click(NoteList, offset=(12, 4))
        await wait_until(pilot, lambda: opened(pilot) == "cat number 56")
        await pilot.click(NoteList, offset=(12, 4), times=2)
        await wait_until(pilot, lambda: pilot.app.screen.query_one(NotePane).has_focus_within)
        await pilot._post_mouse_events([MouseScrollDown], NoteList, offset=(12, 4))
        await wait_until(pilot, lambda: listed(pilot).scroll_y > 0)
        assert opened(pilot) == "cat number 56"


async def test_search_shows_hits_with_score_and_reason_and_escape_leads_back(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("slash")
        assert pilot.app.focused is pilot.app.screen.query_one(Input)
        await pilot.press(*"kettle", "enter")
        await wait_until(pilot, lambda: "by words (kettle)" in screen_text(pilot))
        assert titles(pilot)[0] == KETTLE
        row = listed(pilot).entry_at(0)
        assert row is not None
        assert row.score is not None
        assert f"{row.score:.2f}" in screen_text(pilot)
        assert "Search “kettle”" in screen_text(pilot)
        await wait_until(pilot, lambda: opened(pilot) == KETTLE and "hits" in screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        assert pilot.app.screen.query_one(Input).value == ""


async def test_a_search_that_nothing_surely_answers_says_so_beside_its_hits(empty: AgenticMemorySystem) -> None:
    empty.add_notes([TEA, CAT, KETTLE])
    async with browsing(empty) as pilot:
        await pilot.press("slash", *"capital of France", "enter")
        await wait_until(pilot, lambda: "3 hits; nothing certain" in screen_text(pilot))


async def test_hits_far_below_the_best_are_left_out_and_said_until_the_question_is_asked_again(
    empty: AgenticMemorySystem,
) -> None:
    empty.add_notes([TEA, CAT, *(f"{words} number {n}" for n, words in enumerate(["bread", "rain", "train"] * 5))])
    scores = [hit.score for hit in empty.search("boiling green tea", 50, touch=False)]
    strong = max(3, sum(score >= 0.15 * scores[0] for score in scores))
    assert strong < len(scores)
    left = len(scores) - strong
    async with browsing(empty) as pilot:
        await pilot.press("slash", *"boiling green tea", "enter")
        await wait_until(pilot, lambda: f"{left} weaker: / enter shows them" in screen_text(pilot))
        assert listed(pilot).count == strong
        assert f"{strong} hits" in screen_text(pilot)
        assert titles(pilot)[0] == TEA
        await pilot.press("down")
        second = listed(pilot).line
        await pilot.press("slash", "enter")
        await wait_until(pilot, lambda: listed(pilot).count == len(scores))
        assert listed(pilot).line == second
        assert "weaker" not in screen_text(pilot)
        await pilot.press("slash", *"bread number", "enter")
        await wait_until(pilot, lambda: "Search “bread number”" in screen_text(pilot))
        assert listed(pilot).count < len(scores)


@pytest.mark.thorough
async def test_escape_from_a_search_leaves_the_cursor_on_the_note_that_is_open(empty: AgenticMemorySystem) -> None:
    empty.add_notes([f"{'walk' if number % 7 else 'swim'} number {number}" for number in range(70)])
    async with browsing(empty, (120, 24)) as pilot:
        await pilot.press("slash", *"swim", "enter")
        await wait_until(pilot, lambda: "Search" in screen_text(pilot) and "swim" in titles(pilot)[0])
        await pilot.press("down", "down")
        row = listed(pilot).line
        assert row is not None
        await pilot.press("escape")
        await wait_until(pilot, lambda: listed(pilot).count == 70)
        back = listed(pilot).line
        assert back is not None
        assert back.id == row.id
        assert listed(pilot).cursor in listed(pilot).seen
        await wait_until(pilot, lambda: opened(pilot) == row.title)


@pytest.mark.thorough
@pytest.mark.parametrize("again", ["escape", "backspace"])
async def test_where_nothing_was_found_the_cursor_comes_back_to_where_it_stood(
    empty: AgenticMemorySystem, again: str
) -> None:
    empty.add_notes([f"walk number {number}" for number in range(70)])
    async with browsing(empty, (120, 24)) as pilot:
        await pilot.press(*["down"] * 30, "f", *"zz")
        await wait_until(pilot, lambda: "Nothing was found." in hint(pilot))
        await pilot.press(*[again] * 2)
        await wait_until(pilot, lambda: listed(pilot).count == 70)
        assert listed(pilot).cursor == 30
        assert 30 in listed(pilot).seen
        await wait_until(pilot, lambda: opened(pilot) == "walk number 39")


@pytest.mark.thorough
async def test_a_search_can_be_left_with_the_arrow_and_put_in_another_order(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("slash", *"green tea", "down")
        await wait_until(pilot, lambda: "best first" in screen_text(pilot))
        assert pilot.app.focused is listed(pilot)
        await pilot.press("o")
        await wait_until(pilot, lambda: "newest first" in screen_text(pilot))
        assert [title for title in titles(pilot) if title != CAT] == [KETTLE, TEA]


async def test_o_cycles_through_the_orders_and_says_which(memory: AgenticMemorySystem) -> None:
    tea = memory.list()[-1]
    memory.update(tea.id, importance=1.0, timestamp="2027-01-01")
    async with browsing(memory) as pilot:
        assert titles(pilot) == [TEA, KETTLE, CAT]
        for words, first in (
            ("last written first", KETTLE),
            ("strongest first", TEA),
            ("most recalled first", KETTLE),
            ("most important first", TEA),
            ("newest first", TEA),
        ):
            await pilot.press("o")
            await wait_until(pilot, lambda words=words: words in screen_text(pilot))
            assert titles(pilot)[0] == first
            await wait_until(pilot, lambda first=first: opened(pilot) == first)


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


async def test_undoing_when_nothing_is_left_is_a_toast_not_a_traceback(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await pilot.press("u")
        await wait_until(pilot, lambda: "Nothing done from here is left to undo" in toasts(pilot))
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: "Nothing was undone from here" in toasts(pilot))


async def test_undoing_a_new_note_names_the_note_that_went(memory: AgenticMemorySystem) -> None:
    memory.add("The kettle was given away")
    async with browsing(memory) as pilot:
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        assert "addition of “The kettle was given away”" in toasts(pilot)


async def test_an_empty_collection_says_how_to_begin(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        assert "Press n to write the first one" in hint(pilot)
        await pilot.press("d", "e", "E", "p", "x", "y", "Y", "space", "A", "o", "enter", "down", "end", "pagedown")
        assert empty.count() == 0
        assert "Delete" not in screen_text(pilot)
        assert "No notes yet." in screen_text(pilot)
        empty.add("First")
        await wait_until(pilot, lambda: opened(pilot) == "First")
        await wait_until(pilot, lambda: "Delete" in screen_text(pilot))


async def test_a_small_terminal_shows_the_list_or_the_note(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (40, 12)) as pilot:
        assert not pilot.app.screen.query_one(NotePane).display
        assert listed(pilot).size.width >= 36
        assert not pilot.app.screen.query_one("#searching").display
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: pilot.app.screen.query_one(NotePane).display)
        assert not listed(pilot).display
        await wait_until(pilot, lambda: "芝麻是只六岁" in screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: listed(pilot).display and pilot.app.focused is listed(pilot))
        pilot.app.read_note(memory.list()[2].id)
        await wait_until(pilot, lambda: "Green tea at 80" in screen_text(pilot) and not listed(pilot).display)
        await pilot.press("escape")
        await wait_until(pilot, lambda: listed(pilot).display and listed(pilot).cursor == 2)
        await pilot.press("f", *"kettle")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE])
        assert "kettle" in screen_text(pilot).splitlines()[1]
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        assert not pilot.app.screen.query_one("#searching").display


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_chinese_and_emoji_stay_in_their_columns(memory: AgenticMemorySystem, size: tuple[int, int]) -> None:
    async with browsing(memory, size) as pilot:
        await pilot.press("down")
        await wait_until(pilot, lambda: opened(pilot) == CAT)
        await wait_until(pilot, lambda: "芝麻是只六岁" in screen_text(pilot))
        shown = screen_text(pilot)
        rows = [line for line in shown.splitlines() if "03-0" in line and ("芝麻" in line or "kettle" in line.lower())]
        assert rows


async def test_control_characters_in_a_note_never_reach_the_terminal(empty: AgenticMemorySystem) -> None:
    empty.add("Harmless\x1b]0;owned\x07 looking\x9b2J", tags=["a\x1b[31m"], context="c\x1b[2J")
    async with browsing(empty) as pilot:
        await wait_until(pilot, lambda: "c[2J" in screen_text(pilot))
        shown = screen_text(pilot)
        assert "Harmless" in shown
        assert not any(char in shown for char in "\x1b\x07\x9b")


@pytest.mark.thorough
async def test_a_hundred_thousand_notes_are_held_a_page_at_a_time(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=len(crowd.shelf())) as pilot:
        here = listed(pilot)
        assert f"{len(crowd.shelf()):,} notes" in screen_text(pilot)
        first = opened(pilot)
        assert here.entry_at(300) is None
        await pilot.press("end")
        await wait_until(pilot, lambda: opened(pilot) not in (first, None))
        assert here.entry_at(here.count - 1) is not None
        assert here.entry_at(50_000) is None
        last = opened(pilot)
        await pilot.press("pageup", "pageup", "up")
        await wait_until(pilot, lambda: opened(pilot) != last)
        here.scroll_to(y=50_000, animate=False)
        await wait_until(pilot, lambda: here.entry_at(50_000) is not None)
        assert sum(here.entry_at(place) is not None for place in range(here.count)) <= 1600


@pytest.mark.thorough
async def test_a_cursor_that_is_held_down_opens_only_where_it_rests(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=len(crowd.shelf())) as pilot:
        here = listed(pilot)
        for _ in range(430):
            here.action_step(1)
        assert here.line is None
        await wait_until(pilot, lambda: here.line is not None and pilot.app.client.note == here.line.id)
        await settled(pilot)
        assert here.cursor == 430
        assert here.entry_at(150) is None


@pytest.mark.thorough
async def test_however_fast_one_types_the_last_word_wins(crowd: AgenticMemorySystem) -> None:
    async with browsing(crowd, notes=len(crowd.shelf())) as pilot:
        words = crowd.cards(crowd.shelf(), 7, 8)[0].text.split()[:2]
        expected = len(crowd.shelf(starting=" ".join(words)))
        assert 0 < expected < listed(pilot).count
        await pilot.press("f")
        for text in ("a", "al", "b", "be", "g", words[0], " ".join(words)[:-1], "zebra", " ".join(words)):
            pilot.app.screen.query_one(Input).value = text
        await wait_until(pilot, lambda: listed(pilot).count == expected)
        await settled(pilot)
        assert listed(pilot).count == expected
        assert f"{expected:,} of " in screen_text(pilot)
        await pilot.press("enter", "A")
        await wait_until(pilot, lambda: f"{min(expected, 1000):,} marked" in screen_text(pilot))


async def test_brackets_in_notes_are_text_not_markup(empty: AgenticMemorySystem) -> None:
    empty.add("[bold]not bold[/bold] [[a]]", tags=["[red]"])
    async with browsing(empty) as pilot:
        await wait_until(pilot, lambda: "#[red]" in screen_text(pilot))
        assert "[bold]not bold[/bold]" in screen_text(pilot)
        await pilot.press("p")
        await wait_until(pilot, lambda: "[bold]not bold[/bold]" in toasts(pilot))

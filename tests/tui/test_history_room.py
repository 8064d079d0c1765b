"""The history of the open note: what each version changed, undoing what made it, rolling back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.dialogs import Lines, Question
from amem_tui.history import history_room as record
from amem_tui.history.history_room import HistoryScreen
from amem_tui.page import Page
from amem_tui.rooms import RoomBar
from conftest import KETTLE, TEA
from driving import browsing, opened, options, said, screen_text, settled, toasts, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

STRONG = "Green tea at 75 degrees, never quite boiling"


def tea_of(memory: AgenticMemorySystem) -> str:
    """The id of the note about tea, as added, edited by a person and by an agent: three versions."""
    id = memory.list()[-1].id
    memory.update(id, content=STRONG, tags=["tea", "hot"])
    memory.acting_as("agent:helper").update(id, tags=["tea", "green"])
    return id


async def enter(pilot: Pilot[None], id: str) -> None:
    """Open the note, then its history."""
    pilot.app.read_note(id)
    await wait_until(pilot, lambda: pilot.app.client.note == id)
    await pilot.press("h")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen) and bool(versions(pilot)))
    await settled(pilot)


def versions(pilot: Pilot[None]) -> list[str]:
    return options(pilot, "#version-list")


def chosen(pilot: Pilot[None]) -> str | None:
    return pilot.app.screen.query_one("#version-list", Lines).chosen


def shown(pilot: Pilot[None]) -> str:
    """All that stands beside the list, what is hidden for want of room included."""
    return " ".join(pilot.app.screen.query_one(Page).text.split())


async def test_versions_say_who_made_them_and_why_and_what_they_changed(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        lines = versions(pilot)
        assert len(lines) == 3
        assert "v3" in lines[0]
        assert "▲ helper" in lines[0]
        assert "● you" in lines[1]
        assert "edited: changed content, tags" in lines[1]
        assert "wrote" in lines[2]
        assert "tea, hot, green" in shown(pilot)
        await pilot.press("j")
        await wait_until(pilot, lambda: "Version 1 and 2" in screen_text(pilot))
        text = screen_text(pilot)
        before, after = next(line for line in text.splitlines() if "at 80 degrees" in line).split("at 80 degrees")
        assert "Green tea" in before
        assert "at 75 degrees" in after  # beside each other
        await pilot.press("down", "up", "k", "end")
        await wait_until(pilot, lambda: chosen(pilot) == "1")
        await wait_until(pilot, lambda: TEA in shown(pilot))  # what it was when it came
        await pilot.press("home")
        await wait_until(pilot, lambda: chosen(pilot) == "3")
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened(pilot) == STRONG)


@pytest.mark.thorough
async def test_a_version_is_compared_with_the_note_as_it_is_now(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await pilot.press("v")
        await wait_until(pilot, lambda: "Nothing differs" in shown(pilot))
        await pilot.press("end")
        await wait_until(pilot, lambda: "Version 1 and now" in screen_text(pilot))
        await wait_until(pilot, lambda: "content" in shown(pilot) and "tags" in shown(pilot))
        assert "tea, green" in shown(pilot)
        assert "hot" not in shown(pilot)
        await pilot.press("v")
        await wait_until(pilot, lambda: "Version 1 and now" not in screen_text(pilot))


async def test_rolling_back_asks_once_and_can_be_undone(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await pilot.press("r")  # nothing to roll back to: this is how it is
        await pilot.press("end", "r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
        assert "content, tags" in said(pilot, "#details")
        await pilot.press("n")
        await settled(pilot)
        assert len(memory.history(id)) == 3
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
        await pilot.press("y")
        await wait_until(pilot, lambda: "Back to version 1: set" in toasts(pilot))
        await wait_until(pilot, lambda: chosen(pilot) == "4")
        assert "rolled back: back to version 1" in versions(pilot)[0]
        note = memory.read(id)
        assert note is not None
        assert (note.content, note.tags) == (TEA, ["tea"])
        await pilot.press("u")
        await wait_until(pilot, lambda: chosen(pilot) == "5")
        note = memory.read(id)
        assert note is not None
        assert (note.content, note.tags) == (STRONG, ["tea", "green"])
        await pilot.press("r")  # an undo as such cannot be undone, nor rolled back to: it is how things are
        await pilot.press("u")
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: chosen(pilot) is not None and len(versions(pilot)) == 6)
        done = memory.history(id)[3].operation
        assert f"redid: rolled back: back to version 1 (operation {done})" in versions(pilot)[0]
        assert f"undid: rolled back: back to version 1 (operation {done})" in versions(pilot)[1]
        note = memory.read(id)
        assert note is not None
        assert note.content == TEA


@pytest.mark.thorough
async def test_undoing_a_version_says_what_later_work_it_left_alone(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await pilot.press("down", "u")
        await wait_until(pilot, lambda: "Left alone: tags of" in toasts(pilot))
        assert "Undone: " in toasts(pilot)
        note = memory.read(id)
        assert note is not None
        assert (note.content, note.tags) == (TEA, ["tea", "green"])


@pytest.mark.thorough
async def test_what_was_undone_elsewhere_meanwhile_is_refused_in_words(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    id = tea_of(memory)
    other = open_home()
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await pilot.press("down")
        await wait_until(pilot, lambda: chosen(pilot) == "2")
        other.undo(other.history(id)[1].operation)
        await wait_until(pilot, lambda: len(versions(pilot)) == 4)
        await settled(pilot)
        assert chosen(pilot) == "2"  # the cursor stays on what it was on
        await pilot.press("u")
        await wait_until(pilot, lambda: "is undone already" in toasts(pilot))


@pytest.mark.thorough
async def test_enter_and_a_second_click_open_the_note(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await pilot.click("#version-list", offset=(5, 3))
        await wait_until(pilot, lambda: chosen(pilot) == "2")
        assert isinstance(pilot.app.screen, HistoryScreen)
        await pilot.click("#version-list", offset=(5, 3))
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HistoryScreen))
        await enter(pilot, id)
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HistoryScreen))
        assert opened(pilot) == STRONG


async def test_a_proposal_that_was_accepted_says_how_sure_who_was(memory: AgenticMemorySystem) -> None:
    review = memory.reviews()[0]
    memory.accept(review.id)
    async with browsing(memory) as pilot:
        await enter(pilot, review.note)
        assert "50% sure" in versions(pilot)[0]
        assert "proposed by ◆ scripted, 50% sure" in shown(pilot)
        assert "How tea is made here" in shown(pilot)


async def test_without_an_open_note_the_room_says_what_to_do(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        await pilot.press("h")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await wait_until(pilot, lambda: "No note is open" in shown(pilot))
        await pilot.press("u", "r", "v", "w", "enter", "j")
        await settled(pilot)
        assert isinstance(pilot.app.screen, HistoryScreen)


@pytest.mark.thorough
async def test_the_history_of_a_note_that_is_deleted_and_then_destroyed_meanwhile(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    id = tea_of(memory)
    other = open_home()
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        other.delete(id)
        await wait_until(pilot, lambda: len(versions(pilot)) == 4)
        await wait_until(pilot, lambda: "deleted" in pilot.app.screen.query_one(RoomBar).render().plain)
        assert chosen(pilot) == "3"
        await pilot.press("home", "u")  # u takes the deletion back
        await wait_until(pilot, lambda: memory.read(id) is not None)
        other.purge(id)
        await wait_until(pilot, lambda: "destroyed for good" in shown(pilot))
        await pilot.press("u", "r", "enter")
        await settled(pilot)


@pytest.mark.thorough
async def test_a_long_text_is_shown_around_its_change_and_whole_on_request(memory: AgenticMemorySystem) -> None:
    id = memory.list()[-1].id
    long = " ".join(f"word{n}" for n in range(2_200)) + " 很长的笔记" * 200
    memory.update(id, content=long)
    memory.update(id, content=long.replace("word1000 ", "CHANGED "))
    assert len(long) > 18_000
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        await wait_until(pilot, lambda: "CHANGED" in screen_text(pilot))
        assert "characters …" in shown(pilot)
        assert "word3 " not in shown(pilot)
        await pilot.press("w")
        await wait_until(pilot, lambda: "word3 " in shown(pilot))
        await pilot.press("w")
        await wait_until(pilot, lambda: "word3 " not in shown(pilot))


async def test_of_very_many_versions_the_newest_are_listed_and_the_rest_is_said(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "MOST", 20)
    id = memory.list()[-1].id
    for place in range(25):
        memory.update(id, importance=place / 100)
    async with browsing(memory) as pilot:
        await enter(pilot, id)
        assert len(versions(pilot)) == 20
        assert "26 versions" in screen_text(pilot)
        assert "the newest 20" in screen_text(pilot)


async def test_in_a_small_terminal_the_change_stands_below_as_one_text(memory: AgenticMemorySystem) -> None:
    id = tea_of(memory)
    async with browsing(memory, size=(40, 12)) as pilot:
        await enter(pilot, id)
        await pilot.press("down")
        await wait_until(pilot, lambda: "Version 1 and 2" in screen_text(pilot))
        await pilot.press("tab")
        view = pilot.app.screen.query_one(Page)
        await wait_until(pilot, lambda: view.has_focus)
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: "8075 degrees" in screen_text(pilot))
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HistoryScreen))


@pytest.mark.thorough
async def test_kettle_opens_at_its_only_version(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await enter(pilot, memory.list()[0].id)
        assert len(versions(pilot)) == 1
        assert KETTLE in shown(pilot)

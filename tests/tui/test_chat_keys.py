"""The chat room key by key: chats, turns, notes by hand, what is typed, and small screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.browse_room import BrowseScreen
from amem_tui.chat.chat_room import ChatScreen
from chat_home import Home, Talker, aside, over, room, say, spoken, talking
from driving import opened, screen_text, toasts, wait_until
from textual import events
from textual.geometry import Offset
from textual.selection import Selection
from textual.widgets import Input

from amem.testing import FakeOllama

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

TEA = "Green tea at 80 degrees, never boiling"
CAT = "芝麻是只六岁的橘白猫，怕吸尘器 🐱"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    talker = Talker()
    with FakeOllama(talker) as ollama:
        made = Home(tmp_path, talker, ollama)
        yield made
        made.close()


def chatted(memory: AgenticMemorySystem, *questions: str) -> str:
    """A chat that was held before; its id."""
    with memory.assistant() as talk:
        for question in questions:
            talk.say(question)
        return talk.session


async def choosing(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda: bool(pilot.app.screen.query("#choices")))


async def test_chats_are_listed_resumed_and_begun(home: Home) -> None:
    memory = home.open()
    first = chatted(memory, "About tea?", "More tea?")
    second = chatted(memory, "About cats?")
    async with talking(memory) as pilot:
        assert room(pilot).session == second
        await pilot.press("escape", "s")
        await choosing(pilot)
        lines = screen_text(pilot)
        assert "About tea?" in lines
        assert "2 turns" in lines
        assert "2026-03-01 09:00" in lines
        await pilot.press("j", "k", "down", "enter")
        await wait_until(pilot, lambda: room(pilot).session == first)
        assert [asked for asked, _ in spoken(pilot)] == ["About tea?", "More tea?"]
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: room(pilot).session is None)
        assert "What you tell the assistant becomes notes" in screen_text(pilot)
        await say(pilot, "Something new.")
        assert room(pilot).session not in (first, second, None)
        await pilot.press("escape", "s")
        await choosing(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))


@pytest.mark.thorough
async def test_earlier_turns_are_looked_at_with_what_was_recalled_then(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    memory.add(CAT)
    chatted(memory, "How hot must green tea be?", *[f"Turn {number}?" for number in range(2, 15)], "芝麻怕什么？")
    async with talking(memory) as pilot:
        assert len(spoken(pilot)) == 12
        await wait_until(pilot, lambda: CAT in aside(pilot))
        await pilot.press("escape", "left_square_bracket")
        await wait_until(pilot, lambda: "turn 14" in str(room(pilot).panel.border_title))
        await pilot.press(*["left_square_bracket"] * 13)
        await wait_until(pilot, lambda: str(room(pilot).panel.border_title).partition("for ")[2] == "turn 1")
        assert len(spoken(pilot)) == 15
        await wait_until(pilot, lambda: TEA in aside(pilot))
        assert "How hot must green tea be?" in screen_text(pilot)
        await pilot.press("right_square_bracket")
        await wait_until(pilot, lambda: "turn 2" in str(room(pilot).panel.border_title))
        first = room(pilot).transcript.views[0]
        await pilot.press("home")
        await pilot.click(first, offset=(3, 0))
        await wait_until(pilot, lambda: str(room(pilot).panel.border_title).partition("for ")[2] == "turn 1")


@pytest.mark.thorough
async def test_a_click_on_how_many_turns_came_before_shows_some_of_them(home: Home) -> None:
    memory = home.open()
    chatted(memory, *[f"Turn {number}?" for number in range(1, 16)])
    async with talking(memory) as pilot:
        await pilot.press("escape", "home")
        await wait_until(pilot, lambda: "3 earlier turns" in screen_text(pilot))
        await pilot.click("#earlier")
        await wait_until(pilot, lambda: len(spoken(pilot)) == 15)
        assert "earlier turns" not in screen_text(pilot)


async def test_a_note_is_forgotten_from_the_panel_or_by_its_words_and_comes_back(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    cat = memory.add(CAT).id
    async with talking(memory) as pilot:
        await say(pilot, "How hot must green tea be?")
        await wait_until(pilot, lambda: TEA in aside(pilot))
        await pilot.press("escape", "p", "home", "d")
        await wait_until(pilot, lambda: "Forgot" in toasts(pilot))
        await wait_until(pilot, lambda: f"forgotten {TEA}" in aside(pilot))
        assert [note.content for note in memory.list()] == [CAT]
        await pilot.press("p", "u")
        await wait_until(pilot, lambda: memory.count() == 2)
        await pilot.press("d")
        await choosing(pilot)
        await pilot.press(*"xyzzy", "enter")
        await wait_until(pilot, lambda: "No note has these words" in screen_text(pilot))
        pilot.app.screen.query_one("#typed").value = "吸尘器"
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Which of these?" in screen_text(pilot))
        await pilot.press("enter")
        await wait_until(pilot, lambda: memory.read(cat) is None)


@pytest.mark.thorough
async def test_selected_words_are_remembered_as_they_are_and_u_takes_that_back(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["Water for green tea wants 80 degrees."]
    async with talking(memory) as pilot:
        await say(pilot, "How hot?")
        await pilot.press("escape")
        assert not room(pilot).check_action("remember", ())
        turn = room(pilot).transcript.views[0]
        line = next(n for n, each in enumerate(turn.text.split("\n")) if "Water" in each)
        room(pilot).selections = {turn: Selection(Offset(0, line), Offset(99, line))}
        await pilot.press("w")
        await wait_until(pilot, lambda: "Remembered" in toasts(pilot))
        assert [note.content for note in memory.list()] == ["Water for green tea wants 80 degrees."]
        await wait_until(pilot, lambda: "remembered" in aside(pilot))
        await pilot.press("u")
        await wait_until(pilot, lambda: memory.count() == 0)


@pytest.mark.thorough
async def test_the_answer_is_copied_and_links_in_it_open_notes_or_copy_addresses(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    home.talker.answers = [f"See [[{TEA}]], and [this](https://example.org/tea)."]
    async with talking(memory) as pilot:
        await say(pilot, "Where does it say so?")
        await pilot.press("escape", "y")
        assert pilot.app.clipboard == home.talker.answers[0]
        turn = room(pilot).transcript.views[0]
        row, line = next((row, line) for row, line in enumerate(turn.text.split("\n")) if "this" in line)
        await pilot.click(turn, offset=(2 + line.index("this"), row))
        await wait_until(pilot, lambda: pilot.app.clipboard == "https://example.org/tea")
        await pilot.click(turn, offset=(2 + line.index("Green"), row))
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: opened(pilot) == TEA)


@pytest.mark.thorough
async def test_many_lines_can_be_written_and_pasted_without_sending(home: Home) -> None:
    memory = home.open()
    async with talking(memory) as pilot:
        composer = room(pilot).composer
        await pilot.press(*"one", "ctrl+j", *"two", "shift+enter", *"three")
        assert composer.text == "one\ntwo\nthree"
        pilot.app.post_message(events.Paste("\nfour\r\nfive\x1b[31m"))
        await wait_until(pilot, lambda: "five" in composer.text)
        assert composer.text == "one\ntwo\nthree\nfour\nfive[31m"
        await pilot.press("enter")
        await over(pilot)
        assert spoken(pilot)[0][0].split("\n") == ["one", "two", "three", "four", "five[31m"]
        assert composer.text == ""
        await pilot.press("enter")
        assert len(spoken(pilot)) == 1
        await pilot.press("up", "up", "up", "down", "down", "x")
        assert composer.text == "x"


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_small_screens_show_one_thing_at_a_time_and_never_overflow(home: Home, size: tuple[int, int]) -> None:
    memory = home.open()
    memory.add(CAT)
    home.talker.answers = ["芝麻怕**吸尘器** 🐱。" * 20]
    async with talking(memory, size) as pilot:
        await say(pilot, "芝麻怕什么？🐱")
        await wait_until(pilot, lambda: "吸尘器" in screen_text(pilot))
        assert not room(pilot).panel.region.area
        await pilot.press("escape", "p")
        await wait_until(pilot, lambda: bool(room(pilot).panel.region.area))
        await wait_until(pilot, lambda: "芝麻" in screen_text(pilot))
        assert not room(pilot).composer.region.area
        await pilot.press("escape")
        await wait_until(pilot, lambda: bool(room(pilot).composer.region.area))
        await pilot.press("p", "p")
        await wait_until(pilot, lambda: bool(room(pilot).composer.region.area))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


async def test_with_nothing_in_it_the_room_says_what_it_is_for(home: Home) -> None:
    async with talking(home.open()) as pilot:
        shown = screen_text(pilot)
        assert "What you tell the assistant becomes notes" in shown
        assert "0 notes" in shown
        await pilot.press("escape", "s")
        await choosing(pilot)
        assert "There is no chat yet" in screen_text(pilot)


@pytest.mark.thorough
async def test_while_one_writes_the_palette_offers_what_has_a_letter(home: Home) -> None:
    async with talking(home.open()) as pilot:
        assert "Incognito" not in screen_text(pilot)
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: bool(pilot.app.screen.query(Input)))
        await pilot.press(*"incogn")
        await wait_until(pilot, lambda: "Incognito" in screen_text(pilot))
        await pilot.pause(0.3)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "INCOGNITO" in screen_text(pilot))
        assert room(pilot).conversation.incognito


@pytest.mark.thorough
async def test_a_line_of_the_panel_is_opened_by_a_click_and_a_note_deleted_meanwhile_is_said(home: Home) -> None:
    memory = home.open()
    tea = memory.add(TEA).id
    memory.add(CAT)
    async with talking(memory) as pilot:
        await say(pilot, "How hot must green tea be?")
        await wait_until(pilot, lambda: TEA in aside(pilot))
        memory.delete(tea)
        lines = room(pilot).panel.text.splitlines()
        row = next(place for place, line in enumerate(lines) if TEA[:12] in line)
        await pilot.click(room(pilot).panel, offset=(6, row + 1))
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: "Deleted by" in screen_text(pilot))


async def test_slash_commands_work_as_in_the_shell(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    memory.add(CAT)
    async with talking(memory) as pilot:
        await say(pilot, "/help")
        await wait_until(pilot, lambda: "/remember TEXT" in screen_text(pilot))
        await say(pilot, "/remember 我对芒果过敏。")
        await wait_until(pilot, lambda: "我对芒果过敏。" in aside(pilot))
        await say(pilot, "/undo")
        await wait_until(pilot, lambda: memory.count() == 2)
        await say(pilot, "/forget 吸尘器")
        await choosing(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: [note.content for note in memory.list()] == [TEA])
        await say(pilot, "/wy")
        await wait_until(pilot, lambda: "did you mean /why?" in screen_text(pilot))
        assert spoken(pilot) == []
        await say(pilot, "//etc is a folder.")
        assert spoken(pilot)[0][0] == "/etc is a folder."
        await say(pilot, "/incognito")
        await wait_until(pilot, lambda: "INCOGNITO" in screen_text(pilot))
        await say(pilot, "/quit")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))

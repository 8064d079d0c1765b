"""The chat room: answers as they are written, what they rest on, what was learnt, and every way it may end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.browse_room import BrowseScreen
from chat_home import Home, Talker, aside, ending, over, room, say, spoken, talking
from driving import opened, said, screen_text, settled, toasts, wait_until

from amem.conversation.session import Conversation
from amem.storage.chats import TurnState
from amem.testing import FakeOllama, Fault, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

TEA = "Green tea at 80 degrees, never boiling"
CAT = "芝麻是只六岁的橘白猫，怕吸尘器 🐱"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    talker = Talker()
    with FakeOllama(talker) as ollama:
        made = Home(tmp_path, talker, ollama)
        yield made
        made.close()


async def test_words_appear_before_the_answer_is_complete_and_the_whole_turn_is_kept(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    words = [f"word{number}" for number in range(60)]
    home.talker.answers = [" ".join(words)]
    home.ollama.fault, home.ollama.pace = Fault.TRICKLE, 0.05
    async with talking(memory) as pilot:
        await say(pilot, "Tell me about tea.", wait=False)
        await wait_until(pilot, lambda: "word3" in screen_text(pilot))
        assert room(pilot).answering is not None
        assert "word59" not in screen_text(pilot)
        assert "Stop the answer" in screen_text(pilot)
        home.ollama.pace = 0
        await over(pilot)
        assert spoken(pilot)[0][0] == "Tell me about tea."
        assert spoken(pilot)[0][1].split() == words
        assert "ollama/llama3.2" in screen_text(pilot)
        assert "1 turn" in screen_text(pilot)
        (turn,) = memory.assistant(session=room(pilot).session, incognito=True).turns()
        assert (turn.state, turn.answer) == (TurnState.ANSWERED, " ".join(words))


def test_the_room_counts_the_notes_that_a_search_looks_at(home: Home) -> None:
    memory = home.open()
    old, new = memory.add(TEA), memory.add(CAT)
    memory.supersede(old.id, new.id)
    assert Conversation(memory).answering().notes == 1


async def test_the_panel_says_what_was_recalled_and_why_and_opens_the_note(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    memory.add(CAT)
    async with talking(memory) as pilot:
        assert "Notes that come to mind" in aside(pilot).replace("\n", " ")
        await say(pilot, "How hot must green tea be?")
        await wait_until(pilot, lambda: TEA in aside(pilot))
        lines = aside(pilot)
        assert "Shown to the model, best first" in lines
        assert "by words (" in lines.replace("\n  ", " ")
        score = next(each.score for each in room(pilot).transcript.views[-1].recalled if each.text == TEA)
        assert f"{score:.2f} {TEA}" in lines
        await pilot.press("escape", "p")
        assert room(pilot).panel.has_focus
        await pilot.press("home", "j", "k", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: opened(pilot) == TEA)


@pytest.mark.thorough
async def test_what_only_memory_could_know_and_does_not_is_said_before_the_answer(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    async with talking(memory) as pilot:
        await say(pilot, "What is my sister's name?")
        assert "memory" in room(pilot).transcript.views[0].notice
        await wait_until(pilot, lambda: "Not in memory" in aside(pilot))


async def test_what_was_learnt_is_shown_and_u_takes_it_back(home: Home) -> None:
    memory = home.open(chat_learning="turn")
    async with talking(memory) as pilot:
        await say(pilot, "My sister Wen lives in Lisbon.")
        await wait_until(pilot, lambda: "My sister Wen lives in Lisbon." in aside(pilot))
        assert "remembered" in aside(pilot)
        assert memory.count() == 1
        await pilot.press("escape", "u")
        await wait_until(pilot, lambda: "taken back" in aside(pilot))
        assert "Undone: " in toasts(pilot)
        assert memory.count() == 0
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: "remembered" in aside(pilot))
        assert memory.count() == 1


@pytest.mark.thorough
async def test_escape_stops_the_answer_then_leaves_the_input_then_the_room(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["one two three " * 40]
    home.ollama.fault, home.ollama.pace = Fault.TRICKLE, 0.1
    async with talking(memory) as pilot:
        await say(pilot, "Count.", wait=False)
        await wait_until(pilot, lambda: "two" in screen_text(pilot))
        room(pilot).composer.text = "and this"
        await pilot.press("enter")
        assert "still being written" in toasts(pilot)
        assert room(pilot).composer.text == "and this"
        await pilot.press("escape")
        await over(pilot)
        assert ending(pilot) == "The answer was stopped"
        assert room(pilot).composer.has_focus
        (turn,) = memory.assistant(session=room(pilot).session, incognito=True).turns()
        assert (turn.state, turn.error) == (TurnState.INTERRUPTED, "")
        assert turn.answer.startswith("one two")
        await pilot.press("escape")
        assert not room(pilot).composer.has_focus
        await pilot.press("i")
        assert room(pilot).composer.has_focus
        await pilot.press("escape", "enter")
        assert room(pilot).composer.has_focus
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))


@pytest.mark.thorough
async def test_a_model_that_hangs_can_be_stopped_and_the_interface_stays_awake(home: Home) -> None:
    memory = home.open()
    home.ollama.fault = Fault.SLOW
    async with talking(memory) as pilot:
        await say(pilot, "Are you there?", wait=False)
        await wait_until(pilot, lambda: "waiting for the model" in ending(pilot))
        await pilot.press(*"typing on")
        assert room(pilot).composer.text == "typing on"
        await pilot.press("escape")
        await over(pilot)
        assert ending(pilot) == "The answer was stopped"


@pytest.mark.thorough
async def test_the_last_chat_goes_on_after_the_browser_was_closed(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["The first answer.", "The second."]
    async with talking(memory) as pilot:
        await say(pilot, "First?")
        session = room(pilot).session
    again = home.open()
    async with talking(again) as pilot:
        assert room(pilot).session == session
        await wait_until(pilot, lambda: "The first answer." in screen_text(pilot))
        await pilot.press("up")
        assert room(pilot).composer.text == "First?"
        await pilot.press("down")
        assert room(pilot).composer.text == ""
        await say(pilot, "Second?")
        assert room(pilot).session == session
        assert [turn.question for turn in again.assistant(session=session, incognito=True).turns()] == [
            "First?",
            "Second?",
        ]


@pytest.mark.thorough
async def test_a_turn_that_was_cut_off_by_a_kill_is_shown_as_such_and_can_be_asked_again(home: Home) -> None:
    memory = home.open()
    with memory.parts.store.write() as session:
        session.chats.begin("killed")
        session.chats.ask("killed", "Was I answered?", session.now)
    async with talking(memory) as pilot:
        await wait_until(pilot, lambda: "No answer yet" in ending(pilot))
        await pilot.press("escape", "a")
        await over(pilot)
        assert spoken(pilot)[-1] == ("Was I answered?", "All right.")


async def test_no_model_is_said_at_once_memory_answers_meanwhile_and_asking_again_finds_it_back(home: Home) -> None:
    memory = home.open()
    memory.add(TEA)
    home.ollama.stop()
    async with talking(memory) as pilot:
        await wait_until(pilot, lambda: "no Ollama answers at" in said(pilot, "#problem"))
        assert "ollama serve" in said(pilot, "#problem").lower()
        await say(pilot, "How hot must green tea be?")
        assert "No model answered" in ending(pilot)
        await wait_until(pilot, lambda: TEA in aside(pilot))
        ((question, answer),) = spoken(pilot)
        assert question == "How hot must green tea be?"
        assert TEA in answer, "memory answers by itself"
        home.ollama.start()
        await pilot.press("f5")
        await over(pilot)
        assert spoken(pilot)[-1] == ("How hot must green tea be?", "All right.")
        assert not room(pilot).query_one("#problem").has_class("-said")


@pytest.mark.thorough
async def test_what_memory_holds_stands_in_place_of_an_answer_and_still_does_after_a_restart(home: Home) -> None:
    memory = home.open()
    allergic = "我对虾和蟹过敏"
    memory.add(allergic)
    home.ollama.stop()

    def told(pilot: Pilot[None]) -> str:
        return room(pilot).transcript.views[-1].notice + "\n" + ending(pilot)

    async with talking(memory) as pilot:
        await say(pilot, "我对什么过敏？")
        before = told(pilot)
        await wait_until(pilot, lambda: allergic in aside(pilot))
        beside = aside(pilot)
        ((_, answer),) = spoken(pilot)
        assert "虾" in answer
    assert "No model answered" in before
    assert "not in memory" not in before.lower()
    assert "came to mind" in beside.lower()
    assert "shown to the model" not in beside.lower()
    assert "not in memory" not in beside.lower()
    async with talking(home.open()) as pilot:
        await wait_until(pilot, lambda: allergic in aside(pilot))
        assert told(pilot).strip() == before.strip()
        assert aside(pilot) == beside


@pytest.mark.thorough
async def test_a_missing_model_names_the_command_that_fetches_it_and_another_can_be_chosen(home: Home) -> None:
    memory = home.open(llm_model="qwen3:4b")
    async with talking(memory) as pilot:
        assert "amem models pull qwen3:4b" in said(pilot, "#problem")
        await pilot.press("escape", "m")
        await wait_until(pilot, lambda: bool(pilot.app.screen.query("#choices")))
        await wait_until(pilot, lambda: "llama3.2:latest" in screen_text(pilot))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "llama3.2:latest" in said(pilot, "#who"))
        await say(pilot, "Hello.")
        assert spoken(pilot)[-1] == ("Hello.", "All right.")
        assert home.ollama.asked("/api/chat")[-1]["model"] == "llama3.2:latest"


@pytest.mark.thorough
async def test_however_a_model_fails_it_is_said_and_nothing_freezes(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["A long answer. " * 20]
    faults = {Fault.EMPTY: "answered with nothing", Fault.FAILING: "broke off", Fault.ERROR: "terminated"}
    async with talking(memory) as pilot:
        for fault, words in faults.items():
            home.ollama.fault = fault
            await say(pilot, "Well?")
            assert words in ending(pilot)
            assert room(pilot).query_one("#problem").has_class("-said") == (fault is not Fault.FAILING)
        home.ollama.fault = None
        await pilot.press("f5")
        await over(pilot)
        assert spoken(pilot)[-1][1].startswith("A long answer.")
        assert not room(pilot).query_one("#problem").has_class("-said")


@pytest.mark.thorough
async def test_incognito_is_seen_all_the_time_and_stores_nothing(home: Home) -> None:
    memory = home.open(chat_learning="turn")
    async with talking(memory) as pilot:
        await pilot.press("escape", "x")
        await wait_until(pilot, lambda: "INCOGNITO" in screen_text(pilot))
        await say(pilot, "My sister Wen lives in Lisbon.")
        assert spoken(pilot)[-1][1] == "All right."
        assert "INCOGNITO" in screen_text(pilot)
        assert memory.assistant(incognito=True).sessions() == []
        assert memory.log() == []
        await pilot.press("escape", "x")
        await wait_until(pilot, lambda: "INCOGNITO" not in screen_text(pilot))
        await say(pilot, "My brother Bo lives in Porto.")
        assert [each.turns for each in memory.assistant(incognito=True).sessions()] == [1]


@pytest.mark.thorough
async def test_a_secret_is_read_by_the_model_and_not_stored(home: Home) -> None:
    memory = home.open()
    async with talking(memory) as pilot:
        await say(pilot, "my password is hunter2secret, remember that")
        assert "hunter2secret" in str(home.ollama.asked("/api/chat")[-1])
        (turn,) = memory.assistant(session=room(pilot).session, incognito=True).turns()
        assert "hunter2secret" not in turn.question


@pytest.mark.thorough
async def test_leaving_the_room_does_not_stop_the_answer_and_its_end_is_announced(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["a b c d e f g h " * 12]
    home.ollama.fault, home.ollama.pace = Fault.TRICKLE, 0.05
    async with talking(memory) as pilot:
        await say(pilot, "Go on.", wait=False)
        await wait_until(pilot, lambda: "a b c" in screen_text(pilot))
        pilot.app.visit("browse")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, BrowseScreen))
        await wait_until(pilot, lambda: "Answered; c shows it" in toasts(pilot))
        await pilot.press("c")
        await wait_until(pilot, lambda: spoken(pilot)[-1][1].split() == list("abcdefgh") * 12)


@pytest.mark.thorough
async def test_closing_in_the_middle_of_an_answer_keeps_what_there_is(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["a b c d e f g h " * 60]
    home.ollama.fault, home.ollama.pace = Fault.TRICKLE, 0.5
    async with talking(memory) as pilot:
        await say(pilot, "Go on.", wait=False)
        await wait_until(pilot, lambda: "a b c" in screen_text(pilot))
    again = home.open()
    (chat,) = again.assistant(incognito=True).sessions()
    (turn,) = again.assistant(session=chat.id, incognito=True).turns()
    assert turn.state is TurnState.INTERRUPTED
    assert turn.answer.startswith("a b c")


@pytest.mark.thorough
async def test_what_another_window_says_in_the_same_chat_is_shown(home: Home) -> None:
    memory = home.open()
    async with talking(memory) as pilot:
        await say(pilot, "Here.")
        await pilot.press(*"But")
        with home.open().assistant(session=room(pilot).session) as elsewhere:
            elsewhere.say("And here, from elsewhere.")
        await wait_until(pilot, lambda: [asked for asked, _ in spoken(pilot)] == ["Here.", "And here, from elsewhere."])
        await wait_until(pilot, lambda: spoken(pilot)[-1][1] == "All right.")
        assert "2 turns" in screen_text(pilot)
        assert room(pilot).composer.has_focus
        await pilot.press(*" here", "enter")
        await over(pilot)
        assert [asked for asked, _ in spoken(pilot)][-1] == "But here"


@pytest.mark.thorough
async def test_a_question_asked_in_another_window_is_shown_before_its_answer(home: Home) -> None:
    memory = home.open()
    async with talking(memory) as pilot:
        await say(pilot, "Here.")
        with home.open().assistant(session=room(pilot).session) as elsewhere:
            pieces = elsewhere.stream("芝麻几岁了？")
            next(pieces)
            await wait_until(pilot, lambda: [asked for asked, _ in spoken(pilot)] == ["Here.", "芝麻几岁了？"])
            assert "another program is answering it" in ending(pilot)
            list(pieces)
            await wait_until(pilot, lambda: spoken(pilot)[-1][1] == "All right.")
            await wait_until(pilot, lambda: ending(pilot) == "")


@pytest.mark.thorough
async def test_an_answer_being_written_is_not_pushed_away_by_what_another_window_says(home: Home) -> None:
    memory = home.open()
    async with talking(memory) as pilot:
        await say(pilot, "Here.")
        words = " ".join(f"word{number}" for number in range(300))
        home.talker.answers = [words]
        home.ollama.fault, home.ollama.pace = Fault.TRICKLE, 0.1
        await say(pilot, "Go on.", wait=False)
        await wait_until(pilot, lambda: "word1" in screen_text(pilot))
        with home.open().assistant(
            session=room(pilot).session, chat=lambda: ScriptedChat("From elsewhere.")
        ) as elsewhere:
            elsewhere.say("Who is there?")
        await wait_until(pilot, lambda: room(pilot).missed)
        assert len(spoken(pilot)) == 2
        home.ollama.pace = 0
        await over(pilot)
        await wait_until(pilot, lambda: spoken(pilot)[2:] == [("Who is there?", "From elsewhere.")])
        assert spoken(pilot)[1][1].split() == words.split()


@pytest.mark.thorough
async def test_turns_of_another_window_leave_alone_what_is_being_read(home: Home) -> None:
    memory = home.open()
    home.talker.answers = ["\n\n".join(f"Line {number}" for number in range(60))]
    async with talking(memory) as pilot:
        await say(pilot, "Tell me all.")
        await pilot.press("escape", "p")
        room(pilot).transcript.scroll_to(y=5, animate=False)
        await wait_until(pilot, lambda: room(pilot).transcript.scroll_y == 5)
        with home.open().assistant(session=room(pilot).session) as elsewhere:
            elsewhere.say("And here, from elsewhere.")
        await wait_until(pilot, lambda: len(spoken(pilot)) == 2)
        await wait_until(pilot, lambda: bool(spoken(pilot)[1][1]))
        await settled(pilot)
        assert room(pilot).transcript.scroll_y == 5
        assert "for turn 1" in str(room(pilot).panel.border_title)


@pytest.mark.thorough
async def test_text_cannot_drive_the_terminal_nor_vanish_as_markup(home: Home) -> None:
    memory = home.open()
    memory.add("[bold red]Tea[/] \x1b[31mnote\x07 <script>")
    home.talker.answers = ["\x1b]0;owned\x07[red]not red[/red] <b>not bold</b> [x](javascript:alert) \u202etxt"]
    async with talking(memory) as pilot:
        await say(pilot, "Tea [blink]note[/blink]?")
        shown = screen_text(pilot)
        assert "[red]not red[/red] <b>not bold</b>" in shown
        assert "[blink]note[/blink]" in shown
        await wait_until(pilot, lambda: "[bold red]Tea[/]" in aside(pilot))
        assert not any(char in screen_text(pilot) for char in "\x1b\x07\u202e")


async def test_a_refused_question_comes_back_to_the_input(home: Home) -> None:
    memory = home.open(max_note_chars=100)
    async with talking(memory) as pilot:
        await say(pilot, "long " * 40)
        assert room(pilot).composer.text.startswith("long long")
        assert room(pilot).transcript.views == []
        assert "100" in toasts(pilot)


@pytest.mark.thorough
async def test_a_long_answer_is_followed_to_its_end_unless_one_scrolls_up(home: Home) -> None:
    memory = home.open()
    home.talker.answers = [
        "\n\n".join(f"Paragraph {number} says a few words." for number in range(600)) + "\n\nThe end."
    ]
    async with talking(memory) as pilot:
        await say(pilot, "Write much.")
        await wait_until(pilot, lambda: "The end." in screen_text(pilot))
        await pilot.press("escape", "k", "k", "k")
        await wait_until(pilot, lambda: "The end." not in screen_text(pilot))
        await pilot.press("home")
        await wait_until(pilot, lambda: "Paragraph 0 " in screen_text(pilot))
        await pilot.press("j", "j", "j")
        await wait_until(pilot, lambda: "Write much." not in screen_text(pilot))

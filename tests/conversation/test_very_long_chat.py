"""A chat of thousands of turns: a turn costs no more than in a chat of hundreds, and what is far back is summed up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from chatting import assistant, open_memory

from amem.conversation.context_window import SMALLEST_TURN, Past, fit
from amem.storage.chats import Learning, Turn, TurnState
from amem.storage.rows import time_text
from amem.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.conversation.assistant import Assistant

TURNS = 3_000
WINDOW = 2_048


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with open_memory(tmp_path, llm_context=WINDOW, chat_learning="off") as memory:
        yield memory


def talked(memory: AgenticMemorySystem, turns: int) -> str:
    """A chat of so many turns in the database; a note sums up its first ten."""
    chat = f"chat-of-{turns}"
    with memory.parts.store.write() as session:
        session.chats.begin(chat)
        key = session.value("SELECT key FROM sessions WHERE id = :chat", chat=chat)
        row = "INSERT INTO turns (session, number, at, question, answer, state, learning, recalled)"
        session.connection.executemany(
            f"{row} VALUES (?, ?, ?, ?, 'Noted.', 'answered', 'done', ?)",
            [
                (key, number, time_text(session.now + timedelta(seconds=number)), f"Buoy {number} is red.", "[]")
                for number in range(1, turns + 1)
            ],
        )
    note = memory.add_note("They spoke of the first ten buoys.")
    with memory.parts.store.write() as session:
        session.chats.summed_up([turn.key for turn in session.chats.turns(chat)[:10]], note)
    return chat


class Read:
    """Counts the turns that are read from the database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turns = 0
        self._made = Turn.__init__
        monkeypatch.setattr(Turn, "__init__", lambda *given, **named: self._count(*given, **named))

    def _count(self, *given: Any, **named: Any) -> None:
        self.turns += 1
        self._made(*given, **named)


def prompt_of(talk: Assistant, chat: ScriptedChat) -> str:
    talk.say("Which colour has buoy 7?")
    return "\n".join(message.content for message in chat.conversations[-1])


def test_a_turn_of_a_chat_of_thousands_reads_no_more_turns_than_the_window_can_hold(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = ScriptedChat(["Red."] * 4)
    talk = assistant(memory, chat, session=talked(memory, TURNS))
    read = Read(monkeypatch)
    prompt = prompt_of(talk, chat)
    assert read.turns <= WINDOW // SMALLEST_TURN + 10
    assert f"Buoy {TURNS} is red." in prompt
    assert "They spoke of the first ten buoys." in prompt
    assert "Buoy 7 is red." not in prompt
    (shown,) = [each for each in talk.why() if each.part == "episode"]
    assert shown.injected


def test_learning_from_a_turn_reads_what_is_near_it_and_what_no_episode_sums_up(memory: AgenticMemorySystem) -> None:
    chat = talked(memory, 200)
    with memory.parts.store.read() as session:
        everything = session.chats.turns(chat)
        assert [turn.number for turn in session.chats.turns(chat, last=3, before=100)] == [97, 98, 99]
        assert session.chats.open_turns(chat) == everything[10:]
        assert session.chats.episodes(chat, before=5) == session.chats.episodes(chat, before=999)
        assert session.chats.episodes(chat, before=1) == []
        assert {turn.state for turn in everything} == {TurnState.ANSWERED}
        assert {turn.learning for turn in everything} == {Learning.DONE}


def test_no_turn_takes_less_room_than_the_smallest() -> None:
    room = 2_000
    past = [Past(number, "a", "b") for number in range(1, 1_000)]
    fitted = fit(window=room, answer=0, system="s", question="q", past=past)
    assert 0 < len(fitted.messages) // 2 - 1 <= room // SMALLEST_TURN

"""A chat with a model server on which everything goes wrong: what the user sees, and what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chatting import assistant, open_memory

from amem.llm.ollama_chat import OllamaChat
from amem.storage.chats import TurnState
from amem.testing import FakeOllama, Fault, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem import AgenticMemorySystem

ANSWERED, INTERRUPTED, UNANSWERED = TurnState.ANSWERED, TurnState.INTERRUPTED, TurnState.UNANSWERED

#: What becomes of a turn, whatever the model writes: words are an answer, and a server that fails is told of.
OUTCOMES = {
    Fault.ERROR: UNANSWERED,
    Fault.FAILING: INTERRUPTED,
    Fault.BUSY: UNANSWERED,
    Fault.LIMITED: UNANSWERED,
    Fault.DENIED: UNANSWERED,
    Fault.RESET: UNANSWERED,
    Fault.CUT: INTERRUPTED,
    Fault.SLOW: UNANSWERED,
    Fault.NOT_OLLAMA: UNANSWERED,
    Fault.EMPTY: UNANSWERED,
    Fault.UNCLOSED: UNANSWERED,
    Fault.NOISE: INTERRUPTED,
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with open_memory(tmp_path / "home") as made:
        made.add("My landlord is called Amélia.", kind="fact")
        yield made


@pytest.mark.thorough
@pytest.mark.parametrize("fault", list(Fault))
def test_no_fault_costs_a_word_or_raises(memory: AgenticMemorySystem, fault: Fault) -> None:
    with FakeOllama("Your landlord is called Amélia, I am sure of it.", fault=fault, pace=0.01) as ollama:
        talk = assistant(memory, OllamaChat("llama3.2", host=ollama.host, timeout=0.5 if fault is Fault.SLOW else 30))
        reply = talk.say("What is my landlord called?")
    assert reply.state is OUTCOMES.get(fault, ANSWERED)
    assert bool(reply.error) == (reply.state is not ANSWERED)
    assert bool(reply.hint) == bool(reply.error)
    assert reply.recalled[0].text == "My landlord is called Amélia."
    if fault in (Fault.THINKING, Fault.UNCLOSED):
        assert "<think>" not in reply.text
    (turn,) = talk.turns()
    assert (turn.question, turn.answer, turn.state) == ("What is my landlord called?", reply.text, reply.state)
    assert memory.count() == 1
    # What nobody answered from is not counted as used.
    assert {note.retrieval_count for note in memory.list()} == {1 if reply.text.strip() else 0}


def test_what_a_terminal_would_obey_and_no_text_may_hold_is_taken_out_of_answers(memory: AgenticMemorySystem) -> None:
    reply = assistant(memory, ScriptedChat("red \x1b[31m and \ud800 and \x00.")).say("hello")
    assert reply.text == "red \ufffd[31m and \ufffd and \ufffd."
    assert reply.answered

"""Stopping an answer from another thread, and what an operation taught."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model
from chatting import FakeLearner, assistant, open_memory

from amem import AgenticMemorySystem, load_settings
from amem.conversation.chat_learning import LearnedKind
from amem.errors import OperationNotFound
from amem.storage.chats import TurnState
from amem.testing import FakeOllama, Fault, HashEmbedder, ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path

    from amem.conversation.assistant import Assistant


def test_an_answer_that_is_stopped_between_two_words_is_kept_as_far_as_it_came() -> None:
    with open_memory(None) as memory:
        talk = assistant(memory, ScriptedChat("one two three four"))
        stopped, heard = threading.Event(), []
        for piece in talk.stream("Count.", stopped=stopped):
            heard.append(piece)
            if piece.text.strip() == "two":
                stopped.set()
        reply = heard[-1].reply
        assert reply is not None
        assert reply.state is TurnState.INTERRUPTED
        assert reply.text.startswith("one two")
        assert "four" not in reply.text
        assert reply.error == ""
        (turn,) = talk.turns()
        assert (turn.state, turn.answer, turn.error) == (TurnState.INTERRUPTED, reply.text, "")


def test_a_model_that_hangs_is_left_at_once_and_asked_again_afterwards(tmp_path: Path) -> None:
    stopped, hangs = threading.Event(), [True]

    def answer(request: dict[str, Any]) -> Any:
        if request.get("format"):
            # What was said is learnt from in the background, whenever its turn comes.
            return judging_model(request)
        if hangs.pop():
            stopped.set()
            return Fault.SLOW
        return "Here I am."

    with FakeOllama(answer) as ollama:
        settings = load_settings(tmp_path, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
        with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64)) as memory:
            talk: Assistant = memory.assistant(chat=memory.chat_model(cancelled=stopped))
            replies = [piece.reply for piece in talk.stream("Are you there?", stopped=stopped)]
            assert [(reply.state, reply.error) for reply in replies if reply] == [(TurnState.INTERRUPTED, "")]
            stopped.clear()
            hangs.append(False)
            assert talk.say("And now?").text == "Here I am."
            talk.close(0)


def test_closing_the_stream_of_a_model_closes_the_models_too() -> None:
    closed = threading.Event()

    class Watched(ScriptedChat):
        def stream(self, messages, *, temperature=0.7):
            try:
                yield from super().stream(messages, temperature=temperature)
            finally:
                closed.set()

    with open_memory(None) as memory:
        stopped = threading.Event()
        pieces = assistant(memory, Watched("one two three")).stream("Count.", stopped=stopped)
        next(pieces)
        next(pieces)
        stopped.set()
        assert next(pieces).reply is not None
        assert closed.is_set()


def test_what_a_turn_taught_names_the_notes_and_what_takes_each_back() -> None:
    with open_memory(None) as memory:
        talk = assistant(memory, ScriptedChat("Noted."), learner=FakeLearner(memory.parts.store))
        talk.say("My cat is called Sesame.")
        assert talk.wait(10)
        (turn,) = talk.turns()
        assert turn.learnt_by is not None
        found = talk.taught(turn.learnt_by)
        assert [(each.text, each.lesson, each.undone) for each in found.notes] == [
            ("My cat is called Sesame.", LearnedKind.REMEMBERED, False)
        ]
        memory.undo(turn.learnt_by)
        found = talk.taught(turn.learnt_by)
        assert found.undone
        assert [(each.text, each.undone) for each in found.notes] == [("My cat is called Sesame.", True)]
        talk.close(0)


def test_forgetting_and_a_purge_are_told_of_as_well() -> None:
    with open_memory(None) as memory:
        talk = assistant(memory, ScriptedChat("Well."))
        receipt = talk.remember("The key lies under the mat.")
        assert receipt.operation is not None
        assert talk.forget(receipt.id).note == receipt.id
        (forgot, *_) = memory.log()
        (hidden,) = talk.taught(forgot.id).notes
        assert (hidden.lesson, hidden.text) == (LearnedKind.FORGOTTEN, "The key lies under the mat.")
        memory.purge(receipt.id)
        assert [each.text for each in talk.taught(receipt.operation).notes] in ([], [""])
        with pytest.raises(OperationNotFound):
            talk.taught(99)

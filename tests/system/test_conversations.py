"""Conversations through the one front door: remembered, expanded, undone, learnt in the background, asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _judging_model import judging_model

from amem import load_settings
from amem.errors import ServiceUnavailable
from amem.note import Role
from amem.testing import FakeOllama, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

SAID = [
    {"role": "user", "content": "I moved to Porto last week and work at the harbour now.", "at": "2026-03-01T09:00"},
    {"role": "assistant", "content": "Congratulations! Porto is a fine place.", "at": "2026-03-01T09:01"},
    {"role": "user", "content": "My sister Inês is allergic to walnuts.", "at": "2026-03-01T09:02"},
]


def with_ollama(open_memory: Open, home: Path, ollama: FakeOllama) -> AgenticMemorySystem:
    settings = load_settings(
        home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host, llm_retries=0, timezone="UTC"
    )
    return open_memory(settings=settings, analyst=None)


def test_a_conversation_is_remembered_expanded_and_undone_as_one(open_memory: Open, home: Path):
    with FakeOllama(judging_model) as ollama:
        memory = with_ollama(open_memory, home, ollama)
        report = memory.remember(SAID, conversation="a chat")
    assert report.stored >= 1
    (episode,) = report.episodes
    assert [message.content for message in memory.expand(episode)] == [each["content"] for each in SAID]
    assert memory.expand(episode)[1].role is Role.ASSISTANT
    for receipt in report.learnt:
        assert memory.sources([receipt.id])[receipt.id]
        assert memory.memories[receipt.id].enrichment == "done"
    assert memory.undo().undone == report.operation
    assert len(memory.memories) == 0
    memory.redo()
    assert memory.read(episode) is not None


def test_learning_that_is_not_waited_for_is_done_in_the_background(open_memory: Open, home: Path):
    with FakeOllama(judging_model) as ollama:
        memory = with_ollama(open_memory, home, ollama)
        report = memory.remember(SAID, conversation="a chat", wait=False)
        assert (report.waiting, report.stored) == (1, 0)
        assert memory.wait(60)
        assert len(memory.memories) > 1
        assert {str(note.enrichment) for note in memory.memories.values()} == {"done"}
    memory.undo()
    assert len(memory.memories) == 0


def test_what_a_model_failed_to_learn_is_learnt_by_enrich(open_memory: Open, home: Path):
    with FakeOllama(judging_model) as ollama:
        memory = with_ollama(open_memory, home, ollama)
    report = memory.remember(SAID, conversation="a chat")
    assert report.degraded
    assert report.stored >= 1, "the rules stand in"
    with FakeOllama(judging_model) as ollama:
        later = with_ollama(open_memory, home, ollama)
        assert later.enrich().remaining == 0


def test_an_answer_cites_its_notes_and_says_when_memory_holds_none(open_memory: Open, home: Path):
    with FakeOllama(judging_model) as ollama:
        memory = with_ollama(open_memory, home, ollama)
        id = memory.add_note("Inês is allergic to walnuts.")
        answer = memory.answer("What is Inês allergic to?")
        assert [each.note for each in answer.citations] == [id]
        assert memory.answer("Which submarine did Napoleon command?").in_memory is False
    gone = memory.answer("What is Inês allergic to?")
    assert "walnuts" in gone.text, "the fact answers where no model does"
    assert gone.in_memory is True
    assert gone.error
    assert [hit.id for hit in gone.hits] == [id]


def test_an_assistant_recalls_and_learns(open_memory: Open, home: Path):
    with FakeOllama(judging_model) as ollama:
        memory = with_ollama(open_memory, home, ollama)
        memory.add_note("Inês is allergic to walnuts.")
        with memory.assistant() as assistant:
            reply = assistant.say("I bought a red bicycle in Faro for 200 euros.")
            assert reply.text
            assert assistant.wait(60)
    assert any("bicycle" in note.content for note in memory.memories.values())


def test_a_worker_learns_from_what_another_process_left(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(fail=ServiceUnavailable("down"), local=False), background=False)
    report = memory.remember(SAID, conversation="a chat", wait=False)
    assert report.waiting == 1
    assert memory.wait(0)
    from amem.analysts.rules import OfflineAnalyst

    open_memory(analyst=OfflineAnalyst()).work(once=True)
    assert len(memory.memories) > 1

"""A question whose notes a model puts in order before it answers from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model
from chatting import open_memory

from amem import AgenticMemorySystem
from amem.conversation.questions import Answer, Asker
from amem.errors import ServiceUnavailable
from amem.llm.answering import Answerer, Orderer
from amem.settings import Settings
from amem.testing import FakeOllama, FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.protocols import ChatModel

QUESTION = "When does the ferry leave?"
NOTES = [
    "The ferry to Barreiro is orange.",
    "A ferry ticket is bought on the pier when one arrives.",
    "Boats cross at nine.",
    "The ferry may be late when it is foggy.",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with open_memory(tmp_path / "home", FrozenClock("2026-03-01T10:00")) as made:
        for note in NOTES:
            made.add(note)
        yield made


def ask(memory: AgenticMemorySystem, ordering: ChatModel, k: int = 2) -> tuple[Answer, ScriptedChat]:
    answering = ScriptedChat({"in_memory": True, "answer": "At nine [1].", "cites": [1]})
    asker = Asker(
        memory,
        memory.parts.store,
        memory.parts.clock,
        answerer=lambda: Answerer(answering),
        orderer=lambda: Orderer(ordering),
    )
    return asker.ask(QUESTION, k), answering


def named(memory: AgenticMemorySystem, text: str) -> str:
    """The handle under which a note is shown."""
    hits = [hit.content for hit in memory.search_agentic(QUESTION, 20)]
    return f"n{hits.index(text) + 1}"


def test_the_note_that_the_model_puts_first_is_the_first_to_answer_from(memory: AgenticMemorySystem) -> None:
    plain = [hit.content for hit in memory.search_agentic(QUESTION, 2)]
    assert "Boats cross at nine." not in plain

    boats = named(memory, "Boats cross at nine.")
    answer, answering = ask(memory, ScriptedChat({"best": [boats]}))
    assert [hit.content for hit in answer.hits] == ["Boats cross at nine.", plain[0]]
    assert answer.citations[0].note == answer.hits[0].id
    assert "[1] <<<" in answering.prompts[0]
    assert answer.hits[0].explanation.notes == (f"put 1st by scripted/chat, {boats[1:]}th before",)
    assert answer.hits[1].explanation.notes == ()
    assert answer.notes == ()


def test_what_the_model_does_not_name_follows_in_the_order_it_was_found_in(memory: AgenticMemorySystem) -> None:
    found = [hit.content for hit in memory.search_agentic(QUESTION, 4)]
    answer, _ = ask(memory, ScriptedChat({"best": ["n3", "n77"]}), k=4)
    assert [hit.content for hit in answer.hits] == [found[2], found[0], found[1], found[3]]
    none, _ = ask(memory, ScriptedChat({"best": []}), k=4)
    assert [hit.content for hit in none.hits] == found


@pytest.mark.parametrize(
    ("ordering", "why"),
    [
        (ScriptedChat(ServiceUnavailable("no Ollama answers")), "no Ollama answers"),
        (ScriptedChat("nonsense"), "answered twice outside its schema"),
        (ScriptedChat({"best": ["n50", "n51"]}), "names no note that was shown"),
    ],
)
def test_a_model_that_cannot_order_leaves_the_notes_as_they_are_and_that_is_said(
    memory: AgenticMemorySystem, caplog: pytest.LogCaptureFixture, ordering: ScriptedChat, why: str
) -> None:
    found = [hit.id for hit in memory.search_agentic(QUESTION, 2)]
    answer, _ = ask(memory, ordering)
    assert [hit.id for hit in answer.hits] == found
    assert answer.text == "At nine [1]."
    (note,) = answer.notes
    assert note.startswith("not put in order by a model: ")
    assert why in note
    assert why in caplog.text
    assert json.loads(json.dumps(answer.to_dict()))["notes"] == [note]


def test_only_the_notes_that_are_answered_from_count_as_used(memory: AgenticMemorySystem) -> None:
    ask(memory, ScriptedChat({"best": ["n4"]}))
    assert sum(note.retrieval_count for note in memory.list()) == 2


def test_a_question_without_evidence_asks_no_model_for_an_order(tmp_path: Path) -> None:
    with open_memory(tmp_path / "empty") as memory:
        ordering = ScriptedChat([])
        assert ask(memory, ordering)[0].in_memory is False
    assert ordering.prompts == []


@pytest.mark.parametrize(
    ("setting", "asked", "calls"), [(False, None, 1), (False, True, 2), (True, None, 2), (True, False, 1)]
)
def test_the_setting_or_whoever_asks_decides_and_what_it_costs_is_counted(
    tmp_path: Path, setting: bool, asked: bool | None, calls: int
) -> None:
    with FakeOllama(judging_model) as ollama:
        model = {"llm_backend": "ollama", "ollama_host": ollama.host}
        settings = Settings(home=tmp_path, llm_rerank=setting, timezone="UTC", **model)
        memory = AgenticMemorySystem(
            settings=settings, embedder=HashEmbedder(), analyst=ScriptedAnalyst(), clock=FrozenClock("2026-03-01T10:00")
        )
        with memory:
            memory.add("The ferry leaves at nine.")
            memory.add("The ferry is orange.")
            assert memory.answer(QUESTION, rerank=asked).in_memory
            with memory.parts.store.read() as session:
                (spent,) = session.spending.report(1)
    assert (len(ollama.requests), spent.calls) == (calls, calls)
    assert spent.tokens_in > 0

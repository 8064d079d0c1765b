"""One question, one answer with citations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from chatting import open_memory

from amem.conversation.asking import Answer, Asker
from amem.conversation.forgetting import meant
from amem.errors import InvalidInput, ServiceUnavailable
from amem.llm.answering import Answerer
from amem.testing import FakeOllama, FrozenClock, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import ChatModel, Embedder


@pytest.fixture
def memory(tmp_path: Path, minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    with open_memory(tmp_path / "home", FrozenClock("2026-03-01T10:00"), embedder=minilm) as made:
        made.add("My landlord is called Amélia.", time="2026-02-01T09:00")
        made.add("The ferry to Barreiro leaves at nine.")
        made.add("房东养了一只叫芝麻的猫。")
        yield made


def ask(memory: AgenticMemorySystem, question: str, chat: ChatModel, **how: Any) -> Answer:
    return Asker(memory, memory._store, memory._clock, answerer=lambda: Answerer(chat), **how).ask(question)


def says(text: str, *cites: int, known: bool = True) -> ScriptedChat:
    return ScriptedChat({"in_memory": known, "answer": text, "cites": list(cites)})


def test_an_answer_names_the_notes_it_rests_on(memory: AgenticMemorySystem) -> None:
    chat = says("She is called Amélia [1].", 1)
    answer = ask(memory, "What is my landlord called?", chat)
    assert (answer.text, answer.in_memory, answer.model) == ("She is called Amélia [1].", True, "scripted/chat")
    (cited,) = answer.citations
    assert (cited.number, cited.note) == (1, answer.hits[0].id)
    assert cited.line.startswith("[2026-02-01, ")
    assert cited.line.endswith("My landlord is called Amélia.")
    assert cited.line in chat.prompts[0]


def test_a_chinese_question_is_answered_in_chinese(memory: AgenticMemorySystem) -> None:
    answer = ask(memory, "房东的猫叫什么名字？", says("芝麻 [1]。", 1))
    assert (answer.text, answer.citations[0].note) == ("芝麻 [1]。", answer.hits[0].id)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When is my sister's wedding?", "That is not in memory."),
        ("What's my passport number?", "That is not in memory."),
        ("我的血型是什么？", "记忆里没有这件事。"),
        ("我妹妹什么时候结婚？", "记忆里没有这件事。"),
    ],
)
def test_a_question_without_evidence_asks_no_model(memory: AgenticMemorySystem, question: str, said: str) -> None:
    chat = says("In May [1].", 1)
    answer = ask(memory, question, chat)
    assert (answer.text, answer.in_memory, answer.citations) == (said, False, ())
    assert chat.prompts == []
    assert {note.retrieval_count for note in memory.list()} == {0}


@pytest.mark.parametrize("chat", [says("", known=False), says("Surely Ana.")])
def test_a_model_that_finds_nothing_in_the_notes_or_cites_none_has_no_answer(
    memory: AgenticMemorySystem, chat: ScriptedChat
) -> None:
    answer = ask(memory, "What colour is my landlord's car?", chat)
    assert (answer.text, answer.in_memory) == ("That is not in memory.", False)
    assert answer.hits


def test_when_no_model_answers_the_hits_are_still_there(memory: AgenticMemorySystem) -> None:
    answer = ask(memory, "What is my landlord called?", ScriptedChat(ServiceUnavailable("no Ollama", hint="start it")))
    assert (answer.text, answer.in_memory, answer.error, answer.hint) == ("", None, "no Ollama", "start it")
    assert answer.hits[0].content == "My landlord is called Amélia."

    def none_found() -> Answerer:
        raise ServiceUnavailable("no chat model was found", hint="start Ollama")

    asker = Asker(memory, memory._store, memory._clock, answerer=none_found)
    assert asker.ask("What is my landlord called?").hint == "start Ollama"


def test_only_what_a_model_was_shown_counts_as_used(memory: AgenticMemorySystem) -> None:
    ask(memory, "What is my landlord called?", says("Amélia [1].", 1), touch=False)
    assert {note.retrieval_count for note in memory.list()} == {0}
    ask(memory, "What is my landlord called?", says("Amélia [1].", 1))
    assert max(note.retrieval_count for note in memory.list()) == 1


def test_an_answer_is_json(memory: AgenticMemorySystem) -> None:
    told = json.loads(json.dumps(ask(memory, "What is my landlord called?", says("Amélia [1].", 1)).to_dict()))
    assert told["citations"][0]["number"] == 1
    assert told["hits"][0]["content"] == "My landlord is called Amélia."
    assert (told["in_memory"], told["error"]) == (True, "")


def test_an_empty_memory_holds_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path / "home") as memory:
        assert ask(memory, "What is my landlord called?", says("x [1]", 1)).in_memory is False


@pytest.mark.parametrize("question", ["", " \n", None, 3, "half \ud800", pytest.param("字" * 20_001, id="long")])
def test_what_is_no_question_is_refused(memory: AgenticMemorySystem, question: Any) -> None:
    with pytest.raises(InvalidInput):
        ask(memory, question, says("never"))


@pytest.mark.parametrize(
    ("words", "worded", "first"),
    [
        ("zzzz", True, None),
        ("咖啡", True, None),
        ("ferry", True, "The ferry to Barreiro leaves at nine."),
        ("猫", True, "房东养了一只叫芝麻的猫。"),
        ("boat departure time", False, "The ferry to Barreiro leaves at nine."),
    ],
)
def test_words_to_forget_by_mean_a_note_only_where_it_has_them_or_comes_near(
    memory: AgenticMemorySystem, words: str, worded: bool, first: str | None
) -> None:
    found = meant(memory, memory._store, words)
    assert found.worded is worded
    assert next((each.text for each in found.candidates), None) == first


def test_over_the_wire(memory: AgenticMemorySystem) -> None:
    from amem.llm.ollama_chat import OllamaChat

    said = {"in_memory": True, "answer": "Amélia [1].", "cites": [1]}
    with FakeOllama(said) as ollama:
        answer = ask(memory, "What is my landlord called?", OllamaChat("llama3.2", host=ollama.host))
    assert (answer.text, answer.model) == ("Amélia [1].", "ollama/llama3.2")

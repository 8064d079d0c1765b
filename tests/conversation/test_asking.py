"""One question, one answer with citations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from chatting import open_memory

from amem.analysts.rules import OfflineAnalyst
from amem.conversation.questions import Answer, Asker
from amem.conversation.revocation import meant
from amem.errors import InvalidInput, ServiceUnavailable
from amem.llm.answering import Answerer
from amem.note import Source
from amem.retrieval.question import asks_for_several
from amem.testing import FakeOllama, FrozenClock, ScriptedChat
from amem.writing.intake import NewNote

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
    return Asker(memory, memory.parts.store, memory.parts.clock, answerer=lambda: Answerer(chat), **how).ask(question)


def says(text: str, *cites: int, known: bool = True) -> ScriptedChat:
    return ScriptedChat({"in_memory": known, "answer": text, "cites": list(cites)})


def test_an_answer_names_the_notes_it_rests_on(memory: AgenticMemorySystem) -> None:
    chat = says("She is called Amélia [1].", 1)
    answer = ask(memory, "What is my landlord called?", chat)
    assert (answer.text, answer.in_memory, answer.model) == ("She is called Amélia [1].", True, "scripted/chat")
    (cited,) = answer.citations
    assert (cited.number, cited.note) == (1, answer.hits[0].id)
    assert cited.line.startswith("[fact, said by you on 2026-02-01]")
    assert cited.line.endswith("My landlord is called Amélia.")
    assert cited.line in chat.prompts[0]


def test_what_an_agent_or_a_file_told_is_not_cited_as_said_by_you(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    memory.acting_as("agent:claude-code").add("The backup disk is called Pelican.", time="2026-02-02T09:00")
    memory.acting_as("agent").add("The spare key hangs behind the oven.")
    ship = NewNote("The sail of the boat is red.", source=Source("1", "file", None, "logs/boat.txt:3", None, None, "…"))
    memory.add_notes([ship])
    memory.add("Ben says the pool opens at six.", speaker="Ben")
    cited = {
        ask(memory, question, says("[1]", 1)).citations[0].line.partition("]")[0].partition(", ")[2]
        for question in (
            "What is the backup disk called?",
            "备份盘 Pelican 叫什么？",
            "Where does the spare key hang?",
            "钥匙 spare key 在哪？",
            "What colour is the sail of the boat?",
            "船帆 sail boat 是什么颜色？",
            "When does the pool open?",
            "What is my landlord called?",
        )
    }
    assert cited == {
        "noted by claude-code on 2026-02-02",
        "claude-code于 2026-02-02 记",
        "noted by an agent on 2026-03-01",
        "智能体于 2026-03-01 记",
        "from boat.txt, 2026-03-01",
        "出自 boat.txt，2026-03-01",
        "said by Ben on 2026-03-01",
        "said by you on 2026-02-01",
    }


def test_a_chinese_question_is_answered_in_chinese(memory: AgenticMemorySystem) -> None:
    answer = ask(memory, "房东的猫叫什么名字？", says("芝麻 [1]。", 1))
    assert (answer.text, answer.citations[0].note) == ("芝麻 [1]。", answer.hits[0].id)


def test_the_model_is_told_how_well_the_notes_support_an_answer(memory: AgenticMemorySystem) -> None:
    asked = {
        "What is my landlord called?": ("strong", "Support for an answer: strong."),
        "What's my passport number?": ("weak", "Support for an answer: weak."),
        "我的血型是什么？": ("weak", "对答案的支持：弱。"),
    }
    for question, (support, line) in asked.items():
        chat = says("", known=False)
        answer = ask(memory, question, chat)
        assert answer.support == support
        assert line in chat.prompts[0]
        assert "My landlord is called Amélia." in chat.prompts[0], "no note is kept from the model"
    assert answer.notes[0].startswith("有些笔记的语言")


def test_where_nothing_supports_an_answer_it_says_so_and_a_model_may_still_find_one(
    tmp_path: Path, minilm: Embedder
) -> None:
    with open_memory(tmp_path / "home", FrozenClock("2026-03-01T10:00"), embedder=minilm) as memory:
        memory.add("My landlord is called Amélia.")
        memory.add("The ferry to Barreiro leaves at nine.")
        for question in ("What's my passport number?", "What is the capital of France?"):
            answer = Asker(memory, memory.parts.store, memory.parts.clock, answerer=no_model).ask(question)
            assert (answer.text, answer.in_memory, answer.support) == ("That is not in memory.", False, "none")
            assert answer.hits
        chat = says("She is [1].", 1)
        assert ask(memory, "What's my passport number?", chat).in_memory is True
        assert "Support for an answer: none." in chat.prompts[0]


def no_model() -> Answerer:
    raise ServiceUnavailable("no chat model was found", hint="start Ollama")


@pytest.mark.parametrize("chat", [says("", known=False), says("Surely Ana.")])
def test_a_model_that_finds_nothing_in_the_notes_or_cites_none_has_no_answer(
    memory: AgenticMemorySystem, chat: ScriptedChat
) -> None:
    answer = ask(memory, "What colour is my landlord's car?", chat)
    assert (answer.text, answer.in_memory) == ("That is not in memory.", False)
    assert answer.hits


def test_without_a_model_the_notes_answer_themselves(memory: AgenticMemorySystem) -> None:
    quoted = "“My landlord is called Amélia.” (2026-02-01) [1]"
    answer = ask(memory, "What is my landlord called?", ScriptedChat(ServiceUnavailable("no Ollama", hint="start it")))
    assert (answer.text, answer.in_memory, answer.model) == (quoted, True, "")
    assert (answer.error, answer.hint) == ("no Ollama", "start it"), "a model was named, and failed"
    assert [(each.number, each.note) for each in answer.citations] == [(1, answer.hits[0].id)]

    asker = Asker(memory, memory.parts.store, memory.parts.clock, answerer=no_model)
    answer = asker.ask("What is my landlord called?")
    assert (answer.text, answer.error) == (quoted, "")
    assert answer.notes == (), "a model has nothing to add to a certain answer"
    assert answer.to_dict()["support"] == "strong"
    assert answer.to_dict()["confidence"] == answer.confidence >= 0.5
    uncertain = asker.ask("What colour is my landlord's car?")
    assert uncertain.text.startswith("Nothing certain; nearest, though far off: “My landlord is called Amélia.”")
    assert uncertain.in_memory is None
    assert uncertain.notes[-1] == "answered without a model: no chat model was found"
    assert asker.ask("我的房东开什么车？").notes[-1].startswith("没有用模型回答：")


def test_without_a_model_a_fact_is_said_as_a_sentence(tmp_path: Path, minilm: Embedder) -> None:
    with open_memory(
        tmp_path / "home", FrozenClock("2026-03-01T10:00"), embedder=minilm, analyst=OfflineAnalyst()
    ) as memory:
        memory.add("I live in Porto.", time="2024-02-01T09:00")
        memory.add("I moved to Lisbon.", time="2026-01-05T09:00")
        memory.add("I am allergic to nuts and shrimp.", time="2025-04-01T09:00")
        memory.add("我妹妹住在杭州。", time="2025-06-01T09:00")
        asker = Asker(memory, memory.parts.store, memory.parts.clock, answerer=no_model)
        said = {
            "Where do I live?": "You live in Lisbon, since 2026-01-05 [1].",
            "我住在哪里？": "你住在Lisbon（2026-01-05 起） [1]。",
            "What am I allergic to?": "You are allergic to nuts and shrimp, since 2025-04-01 [1].",
            "我妹妹住在哪里？": "你的妹妹住在杭州（2025-06-01 起） [1]。",
        }
        assert {question: asker.ask(question).text for question in said} == said


def test_only_what_a_model_was_shown_counts_as_used(memory: AgenticMemorySystem) -> None:
    ask(memory, "What is my landlord called?", says("Amélia [1].", 1), touch=False)
    assert {note.retrieval_count for note in memory.list()} == {0}
    ask(memory, "What is my landlord called?", says("Amélia [1].", 1))
    assert max(note.retrieval_count for note in memory.list()) == 1


def test_a_question_for_several_things_is_answered_from_more_notes(memory: AgenticMemorySystem) -> None:
    for number in range(18):
        memory.add(f"Ferry {number} crosses the river from pier {number}.")
    one = ask(memory, "Where does the ferry cross the river?", says("At a pier [1].", 1))
    several = ask(memory, "Which ferries do cross the river?", says("Many [1].", 1))
    assert (len(one.hits), len(several.hits)) == (8, 16)
    assert len(memory.answer("Which ferries do cross the river?", 3).hits) == 3


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which recipes have I tried this winter?", True),
        ("What musical instruments do the twins play?", True),
        ("What are the names of all the pets?", True),
        ("List our suppliers.", True),
        ("How many times did we go to the lake?", True),
        ("我看过哪些电影？", True),
        ("去年一共去了几次上海？", True),
        ("Which bus did I take?", False),
        ("What class does Mira teach?", False),
        ("What does my sister do?", False),
        ("When is the invoice due?", False),
        ("我的猫叫什么名字？", False),
    ],
)
def test_a_question_for_several_things_is_told_from_one_for_a_single_thing(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


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
    found = meant(memory, memory.parts.store, words)
    assert found.worded is worded
    assert next((each.text for each in found.candidates), None) == first


def test_over_the_wire(memory: AgenticMemorySystem) -> None:
    from amem.llm.ollama_chat import OllamaChat

    said = {"in_memory": True, "answer": "Amélia [1].", "cites": [1]}
    with FakeOllama(said) as ollama:
        answer = ask(memory, "What is my landlord called?", OllamaChat("llama3.2", host=ollama.host))
    assert (answer.text, answer.model) == ("Amélia [1].", "ollama/llama3.2")

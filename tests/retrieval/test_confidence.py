"""How sure a hit is, and how well hits support an answer, on the demo's notes with the real embedding model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.interop.demo_data import demo_folder, demo_questions
from amem.query import Query
from amem.retrieval.confidence import CALIBRATION, Signs, Support, best_support, supporting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.protocols import Embedder

ANSWERED = [
    "Who is my manager?",
    "What is my cat called?",
    "Which marathon did I run?",
    "When did I move to Lisbon?",
    "Which phone do I have?",
    "What database does the buoy catalogue use?",
    "What film did I like?",
    "Am I allowed to eat shrimp?",
    "Why did the cat lose weight?",
    "What did Pieter say?",
    "我的猫叫什么名字？",
    "芝麻吃什么药？",
    "我妈妈和我去了哪里旅行？",
    "我的膝盖怎么了？",
    "量子退火是什么？",
    "我最近读了什么书？",
    "第一次马拉松的成绩是多少？",
    "我的邻居吹什么乐器？",
]
UNANSWERABLE = [
    "When is my sister's wedding?",
    "What's my passport number?",
    "Which car do I drive?",
    "What did I name my sailing boat?",
    "Who is my dentist?",
    "What was my grade in chemistry?",
    "Where did I park the motorbike?",
    "Did I tell you about my divorce?",
    "What is my favourite opera?",
    "How old is my daughter?",
    "我的血型是什么？",
    "我妹妹什么时候结婚？",
    "我女儿几岁了？",
    "我最喜欢的歌剧是哪一部？",
    "我的牙医叫什么？",
    "我在挪威小屋的无线密码是什么？",
    "我有没有跟你说过离婚的事？",
    "我化学考了多少分？",
    "我的帆船叫什么名字？",
]


@pytest.fixture(scope="module")
def demo(minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    """The demo's notes."""
    with AgenticMemorySystem(llm_backend="offline", embedder=minilm) as memory:
        lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
        memory.add_notes([{"content": each["content"], "time": each["time"]} for each in map(json.loads, lines)])
        yield memory


def support(memory: AgenticMemorySystem, question: str) -> Support:
    return best_support(memory.ask(Query(question, 8, touch=False)))


def test_what_the_notes_answer_is_never_denied(demo: AgenticMemorySystem) -> None:
    asked = [*(each.question for each in demo_questions()), *ANSWERED]
    assert [question for question in asked if support(demo, question) is Support.NONE] == []


def test_what_no_note_answers_is_not_certain(demo: AgenticMemorySystem) -> None:
    certain = [question for question in UNANSWERABLE if support(demo, question) is Support.STRONG]
    assert len(certain) <= len(UNANSWERABLE) // 10, certain


def test_a_hit_says_how_sure_it_is_whatever_else_is_asked_for(demo: AgenticMemorySystem) -> None:
    question = "What film did I like?"
    few, many = demo.search(question, 3, touch=False), demo.search(question, 20, touch=False)
    of_many = {hit.id: hit.confidence for hit in many}
    assert [hit.confidence for hit in few] == pytest.approx([of_many[hit.id] for hit in few])
    assert all(0.0 <= hit.confidence <= 1.0 for hit in many)
    surest = max(many, key=lambda hit: hit.confidence)
    assert surest["confidence"] == surest.to_dict()["confidence"] == surest.confidence
    assert supporting(many)[0] == surest.id
    assert surest.explanation.to_dict()["signs"]["held"] > 0
    assert json.loads(json.dumps(surest.to_dict()))["support"] == str(surest.support)


def test_a_minimum_confidence_leaves_out_what_hardly_answers(demo: AgenticMemorySystem) -> None:
    for question in ("What is the capital of France?", "法国的首都是哪里？"):
        assert len(demo.search(question, 5, touch=False)) == 5
        assert demo.search(question, 5, touch=False, minimum_confidence=0.5) == []
        assert demo.search_agentic(question, 5, touch=False, minimum_confidence=0.5) == []
    (only,) = demo.search("我对什么过敏？", 5, touch=False, minimum_confidence=0.8)
    assert "虾" in only.content
    called = demo.tools().call("memory_search", {"query": "我对什么过敏？", "minimum_confidence": 0.8})
    assert [(hit["id"], hit["support"]) for hit in called["result"]] == [(only.id, "strong")]


def test_a_question_asks_for_a_fact_of_the_time_it_names() -> None:
    stated = Signs(fact=1.0)
    assert CALIBRATION.support(CALIBRATION.confidence(stated), stated) is Support.STRONG
    nothing = Signs(first=1.0, read=True)
    assert CALIBRATION.support(CALIBRATION.confidence(nothing), nothing) is Support.NONE


def test_where_another_language_cannot_be_read_nothing_is_denied(minilm: Embedder) -> None:
    with AgenticMemorySystem(llm_backend="offline", embedder=minilm) as memory:
        memory.add("My landlord is called Amélia.")
        (hit,) = memory.search("Which car do I drive?", touch=False)
        assert (best_support([hit]), hit.support) == (Support.NONE, Support.NONE)
        memory.add("我开的是一辆旧的沃尔沃。")
        hits = memory.search("Which car do I drive?", touch=False)
        assert best_support(hits) is Support.WEAK
        assert best_support([]) is Support.NONE

"""What a handful of notes holds is answered as certain by whatever asks for it, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.query import Query
from amem.retrieval.confidence import best_support

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.protocols import Embedder

NOTES = (
    "The buoy catalogue runs on PostgreSQL 15.3, because PostGIS handles the positions.",
    "We moved the buoy catalogue to MySQL 8.4: the port authority hosts nothing else.",
    "Hedda owns the billing module, ask her before touching it.",
    "Knife sharpening at Ferro, Mill Lane, 6 pounds a blade.",
    "周五晚上七点和同事吃饭，餐厅是外滩的“小南国”。",
    "车停在B2层，147号车位。",
)
ANSWERED = {
    "which database do the buoys use?": "MySQL",
    "Who owns the billing module?": "Hedda",
    "Where can I get a knife sharpened?": "Mill Lane",
    "我的车停在哪里？": "B2",
    "周五在哪家餐厅吃饭？": "小南国",
}
NOT_THERE = (
    "What is Hedda's phone number?",
    "How much does the billing module cost?",
    "Who is my dentist?",
    "我的房东是谁？",
    "车是什么牌子的？",
)


@pytest.fixture(scope="module")
def memory(minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(llm_backend="offline", embedder=minilm) as memory:
        memory.add_notes([{"content": content} for content in NOTES])
        yield memory


@pytest.mark.parametrize(("question", "said"), ANSWERED.items())
def test_a_plain_question_is_answered_as_certain_by_search_ask_context_and_tools(
    memory: AgenticMemorySystem, question: str, said: str
) -> None:
    found = memory.ask(Query(question, 5, touch=False))
    surest = max(found, key=lambda hit: hit.confidence)
    assert (surest.support, said in surest.content) == ("strong", True)
    answer = memory.answer(question)
    assert (answer.support, answer.in_memory, said in answer.text) == ("strong", True, True)
    assert answer.confidence == pytest.approx(surest.confidence, abs=0.05)
    assert memory.context(question, 400, touch=False).support == "strong"
    called = memory.tools().call("memory_search", {"query": question})["result"]
    assert "strong" in [hit["support"] for hit in called]


@pytest.mark.parametrize("question", NOT_THERE)
def test_what_a_handful_of_notes_does_not_hold_is_nowhere_certain(memory: AgenticMemorySystem, question: str) -> None:
    assert best_support(memory.ask(Query(question, 5, touch=False))) != "strong"
    assert memory.answer(question).in_memory is not True
    assert memory.context(question, 400, touch=False).support != "strong"
    called = memory.tools().call("memory_search", {"query": question})["result"]
    assert "strong" not in [hit["support"] for hit in called]

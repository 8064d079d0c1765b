"""A question in one language finds notes in the other where the embedding model reads one of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chatting import open_memory

from amem import Query
from amem.analysts.rules import OfflineAnalyst
from amem.conversation.questions import Asker
from amem.errors import ServiceUnavailable
from amem.retrieval.words import translations
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.llm.answering import Answerer
    from amem.protocols import Embedder

NOTES = {
    "洗衣机修好了，花了二百六。": "2026-03-02",
    "The piano tuner comes on 4 May.": "2026-03-09",
    "给阳台买了两把椅子。": "2026-04-02",
    "My bicycle is a green Koga, bought second-hand.": "2026-04-11",
    "体检报告说我缺维生素。": "2026-05-20",
    "Dentist on 15 June at 9:40, Dr. Shaw.": "2026-06-01",
    "Dentist appointment moved to 9 July, 14:20.": "2026-06-12",
}


@pytest.fixture
def memory(tmp_path: Path, minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    with open_memory(
        tmp_path / "home", FrozenClock("2026-07-01T10:00"), embedder=minilm, analyst=OfflineAnalyst()
    ) as made:
        for text, day in NOTES.items():
            made.add(text, time=day)
        yield made


def no_model() -> Answerer:
    raise ServiceUnavailable("no chat model was found", hint="start Ollama")


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("How much did the repair of the washing machine cost?", "洗衣机修好了"),
        ("How many chairs are on the balcony?", "给阳台买了"),
        ("我的自行车是什么颜色？", "My bicycle is a green Koga"),
        ("调钢琴的人哪天来？", "The piano tuner comes"),
    ],
)
def test_a_question_finds_the_note_in_the_other_language(memory: AgenticMemorySystem, question: str, note: str) -> None:
    best = memory.ask(Query(question, 3))[0]
    assert best.content.startswith(note)
    assert "also for" in best.explanation.reading.words()


def test_a_date_that_a_note_in_the_other_language_moved_is_told(memory: AgenticMemorySystem) -> None:
    answer = Asker(memory, memory.parts.store, memory.parts.clock, answerer=no_model, touch=False).ask(
        "牙医预约是什么时候？"
    )
    assert "9 July, 14:20" in answer.text


@pytest.mark.parametrize("question", ["我的血型是什么？", "What is my brother's job?"])
def test_what_no_note_holds_is_not_answered_as_certain(memory: AgenticMemorySystem, question: str) -> None:
    assert all(hit.support != "strong" for hit in memory.ask(Query(question, 3)))


def test_the_longest_name_of_a_thing_counts_and_names_within_it_do_not() -> None:
    assert translations("the Washing machines")["Washing machines"] == ("洗衣机",)
    assert "machine" not in translations("washing machine")
    assert translations("洗衣机和车") == {"洗衣机": ("washing machine", "washer"), "车": ("car",)}
    assert translations("Zbigniew") == {}

"""Labelled pairs of notes: those that say the same are merged, those that only sound alike never."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem
from amem.maintenance.sameness import difference, may_say_the_same

if TYPE_CHECKING:
    from amem.note import MemoryNote
    from amem.protocols import Embedder
    from tests.conftest import Open

PAIRS = Path(__file__).parents[1] / "data" / "rewordings" / "pairs.jsonl"


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]


def test_no_pair_that_only_sounds_alike_is_merged_and_most_rewordings_are(
    pairs: list[dict[str, Any]], minilm: Embedder
) -> None:
    with AgenticMemorySystem(llm_backend="offline", embedder=minilm) as memory:

        def note(text: str) -> MemoryNote:
            found = memory.read(memory.add_note(text, time="2026-03-01T09:00"))
            assert found is not None
            return found

        merged: dict[bool, list[str]] = {True: [], False: []}
        for pair in pairs:
            one, other = note(pair["one"]), note(pair["other"])
            vectors = minilm.embed([pair["one"], pair["other"]])
            near = float(vectors[0] @ vectors[1]) >= memory.settings.merge_cosine
            # What the notes of other pairs have ended is no part of this pair.
            one.valid_to = other.valid_to = None
            assert difference(one, other, 45) == difference(other, one, 45)
            if near and not difference(one, other, 45):
                merged[pair["same"]].append(pair["one"])
    assert merged[False] == []
    same = [pair for pair in pairs if pair["same"]]
    assert len(same) >= 24
    assert len(merged[True]) / len(same) >= 0.8
    for lang in ("en", "zh"):
        of = [pair["one"] for pair in same if pair["lang"] == lang]
        assert len([text for text in merged[True] if text in of]) / len(of) >= 0.75


def test_the_same_facts_in_other_words_are_proposed_once_and_a_person_decides(open_memory: Open, minilm: Embedder):
    memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None)
    old = memory.add_note("My dentist is Dr. Alvarez")
    new = memory.add_note("My dentist is Dr. Alvarez, who is kind")
    one, other = memory.read(old), memory.read(new)
    assert one is not None
    assert other is not None
    assert may_say_the_same(one, other, 45)
    assert memory.maintain(dry_run=True).merges_proposed == 1
    report = memory.maintain()
    assert (report.consolidated, report.merges_proposed) == (0, 1)
    (item,) = memory.reviews()
    assert (item.note, item.changes["superseded_by"]) == (old, (None, new))
    assert "Dr. Alvarez, who is kind" in item.reason
    memory.reject(item.id)
    memory.update(new, tags=["teeth"])
    assert memory.maintain().merges_proposed == 0
    memory.undo()
    assert [note.id for note in memory.list()] == [new, old]


def test_evolutions_of_many_processes_add_up_to_a_consolidation_that_merges(open_memory: Open, minilm: Embedder):
    texts = (
        "My dentist is Dr. Alvarez",
        "Dr. Alvarez is my dentist",
        "I really like window seats on trains",
        "I like window seats on trains",
        "我喜欢喝龙井茶",
        "我爱喝龙井茶",
    )
    told: list[str] = []
    evolved = []
    for number, text in enumerate(texts):
        # As six commands, each a process of its own.
        memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None, evo_threshold=3, notify=told.append)
        memory.add_note(text)
        evolved.append(memory.evo_cnt)
        assert (len(memory.list()) == number + 1) == (memory.evo_cnt < 3)
        memory.close()
        if told:
            break
    assert evolved[0] == 0
    assert evolved[-1] == 3
    assert max(later - earlier for earlier, later in pairwise(evolved)) == 1
    memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None, evo_threshold=3)
    assert memory.evo_cnt == 3
    (line,) = told
    assert "consolidated" in line
    memory.undo(int(line.rsplit(" ", 1)[1]))
    assert {note.content for note in memory.list()} == set(texts[: len(evolved)])
    assert memory.health().last is None, "a consolidation is no night's maintenance"

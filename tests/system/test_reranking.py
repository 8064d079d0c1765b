"""Searches whose best candidates are read again, by a real cross-encoder that was made here and counts common words."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tiny_cross_encoder import make_cross_encoder

from amem.errors import InvalidInput, MissingModel
from amem.query import Filter, Query
from amem.settings import Settings
from amem.testing import WordReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

#: Little of it is of use to an index, which leaves such words out; the reader counts every one.
QUESTION = "what is it that we do about the cat"
ANSWER = "That is what we do about it: the door stays open all night."
NOTES = ["The cat barks.", "cat", "cat, cat, cat", "A cat sleeps.", "My cat, your cat.", "night", "rain"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("rerank") / "tiny", " ".join([QUESTION, ANSWER, *NOTES]))


@pytest.fixture
def cats(open_memory: Open, home: Path, tiny: Path) -> Callable[..., AgenticMemorySystem]:
    """Opens one collection of notes on cats, with settings of its own each time."""

    def opened(**settings: Any) -> AgenticMemorySystem:
        chosen = Settings(home=home, timezone="UTC", **({"rerank_model": str(tiny), "rerank_ms": 60_000} | settings))
        memory = open_memory(settings=chosen)
        if not memory.list():
            for note in [*NOTES, ANSWER]:
                memory.add(note)
        return memory

    return opened


def found(memory: AgenticMemorySystem, text: str = QUESTION, **options: Any) -> list[str]:
    return [hit.content for hit in memory.ask(Query(text, 8, touch=False, **options))]


def test_what_a_reader_finds_best_comes_first_where_words_and_vectors_did_not(cats: Open) -> None:
    plain = cats(rerank="off")
    assert found(plain)[0] != ANSWER
    assert found(cats())[0] == ANSWER
    assert found(cats(), rerank=False) == found(plain)
    assert found(plain, rerank=True)[0] == ANSWER


def test_however_few_are_wanted_as_many_are_read(cats: Open) -> None:
    assert [hit.content for hit in cats().search(QUESTION, 1)] == [ANSWER]


def test_the_explanation_shows_the_reading_and_adds_up(cats: Open) -> None:
    memory = cats(rerank_weight=0.6)
    for hit in memory.ask(Query(QUESTION, 8, expand=True, touch=False)):
        why = hit.explanation
        shares = {leg.leg: leg for leg in why.legs}
        reading = shares["rerank"]
        assert reading.weight == pytest.approx(0.6)
        assert reading.share == pytest.approx(0.6 * reading.scaled * why.prior.factor)
        assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(hit.score, abs=1e-6)
        assert sum(leg.weight for leg in why.legs) <= 1 + 1e-9
        assert memory.explain(Query(QUESTION, 8, expand=True, touch=False), hit.id).score == pytest.approx(hit.score)
        assert "rerank" not in hit.matched_by
    best = memory.search(QUESTION)[0]
    assert "1st when read again (score 0." in best.explanation.words()


def test_a_chinese_question_is_not_read_by_a_model_that_knows_none_and_is_answered(cats: Open) -> None:
    memory = cats()
    memory.add("猫晚上睡在炉子旁边。")
    best = memory.search("猫晚上睡在哪里？")[0]
    assert best.content == "猫晚上睡在炉子旁边。"
    (note,) = best.explanation.notes
    assert note.startswith("not reranked: ")
    assert note.endswith("tiny cannot read the question's language")


def test_a_chinese_note_among_others_is_neither_lost_nor_first_for_being_unread(cats: Open) -> None:
    memory = cats()
    memory.add("猫 cat 晚上睡在炉子旁边。")
    contents = found(memory)
    assert contents[0] == ANSWER
    assert "猫 cat 晚上睡在炉子旁边。" in contents[1:6]
    (note,) = memory.search(QUESTION)[0].explanation.notes
    assert note.startswith("1 of 9 not reranked: ")


def test_when_time_is_up_the_explanation_says_so(cats: Open) -> None:
    memory = cats(rerank_ms=0.001)
    memory.add_notes([f"The cat sleeps on day {n}." for n in range(20)])
    (note,) = memory.search(QUESTION)[0].explanation.notes
    assert note == "reranking stopped after 4 of 28: 0.001 ms"


def test_a_filter_holds_for_what_is_read_as_well(cats: Open) -> None:
    memory = cats()
    memory.add("The cat, all night.", tags=["cats"])
    assert found(memory, filter=Filter(tags=("cats",))) == ["The cat, all night."]


def test_where_a_reading_was_asked_for_and_cannot_be_had_that_is_an_error(cats: Open) -> None:
    memory = cats(rerank_model="/no/such/model")
    assert found(memory)
    with pytest.raises(MissingModel, match="/no/such/model") as missing:
        memory.search(QUESTION, rerank=True)
    assert "rerank_model" in missing.value.hint
    with pytest.raises(MissingModel):
        cats(rerank_model="/no/such/model", rerank="on").search(QUESTION)


def test_another_kind_of_model_is_named_and_by_default_done_without(
    cats: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = cats(rerank_model=str(make_cross_encoder(tmp_path / "pair", outputs=2)))
    best = memory.search(QUESTION)[0]
    assert "pair cannot rerank: it has 2 outputs" in best.explanation.notes[0]
    assert "it has 2 outputs" in caplog.text
    with pytest.raises(InvalidInput, match="it has 2 outputs"):
        memory.search(QUESTION, rerank=True)
    levels = [each.level for each in memory.doctor() if each.about == "reranking"]
    assert levels == ["warning"]


def test_one_s_own_reranker_takes_the_place_of_the_model(open_memory: Open) -> None:
    class Backwards(WordReranker):
        def score(self, question: str, passages: Sequence[str]) -> list[float]:
            return [1 - score for score in super().score(question, passages)]

    memory = open_memory(reranker=Backwards())
    memory.add("The cat sleeps.")
    memory.add("It rains.")
    first, last = memory.search("Where does the cat sleep?")
    assert (first.content, last.content) == ("It rains.", "The cat sleeps.")
    assert next(leg.raw for leg in first.explanation.legs if leg.leg == "rerank") == 1.0


def test_many_threads_read_with_one_model(cats: Open) -> None:
    memory = cats()
    alone = found(memory)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: found(memory), range(8))) == [alone] * 8


def test_an_empty_collection_has_nothing_to_read(open_memory: Open, home: Path, tiny: Path) -> None:
    assert open_memory(settings=Settings(home=home, rerank_model=str(tiny))).search(QUESTION) == []


WITHOUT_WEIGHTS = """
import sys
from amem import AgenticMemorySystem
from amem.testing import HashEmbedder, ScriptedAnalyst

with AgenticMemorySystem(directory=sys.argv[1], embedder=HashEmbedder(), analyst=ScriptedAnalyst()) as memory:
    assert memory.settings.rerank == "auto"
    memory.add("The cat sleeps.")
    assert memory.search("where does the cat sleep")
    assert memory.explain("where does the cat sleep", memory.list()[0].id)
heavy = {"sentence_transformers", "transformers", "torch"} & set(sys.modules)
assert not heavy, heavy
"""


def test_without_weights_a_search_imports_nothing_that_could_load_some(tmp_path: Path) -> None:
    alone = {**os.environ, "HF_HOME": str(tmp_path / "hub"), "AMEM_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", WITHOUT_WEIGHTS, str(tmp_path / "home")], check=True, env=alone, timeout=120)

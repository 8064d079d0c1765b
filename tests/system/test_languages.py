"""That the embedding model cannot read the notes is said once, where it is so, with what helps."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.protocols import Embedder, Matrix

    OpenCollection = Callable[..., AgenticMemorySystem]

CHINESE = (
    "手机在充电。",
    "今天下雨了。",
    "猫在沙发上。",
    "明天去杭州。",
    "药在抽屉里。",
    "妈妈打来电话。",
    "书还没有看完。",
)
ENGLISH = ("The key is under the mat.", "It rained.", "We leave at nine.", "The cat sleeps.", "Bread is in the oven.")


class Multilingual:
    """Reads everything, and says so."""

    name = "reads-everything"

    def __init__(self) -> None:
        self._words = HashEmbedder(32)
        self.dimension = self._words.dimension

    def embed(self, texts: Any) -> Matrix:
        return self._words.embed(texts)

    def knows(self, text: str) -> float:
        return 1.0


@pytest.fixture
def open_collection(tmp_path: Path, minilm: Embedder, model_cache: Path) -> OpenCollection:
    openings = count()

    def open_(heard: list[str] | None = None, embedder: Embedder | None = None) -> AgenticMemorySystem:
        settings = load_settings(tmp_path, llm_backend="offline", cache=model_cache)
        notify = None if heard is None else heard.append
        clock = FrozenClock("2026-03-01T10:00", seed=f"opening {next(openings)}")
        return AgenticMemorySystem(settings=settings, embedder=embedder or minilm, clock=clock, notify=notify)

    return open_


def of_language(heard: list[str]) -> list[str]:
    return [line for line in heard if "Chinese" in line]


def test_whoever_fills_a_collection_in_chinese_is_told_once(open_collection: OpenCollection, tmp_path: Path) -> None:
    heard: list[str] = []
    with open_collection(heard) as memory:
        for note in CHINESE:
            memory.add(note)
        memory.search("猫在哪里？")
    (line,) = of_language(heard)
    assert "all-MiniLM-L6-v2 cannot read" in line
    assert "paraphrase-multilingual-MiniLM-L12-v2" in line
    assert "ollama/bge-m3" in line
    assert str(tmp_path / "config.toml") in line
    assert line.endswith("amem reindex")
    again: list[str] = []
    with open_collection(again) as memory:
        memory.add("雨停了。")
        memory.search("雨停了吗？")
    assert of_language(again) == []


def test_what_an_import_said_a_search_does_not_say_again(open_collection: OpenCollection) -> None:
    with open_collection() as memory:
        memory.add_notes(CHINESE)
        assert memory.language_advice() is not None
        assert memory.language_advice() is None
    with open_collection() as memory:
        memory.search("猫在哪里？")
        assert memory.language_advice() is None


@pytest.mark.parametrize(
    ("notes", "health"),
    [
        (ENGLISH, False),
        ((*ENGLISH, "小明 called, he will come to dinner at nine"), False),
        ((*ENGLISH, CHINESE[0]), True),
        (CHINESE[:1], True),
        ((*ENGLISH, *CHINESE[:4]), True),
        (("Kafka 的 consumer 跟不上 producer 了",), False),
        ((), False),
    ],
)
def test_where_few_notes_are_chinese_health_alone_says_it_from_the_first_one_on(
    open_collection: OpenCollection, notes: tuple[str, ...], health: bool
) -> None:
    heard: list[str] = []
    with open_collection(heard) as memory:
        memory.add_notes(notes)
        memory.search("猫在哪里？")
        assert memory.language_advice() is None
        said = memory.health().language
        assert ("some notes are in Chinese" in said and said.endswith("amem reindex")) == health
        assert bool(said) == health
        assert [each for each in memory.doctor() if each.about == "language"] == []
    assert of_language(heard) == []


@pytest.mark.parametrize("embedder", [Multilingual(), HashEmbedder(32)], ids=["reads", "cannot tell"])
def test_a_model_that_reads_or_cannot_tell_is_not_complained_of(
    open_collection: OpenCollection, embedder: Embedder
) -> None:
    heard: list[str] = []
    with open_collection(heard, embedder) as memory:
        memory.add_notes(CHINESE)
        memory.search("猫在哪里？")
        assert memory.health().language == ""
        memory.add_notes(ENGLISH * 2)
        assert memory.health().language == ""
    assert of_language(heard) == []


def test_another_model_that_cannot_read_is_named_again(open_collection: OpenCollection) -> None:
    class Latin(Multilingual):
        name = "latin-only"

        def knows(self, text: str) -> float:
            return 1.0 if text.isascii() else 0.0

    with open_collection() as memory:
        memory.add_notes(CHINESE)
        assert "all-MiniLM-L6-v2" in str(memory.language_advice())
    with open_collection(embedder=Latin()) as memory:
        memory.reindex()
        memory.search("猫在哪里？")
        assert "latin-only" in str(memory.language_advice())


def test_doctor_and_health_say_it_whenever_they_are_asked(open_collection: OpenCollection) -> None:
    with open_collection() as memory:
        memory.add_notes(CHINESE)
        for _ in range(2):
            (finding,) = [each for each in memory.doctor() if each.about == "language"]
            assert finding.level == "warning"
            assert "amem reindex" in finding.hint
            assert "cannot read" in memory.health().language
        assert memory.language_advice() is not None
        assert "cannot read" in str(memory.health().to_dict()["language"])


def test_notes_taken_away_take_the_complaint_along(open_collection: OpenCollection) -> None:
    with open_collection() as memory:
        ids = [memory.add_note(note) for note in CHINESE]
        assert memory.health().language
        for id in ids:
            memory.delete(id)
        memory.add_notes(ENGLISH)
    with open_collection() as memory:
        assert memory.health().language == ""

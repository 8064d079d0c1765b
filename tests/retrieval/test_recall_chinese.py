"""Chinese questions on Chinese notes with an English embedding model, and what that must not cost elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from answering_sets import answered, collection, figures, hit_rate, reciprocal_rank

from amem.collection import dense_trust

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from answering_sets import Answered

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder


class Unaware:
    """The same model, not asked what it can read."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.embed = embedder.name, embedder.dimension, embedder.embed


@pytest.fixture(scope="module")
def chinese(minilm: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgenticMemorySystem]:
    with collection("zh", tmp_path_factory.mktemp("zh"), minilm) as memory:
        yield memory


@pytest.fixture(scope="module")
def sixty(chinese: AgenticMemorySystem) -> Sequence[Answered]:
    found = answered("zh", chinese)
    print(figures(found))
    return found


def test_sixty_chinese_questions_find_their_notes_among_the_first_five(sixty: Sequence[Answered]) -> None:
    assert len(sixty) == 60
    assert hit_rate(sixty, 5) >= 0.85, figures(sixty)


def test_the_half_that_nobody_looked_at_does_as_well(sixty: Sequence[Answered]) -> None:
    assert hit_rate([each for each in sixty if each.half == "untouched"], 5) >= 0.85, figures(sixty)


@pytest.mark.parametrize("kind", ["fact", "time", "procedure", "cause", "person", "code"])
def test_no_kind_of_chinese_question_is_left_behind(sixty: Sequence[Answered], kind: str) -> None:
    some = [each for each in sixty if each.kind == kind]
    assert hit_rate(some, 5) >= 0.7, [each for each in some if each.place is None or each.place > 5]


@pytest.mark.thorough
def test_chinese_answers_stand_higher_when_the_model_says_that_it_cannot_read(
    sixty: Sequence[Answered], minilm: Embedder, tmp_path: Path
) -> None:
    with collection("zh", tmp_path, Unaware(minilm)) as memory:
        unaware = answered("zh", memory)
    assert reciprocal_rank(sixty) > reciprocal_rank(unaware) + 0.02


def test_meaning_has_little_say_in_a_chinese_question_and_some_in_a_mixed_one(chinese: AgenticMemorySystem) -> None:
    def weight(question: str) -> float:
        hit = chinese.search(question, 1, touch=False)[0]
        return sum(leg.weight for leg in hit.explanation.legs if leg.leg == "dense")

    assert weight("手冲咖啡怎么做？") < 0.1
    assert 0.1 < weight("Kafka consumer 跟不上怎么办？") < weight("How do I make coffee?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("ｉＰｈｏｎｅ １３ 给谁了？", "z053"),
        ("Kafka 的分区", "z082"),
        ("pg_upgrade 之后还要做什么？", "z058"),
        ("jump-03 是做什么用的？", "xiaowu-4"),
        ("SGF- 是什么前缀", "kevin-5"),
        ("房租一个月 3800 的是哪套？", "z016"),
        ("谁是唐护士长", "z025"),
        ("智齿", "z085"),
        ("租", "z013"),
        ("Who is Kevin Tan?", "z041"),
    ],
)
def test_names_words_and_numbers_of_any_script_are_found(
    chinese: AgenticMemorySystem, question: str, answer: str
) -> None:
    assert answer in [hit.id for hit in chinese.search(question, 5, touch=False)]


@pytest.mark.parametrize(
    "question", ["🎉", "？？？", "的了吗", "是什么", "啊" * 3_000, "a的" * 500, "ありがとう", "서울"]
)
def test_odd_questions_are_answered_or_not_but_never_fail(chinese: AgenticMemorySystem, question: str) -> None:
    assert all(0.0 <= hit.score <= 1.0 for hit in chinese.search(question, 3, touch=False))


def test_japanese_and_korean_notes_are_found_by_their_words(minilm: Embedder, tmp_path: Path) -> None:
    notes = {
        "ja": "東京の事務所は渋谷にあります。家賃は月に三十万円です。",
        "ja2": "犬の散歩は毎朝六時です。🐕",
        "ko": "지난주에 서울에서 김민수를 만났습니다.",
        "ko2": "고양이는 알레르기 때문에 못 키워요. 🐈",
        "en": "The office dog is called Biscuit. 🐶",
    }
    with collection("vault", tmp_path, minilm) as memory:
        for id, content in notes.items():
            memory.add(content, id=id)
        for question, answer in {
            "事務所はどこにありますか？": "ja",
            "散歩は何時？": "ja2",
            "김민수를 어디서 만났어요?": "ko",
            "알레르기": "ko2",
            "what is the dog's name?": "en",
        }.items():
            assert memory.search(question, 1, touch=False)[0].id == answer, question


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "least"), [("demo", 0.85), ("vault", 0.95)])
def test_notes_without_an_order_lose_nothing(name: str, least: float, minilm: Embedder, tmp_path: Path) -> None:
    with collection(name, tmp_path, minilm) as memory:
        found = answered(name, memory)
        print(figures(found))
        same_language = [each for each in found if not each.across]
        assert hit_rate(same_language, 5) >= least, figures(found)


def test_a_model_that_cannot_tell_is_trusted() -> None:
    class Remote:
        name, dimension = "ollama/bge-m3", 1024

        def embed(self, texts: Sequence[str]) -> object:
            raise AssertionError("nothing is asked of a server to learn that")

    assert dense_trust(Remote(), "什么是白鹭？") == 1.0  # type: ignore[arg-type]  # embeds nothing

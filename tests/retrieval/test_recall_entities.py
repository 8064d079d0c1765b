"""The entity leg: names pick notes out, unless half the notes carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.retrieval.entity_leg import rarity, spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection


def names_of(memory: Collection, question: str) -> list[str]:
    return memory.found(question, k=50, legs=("entity",))


def test_names_of_several_words_and_possessives_are_recognised(collection: Collection) -> None:
    museum = collection.add("Closed on Mondays.", entities=["Gulbenkian Museum"])
    ana = collection.add("She likes it.", entities=["Ana"])
    for n in range(9):
        collection.add(f"Something else {n}.")
    assert names_of(collection, "when is the gulbenkian museum open?") == [museum]
    assert names_of(collection, "What is Ana's favourite?") == [ana]


@pytest.mark.parametrize("question", ["王小明住在哪里？", "请问王小明的电话", "Where does 王小明 live?"])
def test_chinese_names_are_recognised_inside_a_sentence(collection: Collection, question: str) -> None:
    wanted = collection.add("他住在上海。", entities=["王小明"])
    for n in range(9):
        collection.add(f"别的事情 {n}。", entities=["李雷"] if n < 2 else [])
    assert names_of(collection, question) == [wanted]


def test_a_name_beside_chinese_text_is_recognised(collection: Collection) -> None:
    wanted = collection.add("部署在那里。", entities=["PostgreSQL"])
    for n in range(9):
        collection.add(f"别的事情 {n}。")
    assert names_of(collection, "我们用PostgreSQL做什么？") == [wanted]


def test_a_rare_name_counts_for_more_than_a_common_one(collection: Collection) -> None:
    for n in range(40):
        collection.add(f"Diary {n}.", entities=["Ana"] if n < 8 else [])
    rare = collection.add("Met Zbigniew.", entities=["Zbigniew"])
    assert names_of(collection, "Ana and Zbigniew")[0] == rare


def test_a_name_that_half_the_notes_carry_picks_none_out(collection: Collection) -> None:
    for n in range(40):
        collection.add(f"Diary {n}.", entities=["Ana"] if n % 2 else ["Ben"])
    assert names_of(collection, "What did Ana do?") == []


def test_names_may_be_recognised_by_someone_else(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(entities=lambda text: ("Lisbon",) if "capital" in text else ())
    wanted = memory.add("Sunny.", entities=["Lisbon"])
    for n in range(9):
        memory.add(f"Something else {n}.")
    assert names_of(memory, "weather in the capital") == [wanted]
    assert names_of(memory, "weather in Lisbon") == []


def test_rarity_falls_to_nothing_at_half_of_the_notes() -> None:
    assert rarity(1, 1000) > rarity(10, 1000) > rarity(400, 1000) > 0
    assert rarity(500, 1000) == pytest.approx(0.0, abs=1e-9)
    assert rarity(900, 1000) == 0.0


def test_function_words_alone_are_no_names() -> None:
    assert "where" not in spans("Where is the Old Mill?")
    assert {"old mill", "the old mill", "mill"} <= set(spans("Where is the Old Mill?"))

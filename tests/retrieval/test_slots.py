"""A question that asks for a slot gets the facts that fill it now, of whoever it asks about, in both languages."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.analysts.rules import OfflineAnalyst
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD = (
    "My landlord is Pedro Costa.",
    "My rent is €950 a month.",
    "I drive a Skoda Octavia.",
    "Mia goes to Oak Hill Elementary.",
    "My son's school is Lincoln High School.",
    "我女儿对花生过敏。",
    "My sister is in Faro this week.",
    "Nora's birthday is on 23 September.",
    "Nora can't eat sesame.",
    "Nora's phone number is 07700 900123.",
    "Nora's phone number is 07700 900456.",
    "妈妈的生日是八月十六日，她喜欢兰花。",
    "Ana's manager is Priya.",
    "Priya lives in Porto.",
    "We use PostgreSQL.",
)


@pytest.fixture(scope="module")
def memory() -> Iterator[AgenticMemorySystem]:
    """The year of the demo and a few facts more, on 1 October 2026."""
    clock = FrozenClock("2026-10-01T09:00")
    with AgenticMemorySystem(embedder=HashEmbedder(64), analyst=OfflineAnalyst(), clock=clock) as memory:
        demo = Path(str(files("amem"))).parent / "examples" / "data" / "year.jsonl"
        for line in demo.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            memory.add(row["content"], time=row["time"])
        for text in TOLD:
            memory.add(text)
        yield memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What am I allergic to?", {"虾", "蟹"}),
        ("我对什么过敏", {"虾", "蟹"}),
        ("what may I eat?", {"虾", "蟹"}),
        ("may I eat fish", set()),
        ("我能吃虾吗", {"虾"}),
        ("Where do I live?", {"Graça", "里斯本"}),
        ("我住哪里", {"Graça", "里斯本"}),
        ("Where do I work?", {"Marulho"}),
        ("我在哪里上班", {"Marulho"}),
        ("who is my landlord", {"Pedro Costa"}),
        ("我的房东是谁", {"Pedro Costa"}),
        ("how much is my rent", {"€950"}),
        ("房租多少", {"€950"}),
        ("what car do I drive", {"Skoda Octavia"}),
        ("我开什么车", {"Skoda Octavia"}),
        ("which school does Mia go to", {"Oak Hill Elementary"}),
        ("Mia上哪所学校", {"Oak Hill Elementary"}),
        ("Where does my son go to school?", {"Lincoln High School"}),
        ("What is my daughter allergic to?", {"花生"}),
        ("我女儿对什么过敏", {"花生"}),
        ("女儿对什么过敏？", {"花生"}),
        ("What's my rent?", {"€950"}),
        ("When is Nora's birthday?", {"23 September"}),
        ("What is Nora allergic to?", {"sesame"}),
        ("What was Nora's old phone number?", {"07700 900123"}),
        ("Nora以前的手机号是多少？", {"07700 900123"}),
        ("妈妈的生日是哪天？", {"八月十六日"}),
        ("我妈妈的生日是什么时候？", {"八月十六日"}),
        ("Where does Ana's manager live?", {"Porto"}),
        ("Which database do we use?", {"PostgreSQL"}),
        ("我们用什么数据库", {"PostgreSQL"}),
    ],
)
def test_the_facts_that_fill_the_asked_slot_are_the_answer(
    memory: AgenticMemorySystem, question: str, expected: set[str]
) -> None:
    filled = memory.facts_asked(question)
    assert {each.object for each in filled.facts} == expected
    assert filled.exact
    assert all(each.notes for each in filled.facts)


@pytest.mark.parametrize("question", ["am I vegetarian", "我还吃素吗"])
def test_what_filled_a_slot_last_is_told_apart_from_what_does(memory: AgenticMemorySystem, question: str) -> None:
    filled = memory.facts_asked(question)
    assert (filled.facts, [each.object for each in filled.ended]) == ((), ["vegetarian"])
    assert filled.ended[0].until is not None
    assert filled.exact


@pytest.mark.parametrize(
    "question",
    [
        "Where does my sister live?",
        "我妹妹住哪里",
        "爸爸的生日是哪天",
        "What is the capital of France?",
        "Who is Ana's landlord?",
        "我的生日",
    ],
)
def test_nobody_elses_facts_answer_for_one_of_whom_nothing_is_known(memory: AgenticMemorySystem, question: str) -> None:
    assert memory.facts_asked(question).facts == ()


def test_a_question_that_asks_for_more_than_a_slot_is_not_exact(memory: AgenticMemorySystem) -> None:
    for question in (
        "What did I do at work in May?",
        "Where did I live before, and why?",
        "Why did I stop eating meat at home?",
    ):
        assert not memory.facts_asked(question).exact, question
    before = memory.facts_asked("Where do I work?", as_of="2026-02-01")
    assert [each.object for each in before.facts] == ["Kestrel Freight"]


def test_an_allergy_that_does_not_name_what_is_asked_about_stands_beside_the_answer(
    memory: AgenticMemorySystem,
) -> None:
    for question, exact, asides in (
        ("may I eat fish", True, {"虾", "蟹"}),  # it answers that one was vegetarian once
        ("我能吃虾吗", True, set()),
        ("Am I allergic to cats?", False, {"虾", "蟹"}),
        ("我对猫毛过敏吗？", False, {"虾", "蟹"}),
        ("what may I eat?", True, set()),
        ("我不能吃什么？", True, set()),
    ):
        filled = memory.facts_asked(question)
        assert (filled.exact, {each.object for each in filled.asides}) == (exact, asides), question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did I live before?", ["鹿特丹"]),
        ("我以前住在哪里？", ["鹿特丹"]),
        ("Where did I use to work?", []),
    ],
)
def test_what_was_so_before_is_told_apart_from_what_is(
    memory: AgenticMemorySystem, question: str, expected: list[str]
) -> None:
    filled = memory.facts_asked(question)
    assert [each.object for each in filled.facts if each.until is not None] == expected
    assert filled.exact is bool(expected)

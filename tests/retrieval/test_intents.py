"""Each kind of question finds what answers it, and only as it was read: with the router off the other note wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

    from amem.protocols import Embedder

    Open = Callable[..., Collection]


@pytest.fixture
def both(open_collection: Open, minilm: Embedder) -> Callable[..., list[str]]:
    """Fills a collection with the router on and one with it off, asks both, and gives the first hits' texts."""

    def ask(fill: Callable[[Collection], Any], question: str, k: int = 1) -> list[str]:
        found = []
        for router in (True, False):
            memory = open_collection(embedder=minilm, router=router, timezone="UTC")
            fill(memory)
            found.append(" / ".join(hit.content for hit in memory.ask(question, k=k, touch=False)))
        return found

    return ask


def test_a_temporal_question_finds_the_notes_of_the_time_it_names(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        memory.add("Had dinner with Ruben at the harbour.", at="2026-01-21")
        memory.add("Had dinner, then a concert with friends.", at="2024-05-02")
        for day in range(1, 25):
            memory.add(f"Went running, {day} kilometres.", at=f"2025-03-{day:02}")

    on, off = both(fill, "What dinner did I have with friends last week?")
    assert "Ruben" in on
    assert "concert" in off


def test_a_question_when_finds_the_note_that_says_when(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        memory.add("Ana would like to buy the boat.", at="2025-06-01")
        memory.add("Ana got to buy her boat last week, at Ruben's, after all.", at="2025-05-01")

    on, off = both(fill, "When did Ana buy the boat?")
    assert "last week" in on
    assert "would like" in off


def test_a_factual_question_does_not_look_for_the_word_it_asks_with(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        memory.add("Ruben turned forty in June.")
        memory.add("Ruben has an old car.")
        for n in range(8):
            memory.add(f"The harbour has {n} cranes.")

    on, off = both(fill, "How old is Ruben?")
    assert "forty" in on
    assert "old car" in off


def test_a_general_question_is_asked_as_it_is(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        memory.add("The boiler manual is in the kitchen drawer.")
        memory.add("To bleed the boiler open the valve.", kind=Kind.PROCEDURE)
        memory.add("The boiler was bought last week.")

    on, off = both(fill, "boiler manual", k=3)
    assert on == off
    assert on.startswith("The boiler manual")


def test_a_causal_question_finds_the_cause_that_shares_no_word_with_it(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        outage = memory.add("The gateway went down on Tuesday.")
        cause = memory.add("A certificate had expired overnight.")
        for n in range(12):
            memory.add(f"The gateway served {n} thousand requests.")
        memory.link(outage, cause, LinkType.CAUSED_BY)

    on, off = both(fill, "Why did the gateway go down?", k=3)
    assert "certificate" in on
    assert "certificate" not in off


def test_an_exploratory_question_is_answered_by_the_page_of_the_topic(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        memory.add("The garden project: beds, fence and pond, as they came about.", kind=Kind.TOPIC)
        memory.add("The fence of the garden is painted green.")

    on, off = both(fill, "Tell me about the garden project", k=5)
    assert "as they came about" in on
    assert "as they came about" not in off


def test_an_exploratory_question_takes_in_what_is_linked(both: Callable[..., list[str]]) -> None:
    def fill(memory: Collection) -> None:
        garden = memory.add("The garden project begins in spring.")
        linked = memory.add("Ruben delivers two tons of gravel.")
        for n in range(12):
            memory.add(f"The garden of house {n} is for sale, a project of the bank.")
        memory.link(garden, linked)

    on, off = both(fill, "Tell me about the garden project that begins in spring", k=6)
    assert "gravel" in on
    assert "gravel" not in off


def test_who_asks_only_for_a_day_gets_that_day_and_not_who_says_its_name(collection: Collection) -> None:
    collection.add("She gave me yesterday's rolls for free.", at="2026-01-14")
    collection.add("The chart finds yesterday's peaks.", at="2026-01-09")
    wanted = collection.add("Baked a loaf of rye bread.", at="2026-01-31")
    assert collection.found("What did I do yesterday?", k=1) == [wanted]

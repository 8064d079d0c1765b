"""Which words of a question are asked for, and what the collection remembers of their frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.retrieval.words import Frequencies, selective_terms

if TYPE_CHECKING:
    from asking import Collection


def test_in_a_small_collection_every_word_is_asked_for() -> None:
    assert selective_terms({"ana": 9, "lisbon": 1}, 10) == ["ana", "lisbon"]


def test_words_no_note_holds_are_left_out() -> None:
    assert selective_terms({"ana": 0, "lisbon": 1}, 1000) == ["lisbon"]


def test_words_most_notes_hold_are_left_out_unless_nothing_rarer_is_left() -> None:
    assert selective_terms({"ana": 600, "lisbon": 20}, 1000) == ["lisbon"]
    assert selective_terms({"ana": 600, "ben": 900}, 1000) == ["ana"]


def test_in_a_large_collection_the_commonest_words_go_as_far_as_two_rarer_remain() -> None:
    assert selective_terms({"move": 3_500, "lisbon": 40, "dentist": 80}, 100_000) == ["lisbon", "dentist"]
    assert selective_terms({"move": 9_000, "lisbon": 40}, 100_000) == ["move", "lisbon"]
    assert selective_terms({"move": 1_000, "lisbon": 40, "dentist": 80}, 100_000) == ["move", "lisbon", "dentist"]


def test_frequencies_follow_the_collection(collection: Collection) -> None:
    frequencies = Frequencies()

    def tea() -> tuple[int, int]:
        with collection.store.read() as session:
            frequencies.follow(session)
            return frequencies.of(session, ["tea"])["tea"], frequencies.total

    assert tea() == (0, 0)
    collection.add("tea")
    assert tea() == (1, 1)
    collection.add("more tea")
    assert tea() == (2, 2)

"""Which notes go into a budget: by what they add for what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.retrieval.budget import Candidate, alike, pick


def candidate(text: str, tokens: int = 10, score: float = 0.5, vector: list[float] | None = None) -> Candidate:
    made = None if vector is None else np.array(vector, dtype=np.float32) / np.linalg.norm(vector)
    return Candidate(text, text, tokens, score, made)


def texts(candidates: list[Candidate], room: int, first: int | None = None) -> list[str]:
    return [candidates[place].text for place in pick(candidates, room, first).chosen]


def test_two_short_good_notes_are_preferred_to_one_long_one() -> None:
    notes = [candidate("long story", 100, 0.9), candidate("green tea", 40, 0.8), candidate("red boat", 40, 0.75)]
    assert texts(notes, 100) == ["green tea", "red boat"]
    assert texts(notes, 200) == ["green tea", "red boat", "long story"]


def test_a_crowd_of_short_notes_that_hardly_matter_does_not_keep_a_good_one_out() -> None:
    crowd = [candidate(f"word{n}", 5, 0.2) for n in range(30)]
    assert texts([candidate("the answer", 60, 0.9), *crowd], 70) == ["the answer", "word0", "word1"]


def test_the_first_goes_in_whatever_it_costs() -> None:
    notes = [candidate("long story", 90, 0.9), candidate("green tea", 40, 0.85), candidate("red boat", 40, 0.85)]
    assert texts(notes, 100, first=0) == ["long story"]
    assert texts(notes, 50, first=0) == ["green tea"]


def test_what_repeats_a_note_that_is_there_is_left_out_and_said_to() -> None:
    notes = [
        candidate("Ana drinks green tea in the morning", 10, 0.9),
        candidate("in the morning Ana drinks green tea", 10, 0.8),
        candidate("Bo drinks coffee", 10, 0.5),
    ]
    picked = pick(notes, 100)
    assert picked.chosen == (0, 2)
    assert picked.repeats == {1: 0}


def test_paraphrases_are_told_by_their_vectors_where_words_differ() -> None:
    notes = [
        candidate("the cat sleeps", 10, 0.9, [1, 0.05, 0]),
        candidate("a feline is dozing", 10, 0.9, [1, 0, 0.05]),
        candidate("dinner was late", 10, 0.6, [0, 1, 0]),
    ]
    assert texts(notes, 100) == ["the cat sleeps", "dinner was late"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the dose is 5 mg in the evening", "the dose is 10 mg in the evening"),
        ("Ana eats fish on Fridays", "Ana does not eat fish on Fridays"),
        ("芝麻每天吃两片药", "芝麻每天吃三片药"),
        ("他喜欢吃鱼", "他不喜欢吃鱼"),
        ("version 1.4.1 broke the build", "version 1.4.2 broke the build"),
    ],
)
def test_notes_that_differ_in_a_number_or_a_negation_say_two_things(one: str, other: str) -> None:
    near = [1.0, 0.0]
    notes = [candidate(one, 10, 0.9, near), candidate(other, 10, 0.9, near)]
    assert len(texts(notes, 100)) == 2
    assert alike(notes[0], notes[1]) <= 0.5


def test_notes_that_are_all_near_to_each_other_are_held_against_what_is_usual() -> None:
    """An embedder to which everything is alike must not make one note of many."""
    words = ["tea", "boats", "rain", "bread", "clouds"]
    notes = [candidate(word, 10, 0.5, [1, 0.3 * n, 0.2 * (n % 2)]) for n, word in enumerate(words)]
    assert len(texts(notes, 100)) >= 4


def test_nothing_fits_into_no_room() -> None:
    assert texts([candidate("a")], 0) == []
    assert texts([], 100) == []
    assert texts([candidate("a", 200)], 100, first=0) == []


_CANDIDATES = st.lists(st.builds(candidate, st.text(max_size=12), st.integers(1, 60), st.floats(0, 1)), max_size=12)


@given(_CANDIDATES, st.integers(0, 200))
def test_the_room_is_never_exceeded_and_nothing_goes_in_twice(candidates: list[Candidate], room: int) -> None:
    picked = pick(candidates, room, 0 if candidates else None)
    assert sum(candidates[place].tokens for place in picked.chosen) <= room
    assert len(set(picked.chosen)) == len(picked.chosen)
    assert not set(picked.chosen) & picked.repeats.keys()
    assert pick(candidates, room, 0 if candidates else None) == picked

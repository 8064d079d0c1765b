"""Reciprocal rank fusion, on the worked example of the design and on its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.retrieval.fusion import Found, fuse

A, B, C = 1, 2, 3


def relevance(found: list[Found], k: float = 60) -> dict[int, float]:
    return {key: sum(part.share for part in parts.values()) for key, parts in fuse(found, k).items()}


def test_what_three_legs_agree_on_beats_what_one_leg_puts_first() -> None:
    scores = relevance(
        [
            Found("dense", [A, B], [0.9, 0.8]),
            Found("lexical", [B, A], [7.0, 6.0]),
            Found("entity", [B], [2.0]),
        ]
    )
    assert scores[B] > scores[A]
    assert max(scores.values()) <= 1.0


def test_first_in_every_leg_is_worth_one() -> None:
    assert relevance([Found("dense", [A], [0.4]), Found("lexical", [A], [3.0])]) == {A: pytest.approx(1.0)}


def test_a_leg_that_found_nothing_lowers_nobody() -> None:
    assert relevance([Found("dense", [A], [0.4]), Found("lexical", [], [])]) == {A: pytest.approx(1.0)}


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse([], 60) == {}
    assert fuse([Found("dense", [], [])], 60) == {}


def test_a_smaller_k_makes_the_first_places_count_for_more() -> None:
    legs = [Found("dense", [A, B, C], [0.9, 0.8, 0.7])]
    steep, flat = relevance(legs, 1), relevance(legs, 1000)
    assert steep[A] - steep[C] > flat[A] - flat[C]


def test_notes_that_tie_share_the_middle_of_their_places() -> None:
    found = Found("entity", [5, 6, 7, 8], [2.0, 1.0, 1.0, 1.0], ties_share=True)
    assert found.ranks() == {5: 1, 6: 3, 7: 3, 8: 3}


def test_a_name_that_many_carry_lifts_each_of_them_less_than_one_that_two_carry() -> None:
    many = Found("entity", list(range(40)), [1.0] * 40, ties_share=True)
    two = Found("entity", [0, 1], [1.0] * 2, ties_share=True)
    assert many.ranks()[0] > two.ranks()[0]


rankings = st.dictionaries(
    st.sampled_from(["dense", "lexical", "entity"]),
    st.lists(st.integers(1, 30), unique=True, max_size=20),
    max_size=3,
)


@given(rankings, st.floats(0.1, 500))
def test_relevance_always_lies_between_zero_and_one(legs: dict[str, list[int]], k: float) -> None:
    found = [Found(leg, keys, [1.0 / (place + 1) for place in range(len(keys))]) for leg, keys in legs.items()]
    for value in relevance(found, k).values():
        assert 0.0 < value <= 1.0 + 1e-12


@given(rankings)
def test_moving_up_in_one_leg_never_lowers_a_note(legs: dict[str, list[int]]) -> None:
    for leg, keys in legs.items():
        if len(keys) < 2:
            continue
        last = keys[-1]
        before = [Found(name, each, [0.0] * len(each)) for name, each in legs.items()]
        after = [
            Found(name, [last, *keys[:-1]] if name == leg else each, [0.0] * len(each)) for name, each in legs.items()
        ]
        assert relevance(after)[last] >= relevance(before)[last]

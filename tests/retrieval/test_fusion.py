"""Fusion of several legs' answers: by calibrated scores and by reciprocal ranks, on worked examples and edges."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.retrieval.fusion import fuse
from amem.retrieval.legs import ListAnswer

A, B, C = 1, 2, 3
EVEN = dict.fromkeys(("dense", "lexical", "facts"), 1.0)


def listed(*pairs: tuple[int, float], most: float = 1.0) -> ListAnswer:
    return ListAnswer([key for key, _ in pairs], [score for _, score in pairs], most)


def relevance(rrf_k: float | None, **legs: ListAnswer) -> dict[int, float]:
    fused = fuse(legs, EVEN, rrf_k=rrf_k)
    return {key: fused.of(key) for key in fused.best()[0].tolist()}


BOTH = pytest.mark.parametrize("rrf_k", [None, 60], ids=["convex", "rrf"])


@BOTH
def test_what_three_legs_agree_on_beats_what_one_leg_puts_first(rrf_k: float | None) -> None:
    scores = relevance(
        rrf_k, dense=listed((A, 0.9), (B, 0.8)), lexical=listed((B, 0.7), (A, 0.6)), facts=listed((B, 0.5))
    )
    assert list(scores) == [B, A]


def test_reciprocal_ranks_are_the_sum_of_one_over_k_and_rank() -> None:
    scores = relevance(60, dense=listed((A, 0.9), (B, 0.1)), lexical=listed((B, 3.0)))
    best = 2 / 61
    assert scores == pytest.approx({B: (1 / 62 + 1 / 61) / best, A: 1 / 61 / best})


def test_a_convex_mean_keeps_how_sure_a_leg_is() -> None:
    sure = relevance(None, dense=listed((A, 0.9), (B, 0.1)), lexical=listed((B, 0.5), (A, 0.4)))
    assert sure == pytest.approx({A: 0.65, B: 0.3})
    ranks = relevance(60, dense=listed((A, 0.9), (B, 0.1)), lexical=listed((B, 0.5), (A, 0.4)))
    assert ranks[A] == pytest.approx(ranks[B])


def test_weights_are_shares_of_all_that_had_something_to_say() -> None:
    fused = fuse({"dense": listed((A, 1.0)), "lexical": listed((B, 1.0))}, {"dense": 3.0, "lexical": 1.0})
    assert (fused.of(A), fused.of(B)) == pytest.approx((0.75, 0.25))
    assert fused.parts(A)["dense"].share == pytest.approx(0.75)


@BOTH
def test_first_and_best_in_every_leg_is_worth_one(rrf_k: float | None) -> None:
    assert relevance(rrf_k, dense=listed((A, 1.0)), lexical=listed((A, 1.0))) == {A: pytest.approx(1.0)}


def test_in_reciprocal_ranks_a_leg_that_found_nothing_lowers_nobody() -> None:
    assert relevance(60, dense=listed((A, 0.4)), lexical=listed()) == {A: pytest.approx(1.0)}


@BOTH
def test_nothing_found_is_nothing_fused(rrf_k: float | None) -> None:
    assert relevance(rrf_k) == {}
    assert relevance(rrf_k, dense=listed()) == {}


@BOTH
def test_legs_without_weight_leave_no_score_that_is_no_number(rrf_k: float | None) -> None:
    fused = fuse({"dense": listed((A, 1.0))}, {"dense": 0.0}, rrf_k=rrf_k)
    assert fused.of(A) == 0.0


def test_a_smaller_k_makes_the_first_places_count_for_more() -> None:
    leg = listed((A, 0.9), (B, 0.8), (C, 0.7))
    steep, flat = relevance(1, dense=leg), relevance(1000, dense=leg)
    assert steep[A] - steep[C] > flat[A] - flat[C]


def test_a_note_asked_about_is_scored_but_is_no_candidate() -> None:
    fused = fuse({"dense": listed((A, 1.0))}, EVEN, also=[B])
    assert fused.best()[0].tolist() == [A]
    assert fused.parts(B) == {}
    assert fused.parts(B, silent=True)["dense"].share == 0.0


def test_notes_that_tie_share_the_middle_of_their_places() -> None:
    answer = ListAnswer([5, 6, 7, 8], [2.0, 1.0, 1.0, 1.0], 2.0, ties_share=True)
    assert answer.ranks() == {5: 1, 6: 3, 7: 3, 8: 3}


def test_a_name_that_many_carry_lifts_each_of_them_less_than_one_that_two_carry() -> None:
    many = ListAnswer(list(range(40)), [1.0] * 40, 1.0, ties_share=True)
    two = ListAnswer([0, 1], [1.0] * 2, 1.0, ties_share=True)
    assert many.ranks()[0] > two.ranks()[0]


@BOTH
def test_equal_notes_come_newest_first(rrf_k: float | None) -> None:
    tied = ListAnswer([A, B, C], [1.0, 1.0, 1.0], 1.0, ties_share=True)
    assert fuse({"dense": tied}, EVEN, rrf_k=rrf_k).best()[0].tolist() == [C, B, A]


rankings = st.dictionaries(
    st.sampled_from(list(EVEN)),
    st.lists(st.tuples(st.integers(1, 30), st.floats(0, 5)), unique_by=lambda pair: pair[0], max_size=20).map(
        lambda pairs: listed(*sorted(pairs, key=lambda pair: -pair[1]), most=4.0)
    ),
    max_size=3,
)


@BOTH
@given(legs=rankings)
def test_shares_add_up_to_a_relevance_between_zero_and_one(rrf_k: float | None, legs: dict[str, ListAnswer]) -> None:
    fused = fuse(legs, EVEN, rrf_k=rrf_k)
    for key in fused.best()[0].tolist():
        assert 0.0 <= fused.of(key) <= 1.0 + 1e-12
        shares = sum(part.share for part in fused.parts(key).values())
        assert math.isclose(shares, fused.of(key), abs_tol=1e-9)


@given(legs=rankings, leg=st.sampled_from(list(EVEN)))
def test_moving_up_in_one_leg_never_lowers_a_note(legs: dict[str, ListAnswer], leg: str) -> None:
    if leg not in legs or len(legs[leg].keys) < 2:
        return
    keys = list(legs[leg].keys)
    last = keys[-1]
    raised = legs | {leg: ListAnswer([last, *keys[:-1]], [0.0] * len(keys), 1.0)}
    before, after = (fuse(each, EVEN, rrf_k=60) for each in (legs, raised))
    assert after.of(last) >= before.of(last)

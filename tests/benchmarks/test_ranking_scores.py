"""The scores of a ranking, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from _ranking_scores import (
    difference,
    hit,
    interval,
    ndcg,
    percentile,
    places_of,
    recall,
    reciprocal_rank,
)


def test_evidence_is_found_at_the_place_of_the_first_hit_that_was_made_from_it() -> None:
    found = [{"D1:4"}, set(), {"D2:1", "D2:2"}, {"D2:1"}]
    assert places_of(("D2:1", "D9:9", "D1:4", "D2:2"), found) == (3, None, 1, 3)
    assert places_of(("D1:1",), []) == (None,)


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 0.25), (5, 0.5), (10, 0.5), (20, 0.75)])
def test_recall_is_the_share_of_the_evidence_within_the_first_k(k: int, expected: float) -> None:
    assert recall((5, None, 2, 11), k) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (20, 1.0)])
def test_a_hit_needs_only_one_turn_of_the_evidence(k: int, expected: float) -> None:
    assert hit((5, None, 2), k) == expected
    assert hit((None, None), k) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_evidence_found() -> None:
    assert reciprocal_rank((5, None, 2)) == 0.5
    assert reciprocal_rank((None,)) == 0.0


def test_ndcg_holds_the_places_of_the_evidence_against_the_best_order() -> None:
    assert ndcg((1, 2), 10) == pytest.approx(1.0)
    # Third place: 1/log2(4) = 1/2, where first place would be worth 1.
    assert ndcg((3,), 10) == pytest.approx(0.5)
    # Places 1 and 3 of three turns: 1 + 1/2 out of 1 + 1/log2(3) + 1/2.
    assert ndcg((1, 3, None), 10) == pytest.approx(1.5 / (1.5 + 1 / math.log2(3)))
    assert ndcg((11,), 10) == 0.0
    # Of three turns only two can be among the first two.
    assert ndcg((2, 1, 3), 2) == pytest.approx(1.0)


def test_a_note_made_from_two_turns_of_the_evidence_scores_no_more_than_the_best_order() -> None:
    assert ndcg((1, 1), 10) == 1.0


def test_an_interval_holds_the_mean_narrows_with_questions_and_is_the_same_in_every_run() -> None:
    few, many = interval([0.0, 1.0] * 10), interval([0.0, 1.0] * 500)
    assert few.mean == many.mean == 0.5
    # The standard error of a share of one half is 0.5 / sqrt(n); 1.96 of them on either side.
    assert few.low == pytest.approx(0.5 - 1.96 * 0.5 / math.sqrt(20), abs=0.03)
    assert many.high == pytest.approx(0.5 + 1.96 * 0.5 / math.sqrt(1000), abs=0.003)
    assert interval([0.0, 1.0] * 10) == few
    assert interval([0.7]) == interval([0.7, 0.7])
    assert math.isnan(interval([]).mean)


def test_two_rankings_are_compared_question_by_question() -> None:
    hard, easy = [0.0, 0.1] * 20, [0.9, 1.0] * 20
    theirs = hard + easy
    ours = [value + 0.05 for value in theirs]
    ahead = difference(ours, theirs)
    assert ahead.mean == pytest.approx(0.05)
    assert ahead.low == pytest.approx(0.05)
    assert ahead.is_above_zero
    # Unpaired, the spread between hard and easy questions would hide it.
    assert interval(ours).low < interval(theirs).high
    assert not difference(theirs, theirs).is_above_zero
    with pytest.raises(ValueError, match="cannot be held against"):
        difference([1.0], [1.0, 0.0])


def test_a_percentile_is_a_value_that_was_seen() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([float(each) for each in range(1, 101)], 0.95) == 95.0
    assert percentile([7.0], 0.95) == 7.0
    assert math.isnan(percentile([], 0.5))

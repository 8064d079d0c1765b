"""Ten ways of saying one thing do not fill ten places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.retrieval.diversity import diversified, pool

Rows = list[list[float]]


def order(scores: list[float], rows: Rows, diversity: float) -> list[int]:
    """The rows in their new order; rows need no length of one."""
    held = np.array(rows, dtype=np.float32).reshape(len(scores), -1)
    with np.errstate(invalid="ignore"):
        held /= np.linalg.norm(held, axis=1, keepdims=True)
    return [place.row for place in diversified(np.array(scores), held, diversity)]


def test_what_repeats_a_better_note_makes_room_for_another_thing() -> None:
    rows = [[1, 0], [1, 0.1], [1, 0.05], [0, 1]]
    assert order([0.9, 0.85, 0.84, 0.7], rows, 0.0) == [0, 1, 2, 3]
    assert order([0.9, 0.85, 0.84, 0.7], rows, 0.5) == [0, 3, 1, 2]


def test_what_hardly_answers_stays_below_what_repeats_a_good_answer() -> None:
    assert order([0.9, 0.88, 0.1], [[1, 0], [1, 0], [0, 1]], 0.3) == [0, 1, 2]


def test_the_best_note_keeps_its_place_and_each_tells_what_it_is_most_like() -> None:
    rows = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    first, second, third = diversified(np.array([0.9, 0.8, 0.7]), rows, 0.5)
    assert (first.row, first.like) == (0, -1)
    assert (second.row, second.like) == (2, -1)
    assert (third.row, third.like) == (1, 2)
    assert third.likeness == pytest.approx(0.8)


def test_a_note_without_a_vector_is_like_no_other() -> None:
    nan = float("nan")
    assert order([0.9, 0.8, 0.7, 0.6], [[1, 0], [nan, nan], [1, 0], [nan, nan]], 0.5) == [0, 1, 3, 2]
    assert order([0.9, 0.8], [[nan, nan], [nan, nan]], 1.0) == [0, 1]


def test_without_any_vector_or_any_note_nothing_changes() -> None:
    empty = np.empty((3, 0), dtype=np.float32)
    assert [place.row for place in diversified(np.array([0.3, 0.2, 0.1]), empty, 0.9)] == [0, 1, 2]
    assert diversified(np.empty(0), np.empty((0, 4), dtype=np.float32), 0.5) == []


def test_three_times_as_many_notes_as_places_compete_and_at_least_thirty() -> None:
    assert [pool(k) for k in (1, 5, 10, 11, 100)] == [30, 30, 30, 33, 300]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_every_note_keeps_one_place_and_equals_keep_their_order(
    notes: list[tuple[float, int]], diversity: float
) -> None:
    scores = sorted((score for score, _ in notes), reverse=True)
    rows = np.eye(4, dtype=np.float32)[[direction for _, direction in notes]]
    places = [place.row for place in diversified(np.array(scores), rows, diversity)]
    assert sorted(places) == list(range(len(notes)))
    assert places[0] == 0
    for one, (score, direction) in enumerate(zip(scores, (each for _, each in notes), strict=True)):
        for other in range(one + 1, len(notes)):
            if scores[other] == score and notes[other][1] == direction:
                assert places.index(one) < places.index(other)

"""Ten ways of saying one thing do not fill ten places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.retrieval.fusion import diversified, pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

    from amem.protocols import Embedder

Rows = list[list[float]]

SAME = (
    "Mira is allergic to peanuts.",
    "Mira has a peanut allergy.",
    "Peanuts make Mira ill: she is allergic to them.",
    "Mira's allergy is to peanuts.",
    "Because of her allergy Mira must not eat peanuts.",
    "Mira can't have peanuts, she is allergic.",
    "Mira reacts badly to peanuts, it is an allergy.",
    "Mira told us about her allergy to peanuts.",
    "Mira has been allergic to peanuts all her life.",
    "An allergy to peanuts runs in Mira's family, and Mira has it.",
)
QUESTION = "Tell me about Mira"
OTHER = (
    "Mira has swum in the sea every summer since school.",
    "Mira takes a pill against hay fever in spring.",
    "Mira sees a physiotherapist for her knee.",
)


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


@pytest.fixture
def mira(open_collection: Callable[..., Collection], minilm: Embedder) -> Collection:
    """Ten notes that say one thing, and three that say another each."""
    memory = open_collection(embedder=minilm)
    for text in (*SAME, *OTHER):
        memory.add(text)
    return memory


def test_ten_paraphrases_do_not_fill_ten_places(mira: Collection) -> None:
    plain = [hit.content for hit in mira.ask(QUESTION, k=10)]
    spaced = [hit.content for hit in mira.ask(QUESTION, k=5, diversity=0.5)]
    assert len(set(plain) & set(SAME)) >= 7
    assert set(OTHER) < set(spaced)
    assert spaced[0] == plain[0]


def test_a_hit_keeps_its_score_and_says_to_whom_it_lost_its_place(mira: Collection) -> None:
    scores = {hit.id: hit.score for hit in mira.ask(QUESTION, k=13)}
    hits = mira.ask(QUESTION, k=13, diversity=0.5)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(scores)
    for place, hit in enumerate(hits, start=1):
        why = hit.explanation
        assert why.place == place
        assert sum(leg.share for leg in why.legs) + why.link_share == pytest.approx(why.score, abs=1e-6)
        assert mira.explain(QUESTION, hit.id, k=13, diversity=0.5).notes == why.notes
    moved = [note for hit in hits for note in hit.explanation.notes]
    assert any(f"place: repeats {hits[0].id[:8]} (cosine 0." in note for note in moved)


def test_a_paraphrase_that_lost_its_place_is_told_why(mira: Collection) -> None:
    second = mira.ask(QUESTION, k=2)[1]
    assert second.id not in mira.found(QUESTION, k=2, diversity=0.5)
    why = mira.explain(QUESTION, second.id, k=2, diversity=0.5)
    assert why.kept_out is not None
    assert why.kept_out.reason == "below_k"
    assert "moved down from 2nd place" in " ".join(why.notes)


def test_the_setting_spaces_out_every_search_and_a_query_may_refuse(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(diversity=0.5)
    same = [memory.add(text) for text in ("她对花生过敏。", "她对花生过敏的。", "她对花生过敏呢。")]
    other = memory.add("她对猫毛也有反应，过敏了一整年，一直在吃药。")
    assert set(memory.found("她对什么过敏？", k=3, diversity=0.0)) == set(same)
    assert other in memory.found("她对什么过敏？", k=3)


def test_notes_without_vectors_keep_their_order(collection: Collection) -> None:
    for number in range(6):
        collection.add(f"green tea {'again ' * number}", embed=False)
    assert collection.found("green tea", k=6, diversity=0.9) == collection.found("green tea", k=6)

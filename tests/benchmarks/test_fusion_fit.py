"""Weights learnt from recorded questions: they order notes as a search does, and see nothing of what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fusion_fit
import numpy as np
import pytest
from _question_sets import SETS
from fusion_fit import DEFAULTS, LEARNERS, Questions, Recorded

from amem.retrieval.ranking import LEGS

if TYPE_CHECKING:
    from briefed import Open

    from amem.protocols import Embedder


def told_by(leg: str, collection: str) -> Recorded:
    """A question whose answer is fourth as it was searched for, and first where `leg` counts most."""
    shares = np.full((5, len(LEGS)), 0.5)
    shares[3] = 0.3
    shares[3, LEGS.index(leg)] = 0.9
    return Recorded("invented", collection, False, shares, np.zeros(5), ((3,),))


def at(weights: tuple[float, ...], leg: str) -> float:
    return weights[LEGS.index(leg)]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_leg_that_knows_the_answers_comes_to_count_most(name: str) -> None:
    questions = Questions([told_by("facts", collection) for collection in "abc"])
    learnt = LEARNERS[name](questions, np.ones(3, dtype=bool))
    assert at(learnt, "facts") == max(learnt)
    assert questions.measured(learnt)[:, 2].tolist() == [1.0] * 3


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_left_out_changes_nothing_of_what_is_learnt(name: str) -> None:
    seen = [told_by("facts", collection) for collection in "abc"]
    chosen = np.array([True] * 3 + [False] * 9)
    ways = [
        LEARNERS[name](Questions([*seen, *(told_by(leg, "d") for _ in range(9))]), chosen)
        for leg in ("late", "speaker")
    ]
    assert ways[0] == ways[1]


def test_a_note_that_a_reply_lifts_stays_lifted_by_the_same_part_of_the_best() -> None:
    shares = np.zeros((2, len(LEGS)))
    shares[:, 0] = 0.4, 0.3
    lifted = Questions([Recorded("invented", "a", True, shares, np.array([0.0, 0.5]), ((1,),))])
    bare = Questions([Recorded("invented", "a", True, shares, np.zeros(2), ((1,),))])
    for weights in (DEFAULTS, (2.0,) * len(LEGS)):
        assert lifted.measured(weights)[0, 2] == 1.0
        assert bare.measured(weights)[0, 2] == 0.5


def test_recorded_shares_put_the_answer_where_a_search_puts_it(open_memory: Open, minilm: Embedder) -> None:
    with open_memory(embedder=minilm) as memory:
        ids = [
            memory.add_note(text)
            for text in (
                "The ferry to Setúbal leaves at nine.",
                "Ana moved to Lisbon in March.",
                "渡轮九点开往塞图巴尔。",
                "The bakery opens before the first boat leaves.",
            )
        ]
        for text in ("When does the boat to Setúbal leave?", "渡轮几点开？", "Where did Ana move?"):
            hits = [hit.id for hit in memory.search(text, k=4)]
            shares, lifted, wanted = fusion_fit.recorded(memory, text, ids, lambda hit: {hit.id})
            asked = Questions([Recorded("invented", "a", True, shares, lifted, (rows,)) for rows in wanted])
            places = [hits.index(id) + 1 for id in ids]
            assert asked.measured(DEFAULTS)[:, 2].tolist() == [1 / place for place in places]


@pytest.mark.parametrize("half", ["tuned", "untouched"])
def test_a_half_of_a_question_set_is_half_of_it(half: str) -> None:
    for each in SETS:
        assert 2 * len(each.questions(half)) == len(each.questions())

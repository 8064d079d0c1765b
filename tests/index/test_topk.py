"""The best rows of a column of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.index.vector_rows import contenders, ranked


@given(
    st.integers(1, 3_000),
    st.integers(1, 200),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    st.sampled_from([2, 50, 10**9]),
)
def test_they_are_those_that_sorting_everything_gives(count: int, k: int, seed: int, hidden: float, distinct: int):
    random = np.random.default_rng(seed)
    scores = (random.integers(distinct, size=count) / distinct).astype(np.float32)
    scores[random.random(count) < hidden] = -np.inf
    keys = random.permutation(count).astype(np.int64)
    rows = contenders(scores, k)
    best, _ = ranked(keys[rows], scores[rows], k)
    everyone = [row for row in np.lexsort((keys, -scores)) if scores[row] > -np.inf]
    assert best.tolist() == keys[everyone[:k]].tolist()


@pytest.mark.parametrize("where", [slice(0, 40), slice(99_960, None), slice(0, None, 2_500)])
def test_winners_that_lie_together_are_found_as_well_as_scattered_ones(where: slice):
    scores = np.linspace(-0.5, 0.5, 100_003, dtype=np.float32)
    scores[where] += 2
    assert set(np.arange(100_003)[where]) == set(contenders(scores, len(scores[where])))


def test_scores_that_differ_by_rounding_alone_all_stay_in_the_running():
    scores = np.full(10_000, 0.5, dtype=np.float32)
    scores[7] = np.nextafter(np.float32(0.5), np.float32(1))
    assert len(contenders(scores, 1)) == 10_000

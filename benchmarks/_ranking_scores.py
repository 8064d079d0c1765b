"""How a ranking is scored against the few notes that should have been found, and how sure such a score is.

A question's result is its `places`: for each turn of its evidence the place, from 1, of the first hit that holds it,
None where none does. Every score lies in 0..1. The bootstrap is Efron's percentile interval over questions; two
configurations are compared question by question (paired), which takes out what makes a question hard for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    Places = Sequence[int | None]
    Values = Sequence[float] | NDArray[np.float64]

RESAMPLES = 10_000
SEED = 20_23


def places_of(evidence: Sequence[str], found: Sequence[Collection[str]]) -> tuple[int | None, ...]:
    """The place of each turn of `evidence`; `found` holds, for each hit, the turns it was made from."""
    first: dict[str, int] = {}
    for place, turns in enumerate(found, start=1):
        for turn in turns:
            first.setdefault(turn, place)
    return tuple(first.get(turn) for turn in evidence)


def recall(places: Places, k: int) -> float:
    """The share of the evidence among the first k hits."""
    return sum(place is not None and place <= k for place in places) / len(places)


def hit(places: Places, k: int) -> float:
    """1 when any of the evidence is among the first k hits, else 0."""
    return float(any(place is not None and place <= k for place in places))


def reciprocal_rank(places: Places) -> float:
    """1 over the place of the first hit that holds evidence; 0 when none of the hits does."""
    return max((1 / place for place in places if place is not None), default=0.0)


def ndcg(places: Places, k: int) -> float:
    """Discounted gain of the evidence among the first k (Järvelin & Kekäläinen, 2002), by that of the best order."""
    gain = sum(1 / math.log2(place + 1) for place in places if place is not None and place <= k)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(places), k) + 1))
    # One note made from two turns of the evidence gains twice in one place, more than the best order of single turns.
    return min(1.0, gain / best)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    @property
    def is_above_zero(self) -> bool:
        """Whether a difference is larger than chance would make it."""
        return self.low > 0


def interval(values: Values, *, seed: int = SEED) -> Interval:
    """The mean of `values`, one a question, and between which means 95 % of resampled sets of questions fall."""
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return Interval(math.nan, math.nan, math.nan)
    drawn = np.random.default_rng(seed).integers(len(array), size=(RESAMPLES, len(array)), dtype=np.int32)
    low, high = np.percentile(array[drawn].mean(axis=1), [2.5, 97.5])
    return Interval(float(array.mean()), float(low), float(high))


def difference(ours: Values, theirs: Values, *, seed: int = SEED) -> Interval:
    """By how much `ours` is higher, question by question. Raises ValueError for other questions on the two sides."""
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} questions cannot be held against {len(theirs)}")
    return interval(np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64), seed=seed)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that `share` of them do not exceed; nan for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

"""Reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009) of what the legs found, mapped to 0..1.

``fused = sum of weight / (k + rank)`` over the legs that found the note, rank from 1; relevance is that divided by
what a note that is first in every leg that found anything would have. So 1 means "first by every sense that had an
opinion", and a leg that abstains lowers nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Names are words too: what the entity leg finds, the lexical leg has mostly found already. What facts
#: lead to states what is asked, often in no word of the question, so it counts as much as words and meaning together.
WEIGHTS: Mapping[str, float] = {"dense": 1.0, "lexical": 1.0, "entity": 0.5, "facts": 2.0, "source": 1.0}


@dataclass(frozen=True, slots=True)
class Found:
    """What one leg found: keys and raw scores, best first; `matched` says by which names where the leg knows.

    `ties_share` is for legs whose scores are coarse: notes of equal score then share the middle of their places, so
    that a name carried by fifty notes lifts all fifty a little and none of them by chance.
    """

    leg: str
    keys: Sequence[int]
    scores: Sequence[float]
    matched: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    ties_share: bool = False

    def ranks(self) -> dict[int, int]:
        """The rank of each key, from 1."""
        if not self.ties_share:
            return {key: place for place, key in enumerate(self.keys, start=1)}
        ranks: dict[int, int] = {}
        start = 0
        for end in range(1, len(self.keys) + 1):
            if end == len(self.keys) or self.scores[end] != self.scores[start]:
                ranks |= dict.fromkeys(self.keys[start:end], 1 + (start + end - 1) // 2)
                start = end
        return ranks


@dataclass(frozen=True, slots=True)
class Part:
    """One leg's contribution to a candidate: its rank, its raw score, and its share of the relevance."""

    rank: int
    raw: float
    share: float


def fuse(found: Sequence[Found], k: float, weights: Mapping[str, float] = WEIGHTS) -> dict[int, dict[str, Part]]:
    """For each key, {leg: Part}; the shares of a key add up to its relevance in 0..1."""
    active = [each for each in found if each.keys]
    best = sum(weights[each.leg] / (k + 1) for each in active)
    fused: dict[int, dict[str, Part]] = {}
    for each in active:
        ranks = each.ranks()
        for key, raw in zip(each.keys, each.scores, strict=True):
            share = weights[each.leg] / (k + ranks[key]) / best
            fused.setdefault(key, {})[each.leg] = Part(ranks[key], raw, share)
    return fused

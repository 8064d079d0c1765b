"""Which notes go into a budget of tokens: those that add most for what they cost.

What a note adds is its score times how much of it is new beside what was picked before (maximal marginal relevance,
Carbonell & Goldstein 1998, as a product); what it costs are its tokens (the greedy rule for a submodular gain under a
knapsack, Lin & Bilmes 2010). By that rule alone a crowd of short notes that hardly matter would keep a good one out, so
those that are nearly as relevant as the best come first, and the rest share what is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.text import index_terms, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: From this share of the best score on, a note is one of the good answers.
_GOOD = 0.7
#: What is less new than that repeats what is there.
REPEATS = 0.15
#: Up to this cosine notes are about one thing rather than saying one thing.
_ABOUT = 0.5
#: Two notes that differ in a number or a negation say two things, however alike: at least half of each is new.
_DIFFER = 0.5
_TELLING = re.compile(
    r"\d[\d.,:/-]*\d|\d|[一二三四五六七八九十百千万两半]+(?=[个只条次岁天年月日号点元块毫克斤公分度])"
)
_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither)\b|n['’]t\b|不|没|别|未|无", re.I)


@dataclass(frozen=True)
class Candidate:
    """A note that could be picked: its text as it would stand there, the `tokens` of that, and its `score` (0..1).

    `vector` is None where nearness by meaning says nothing of likeness.
    """

    id: str
    text: str
    tokens: int
    score: float
    vector: NDArray[np.float32] | None = None

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(index_terms(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_TELLING.findall(self.text))

    @cached_property
    def negated(self) -> bool:
        return len(_NEGATION.findall(self.text)) % 2 == 1


@dataclass(frozen=True, slots=True)
class Picked:
    """Places of the candidates that go in, in the order in which they were picked; `repeats` tells of others which
    picked one says the same."""

    chosen: tuple[int, ...]
    repeats: dict[int, int]


def pick(candidates: Sequence[Candidate], room: int, first: int | None = None) -> Picked:
    """The candidates that fit into `room` tokens together, the one at `first` in any case if it fits."""
    new = [1.0] * len(candidates)
    nearest = [-1] * len(candidates)
    base = _base(candidates)
    chosen: list[int] = []
    bar = _GOOD * max((each.score for each in candidates), default=0.0)
    good = [place for place, each in enumerate(candidates) if each.score >= bar]
    others = [place for place, each in enumerate(candidates) if each.score < bar]
    for left in ([] if first is None else [first], good, others):
        left = [place for place in left if place not in chosen]
        while True:
            left = [place for place in left if candidates[place].tokens <= room and new[place] >= REPEATS]
            if not left:
                break
            best = max(left, key=lambda at: (_worth(candidates[at], new[at]), -at))
            left.remove(best)
            chosen.append(best)
            room -= candidates[best].tokens
            for place in range(len(candidates)):
                fresh = 1.0 - alike(candidates[place], candidates[best], base)
                if place not in chosen and fresh < new[place]:
                    new[place], nearest[place] = fresh, best
    repeats = {
        place: nearest[place] for place in range(len(candidates)) if place not in chosen and new[place] < REPEATS
    }
    return Picked(tuple(chosen), repeats)


def alike(one: Candidate, other: Candidate, base: float = _ABOUT) -> float:
    """How much of what `one` says `other` says already, 0..1: by words, and by meaning above what is usual."""
    if not one.terms:
        return 0.0
    said = len(one.terms & other.terms) / len(one.terms)
    if one.vector is not None and other.vector is not None:
        said = max(said, (float(one.vector @ other.vector) - base) / (1.0 - base))
    if one.numbers - other.numbers or one.negated != other.negated:
        said = min(said, _DIFFER)
    return min(1.0, max(0.0, said))


def comparable(text: str) -> bool:
    """Whether vectors tell how alike such texts are: to an English model all Chinese ones are."""
    return not written_in_cjk(text)


def _worth(candidate: Candidate, new: float) -> float:
    return candidate.score * new / max(candidate.tokens, 1)


def _base(candidates: Sequence[Candidate]) -> float:
    """How near these notes are to each other anyway, as they answer one question."""
    vectors = [each.vector for each in candidates if each.vector is not None]
    if len(vectors) < 2:
        return _ABOUT
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    count = len(vectors)
    return min(0.9, max(_ABOUT, float((cosines.sum() - np.trace(cosines)) / (count * (count - 1)))))

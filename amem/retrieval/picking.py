"""Which notes go into a budget of tokens: those that add most for what they cost.

What a note adds is the chance that it holds what is asked, times how much of it is new beside what was picked before
(maximal marginal relevance, Carbonell & Goldstein 1998, as a product); what it costs are its tokens (the greedy rule
for a gain with diminishing returns under a budget, Lin & Bilmes 2010). The chance grows much faster than the score,
which counts how far a note stands out: on conversations 0.2 means one in 150, 0.3 one in 30, 0.5 one in 5.
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

#: The power of the score with which that chance grows.
_STEEP = 4
#: What is less new than that repeats what is there.
REPEATS = 0.15
#: Up to this cosine notes are about one thing rather than saying one thing.
_ABOUT = 0.5
#: So much of what two notes say may be the same before one is less new for the other: they answer one question.
_COMMON = 0.5
#: 一 is in too many words to be a number wherever it stands.
_TELLING = re.compile(
    r"\d[\d.,:/-]*\d|\d|[一二三四五六七八九十百千万两半]{2,}|[二三四五六七八九十百千万两半]"
    r"|一(?=[个只条次岁天年月日号点元块片包盒瓶杯张本位家台斤克毫升公里米分小周])"
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
    for asked in ([] if first is None else [first], range(len(candidates))):
        left = [place for place in asked if place not in chosen]
        while True:
            left = [place for place in left if candidates[place].tokens <= room and new[place] >= REPEATS]
            if not left:
                break
            best = max(left, key=lambda at: (_worth(candidates[at], new[at]), -at))
            left.remove(best)
            chosen.append(best)
            room -= candidates[best].tokens
            for place in range(len(candidates)):
                said = alike(candidates[place], candidates[best], base)
                fresh = 1.0 - max(0.0, said - _COMMON) / (1.0 - _COMMON)
                if place not in chosen and fresh < new[place]:
                    new[place], nearest[place] = fresh, best
    repeats = {
        place: nearest[place] for place in range(len(candidates)) if place not in chosen and new[place] < REPEATS
    }
    return Picked(tuple(chosen), repeats)


def alike(one: Candidate, other: Candidate, base: float = _ABOUT) -> float:
    """How much of what `one` says `other` says already, 0..1: by words, and by meaning above what is usual.

    Two notes that differ in a number or a negation say two things, however alike.
    """
    if not one.terms:
        return 0.0
    said = len(one.terms & other.terms) / len(one.terms)
    if one.vector is not None and other.vector is not None:
        said = max(said, (float(one.vector @ other.vector) - base) / (1.0 - base))
    if one.numbers - other.numbers or one.negated != other.negated:
        said = min(said, _COMMON)
    return min(1.0, max(0.0, said))


def comparable(text: str) -> bool:
    """Whether vectors tell how alike such texts are: to an English model all Chinese ones are."""
    return not written_in_cjk(text)


def _worth(candidate: Candidate, new: float) -> float:
    return candidate.score**_STEEP * new / max(candidate.tokens, 1)


def _base(candidates: Sequence[Candidate]) -> float:
    """How near these notes are to each other anyway, as they answer one question."""
    vectors = [each.vector for each in candidates if each.vector is not None]
    if len(vectors) < 2:
        return _ABOUT
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    count = len(vectors)
    return min(0.9, max(_ABOUT, float((cosines.sum() - np.trace(cosines)) / (count * (count - 1)))))

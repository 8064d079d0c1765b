"""How the signs that a note answers a question add up to a confidence, and from which confidence on that is support.

The numbers are made by ``benchmarks/answering.py --fit`` from labelled questions; ADR 0016 tells how, and how good they
are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The least confidence in a note that states the fact that is asked for: 7 of 8 such notes answered.
_STATED = 0.85
#: Below this cosine a note that holds no word of a question has nothing to do with it.
_FAR = 0.2
#: So much of what is asked with is all of it.
_ALL = 0.9


class Support(StrEnum):
    """How well memory supports an answer."""

    STRONG = "strong"
    WEAK = "weak"
    """Something comes near; whoever reads the notes has to tell."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against one note as the answer; every sign but `lift` lies in 0..1.

    `held` is the share of what is asked with, words by their rarity and Chinese by its characters, that the note holds.
    `lift` is how much nearer to the note the words that it lacks bring the question, as a difference of cosines: below
    0 they ask for something else. `cosine` and `apart` (how far it lies above the collection's typical note) are, like
    `lift`, 0 where the embedding model cannot read both. `fact` is 1 where the note states what is asked of whom it is
    asked, 0.5 where the question asks for more than that. `strangers` is the share of the question's names that the
    note lacks; `lacks` is 1 where it has no price, date, person or other detail that the question wants. `first` is one
    over the note's place; `few` is 1 where it has no other notes to be mistaken for, 0 from 40
    on. `read` tells whether the embedding model reads both question and note.
    """

    held: float = 0.0
    lift: float = 0.0
    cosine: float = 0.0
    apart: float = 0.0
    fact: float = 0.0
    strangers: float = 0.0
    lacks: float = 0.0
    first: float = 0.0
    few: float = 0.0
    read: bool = False

    @property
    def covered(self) -> float:
        """The share that is held, squared: the half that is missing is what was asked for."""
        return self.held * self.held


#: What confidence is reckoned from.
NAMES = ("covered", "lift", "apart", "fact", "strangers", "lacks", "first", "few")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which confidence on a note gives an answer weak and strong support, and from which nearness it is near."""

    weak: float
    strong: float
    near: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The model: a weight for each sign, and thresholds for notes that the embedding model `read` and did not read."""

    bias: float
    weights: Mapping[str, float]
    read: Thresholds
    unread: Thresholds

    def confidence(self, signs: Signs) -> float:
        """The chance that the note answers the question, 0..1."""
        total = self.bias
        for name, weight in self.weights.items():
            total += weight * getattr(signs, name)
        found = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
        # Whoever asks for a fact and nothing else has it where it is stated, however little else speaks for the note.
        return max(found, _STATED) if signs.fact >= 1.0 else found

    def nearness(self, signs: Signs) -> float:
        """What the confidence would be in any place: of what has nothing to do with a question, something is first."""
        return self.confidence(replace(signs, first=0.0))

    def is_near(self, signs: Signs) -> bool:
        """Whether a note that is not sure to answer comes near enough to be shown in place of an answer.

        One that holds all that is asked with does, whatever it lacks.
        """
        return signs.held >= _ALL or self.nearness(signs) >= (self.read if signs.read else self.unread).near

    def support(self, confidence: float, signs: Signs) -> Support:
        """What a note of this confidence gives an answer."""
        least = self.read if signs.read else self.unread
        if confidence >= least.strong or signs.fact >= 1.0:
            return Support.STRONG
        # Being the first of the hits is no reason by itself.
        some = signs.held > 0.0 or signs.fact > 0.0 or signs.cosine >= _FAR
        return Support.WEAK if some and confidence >= least.weak else Support.NONE


#: Fitted on the development sets of ``tests/data/answers``: six notebooks of 45 to 49 notes, ten of 3 to 10.
CALIBRATION = Calibration(
    -5.24,
    {
        "covered": 2.52,
        "lift": 9.31,
        "apart": 2.59,
        "fact": 3.38,
        "strangers": -1.29,
        "lacks": -3.41,
        "first": 3.66,
        "few": 0.27,
    },
    Thresholds(0.0534, 0.6387, 0.0089),
    Thresholds(0.0044, 0.4442, 0.0057),
)

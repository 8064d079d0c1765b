"""What every leg of a search is asked, and what it answers: candidates, and an exact score for any note."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.protocols import Vector
    from amem.query import Query
    from amem.retrieval.gate import Gate
    from amem.retrieval.reading import Reading
    from amem.retrieval.window import Talk
    from amem.storage import Session

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question on one snapshot. `vector` is that of ``reading.meaning``; `limit` bounds a leg's candidates.

    `talk` knows who stands beside whom. `heard` is what the legs said that were asked before.
    """

    session: Session
    query: Query
    reading: Reading
    vector: Vector | None
    gate: Gate
    limit: int
    talk: Talk
    heard: Mapping[str, Answer] = field(default_factory=dict)


class Answer(Protocol):
    """What a leg has to say to one question."""

    @property
    def keys(self) -> Sequence[int]:
        """Its candidates, best first; none where it only has an opinion on those of others."""
        ...

    def ranks(self) -> Mapping[int, int]:
        """The rank of each candidate, from 1."""
        ...

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        """For each of these notes, whoever found it, the leg's own score and that score on the scale all legs share.

        On that scale 0 is "says nothing for this note" and 1 the most that could be said.
        """
        ...

    def matched(self, key: int) -> tuple[str, ...]:
        """The words, names or facts by which it found the note."""
        ...


class Leg(Protocol):
    """One sense by which notes are found."""

    @property
    def name(self) -> str: ...

    def ask(self, asked: Asked) -> Answer | None:
        """What it has to say; None where the question is none of its business."""
        ...


def to_the_point(asked: Asked, keys: Keys) -> Floats:
    """How much each of these notes means and says what is asked, 0..1, as those legs have it; 1 if neither was asked.

    For legs that know something of a note which is worth nothing where the note has nothing to do with the question.
    """
    said = [asked.heard[name].scores(keys)[1] for name in ("dense", "lexical") if name in asked.heard]
    mean: Floats = np.mean(said, axis=0) if said else np.ones(len(keys))
    return mean


@dataclass(frozen=True, slots=True)
class Listed:
    """The answer of a leg that has no opinion but on what it found, best first.

    `most` is the score that counts as 1. `ties_share` is for coarse scores: notes of equal score then share the middle
    of their places, so that a name carried by fifty notes lifts all fifty a little and none of them by chance.
    """

    keys: Sequence[int]
    found: Sequence[float]
    most: float
    words: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    ties_share: bool = False

    def ranks(self) -> dict[int, int]:
        if not self.ties_share:
            return {key: place for place, key in enumerate(self.keys, start=1)}
        ranks: dict[int, int] = {}
        start = 0
        for end in range(1, len(self.keys) + 1):
            if end == len(self.keys) or self.found[end] != self.found[start]:
                ranks |= dict.fromkeys(self.keys[start:end], 1 + (start + end - 1) // 2)
                start = end
        return ranks

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        held = dict(zip(self.keys, self.found, strict=True))
        raw = np.array([held.get(key, 0.0) for key in keys.tolist()], dtype=np.float64)
        return raw, np.clip(raw / self.most, 0.0, 1.0) if self.most > 0 else np.zeros(len(keys))

    def matched(self, key: int) -> tuple[str, ...]:
        return self.words.get(key, ())

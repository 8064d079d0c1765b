"""The kind leg: who asks how to do something wants the note that says how, not those that tell that it was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.retrieval.among import MOST, best_among
from amem.retrieval.reading import Intent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.legs import Asked, Floats, Keys, Leg


class KindLeg:
    """Finds and lifts procedures where a question asks how; the `legs` are asked again for the best among them.

    Abstains from other questions, from those that name the kinds that may answer, and where nobody wrote any down.
    """

    name = "kind"

    def __init__(self, legs: Sequence[Leg]) -> None:
        self._legs = legs

    def ask(self, asked: Asked) -> OfKind | None:
        """Which notes are procedures; None where it is no matter."""
        if Intent.PROCEDURAL not in asked.reading.intents or asked.query.filter.kinds:
            return None
        held = asked.session.notes.procedures(MOST + 1)
        return OfKind(frozenset(held), best_among(self._legs, asked, held)) if held else None


@dataclass(frozen=True)
class OfKind:
    """The kind leg's answer: 1 for each note of the kind; all its candidates are equally of it."""

    held: frozenset[int]
    keys: Sequence[int]

    def ranks(self) -> Mapping[int, int]:
        return dict.fromkeys(self.keys, (len(self.keys) + 1) // 2)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        worth = np.array([key in self.held for key in keys.tolist()], dtype=np.float64)
        return worth, worth

    def matched(self, key: int) -> tuple[str, ...]:
        return ("says how",)

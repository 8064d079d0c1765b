"""The kind leg: who asks how to do something wants the note that says how, not those that tell that it was done.

That a note is a procedure says nothing of what it is a procedure for, so it counts for as much as the note means and
says what is asked: one that does neither is not lifted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from amem.retrieval.among import MOST, best_among
from amem.retrieval.legs import to_the_point
from amem.retrieval.reading import Intent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.legs import Asked, Floats, Keys, Leg


class KindLeg:
    """Finds and lifts procedures where a question asks how; the `legs` are asked again for the best of them alone.

    Abstains from other questions, from those that name the kinds that may answer, and where nobody wrote any down.
    """

    name = "kind"

    def __init__(self, legs: Sequence[Leg]) -> None:
        self._legs = legs

    def ask(self, asked: Asked) -> OfKind | None:
        """Which notes are procedures, and how much to the point; None where it is no matter."""
        if Intent.PROCEDURAL not in asked.reading.intents or asked.query.filter.kinds:
            return None
        held = asked.session.notes.procedures(MOST + 1)
        return OfKind(asked, frozenset(held), best_among(self._legs, asked, held)) if held else None


@dataclass(frozen=True)
class OfKind:
    """The kind leg's answer: each note of the kind as much as it is to the point."""

    asked: Asked
    held: frozenset[int]
    found: Sequence[int]

    @cached_property
    def keys(self) -> Sequence[int]:
        """The best of the kind, best first."""
        keys = np.array(sorted(self.found), dtype=np.int64)
        return [int(key) for key in keys[np.argsort(-self.scores(keys)[1], kind="stable")]]

    def ranks(self) -> Mapping[int, int]:
        return {key: place for place, key in enumerate(self.keys, start=1)}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        of_kind = np.array([key in self.held for key in keys.tolist()], dtype=np.float64)
        return of_kind, of_kind * to_the_point(self.asked, keys)

    def matched(self, key: int) -> tuple[str, ...]:
        return ("says how",)

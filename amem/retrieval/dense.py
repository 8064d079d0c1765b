"""The dense leg: notes that mean what the question means, by the cosine of their vectors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.protocols import Vector
    from amem.retrieval.legs import Asked, Floats, Keys
    from amem.retrieval.protocols import DenseIndex

#: So many spreads above what is typical lies a note that says what the question says, word for word: its cosine is 1,
#: where unrelated notes have 0.1 with a spread of 0.1, give or take, with the sentence encoders in use.
_WHOLE = 8.0


class MeaningLeg:
    """Ranks notes by cosine, and tells how far each lies above the collection's typical note."""

    name = "dense"

    def __init__(self, dense: DenseIndex) -> None:
        self._dense = dense

    def ask(self, asked: Asked) -> Meaning | None:
        """The nearest notes; None where the question has no vector. The index must have been refreshed."""
        return None if asked.vector is None else Meaning(self._dense, asked, asked.vector)


class Meaning:
    """The dense leg's answer.

    A cosine says little by itself: 0.4 is much where notes have 0.1 on average, and nothing where all are about one
    thing. So the common scale counts spreads above the mean of a sample of the collection, which is the same for
    whoever asks.
    """

    def __init__(self, dense: DenseIndex, asked: Asked, vector: Vector) -> None:
        self._dense, self._vector = dense, vector
        keys, _ = dense.search(vector, asked.limit, allowed=asked.gate.allowed)
        self.keys: Sequence[int] = keys.tolist()

    @cached_property
    def _typical(self) -> tuple[float, float]:
        return self._dense.typical(self._vector)

    def ranks(self) -> Mapping[int, int]:
        return {key: place for place, key in enumerate(self.keys, start=1)}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        # A note whose vector is still being made has none to speak of: it says nothing, rather than nan.
        cosines = np.nan_to_num(self._dense.cosines(self._vector, keys).astype(np.float64), nan=0.0)
        mean, spread = self._typical
        return cosines, np.clip((cosines - mean) / (_WHOLE * spread), 0.0, 1.0)

    def matched(self, key: int) -> tuple[str, ...]:
        return ()

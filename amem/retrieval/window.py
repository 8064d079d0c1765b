"""What the turns around a note lend it: a reply is often unintelligible without what it replies to.

The note takes over, for each word of the question, the best of its own score and its neighbours', each decayed by how
far away it is: what comes before counts more than what comes after, and a word said three times around a note counts
once. Nothing is stored: a neighbour counts as it is now, one that was superseded not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Floats, Keys
    from amem.storage import Session

#: A pause of an hour ends an episode; what lies beyond is another talk. For each turn in between.
_PAUSE = np.timedelta64(1, "h")


@dataclass(frozen=True, slots=True)
class Beside:
    """Neighbours of notes, one row for each: whose, who, how many turns away (before: below 0), what it counts."""

    keys: Keys
    neighbours: Keys
    steps: Keys
    worth: Floats

    @classmethod
    def none(cls) -> Beside:
        """Of no note."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, nothing, np.empty(0))

    def of(self, keys: Keys) -> Beside:
        """The rows of these notes."""
        return self._where(np.isin(self.keys, keys))

    def of_one(self, key: int) -> Beside:
        """The rows of this note."""
        return self._where(self.keys == key)

    def _where(self, rows: NDArray[np.bool_]) -> Beside:
        return Beside(self.keys[rows], self.neighbours[rows], self.steps[rows], self.worth[rows])

    def with_(self, more: Beside) -> Beside:
        """These rows and more."""
        return Beside(
            np.concatenate((self.keys, more.keys)),
            np.concatenate((self.neighbours, more.neighbours)),
            np.concatenate((self.steps, more.steps)),
            np.concatenate((self.worth, more.worth)),
        )


def beside(session: Session, keys: Sequence[int], reach: int, decay: float) -> Beside:
    """The neighbours of each of these notes within `reach` turns of the same talk."""
    rows = session.notes.beside(keys, reach) if reach and decay and keys else []
    if not rows:
        return Beside.none()
    here, there, steps, at, then = zip(*rows, strict=True)
    turns = np.array(steps, dtype=np.int64)
    close = np.abs(_moments(at) - _moments(then)) <= np.abs(turns) * _PAUSE
    # What was said after a note explains it less than what it answers: it counts as twice as far away.
    worth = decay ** np.where(turns < 0, -turns, 2 * turns).astype(np.float64)
    return Beside(
        np.array(here, dtype=np.int64)[close], np.array(there, dtype=np.int64)[close], turns[close], worth[close]
    )


def _moments(texts: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    # numpy's times have no zone and want none: all that is stored is UTC.
    return np.array([text[:-1] for text in texts], dtype="datetime64[s]")

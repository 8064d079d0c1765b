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
    """Neighbours of notes, one row for each: whose, who, how many turns away (before: below 0)."""

    keys: Keys
    neighbours: Keys
    steps: Keys

    @classmethod
    def none(cls) -> Beside:
        """Of no note."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, nothing)

    def worth(self, decay: float) -> Floats:
        """What each neighbour's words count for its note."""
        # What was said after a note explains it less than what it answers: it counts as twice as far away.
        away = np.where(self.steps < 0, -self.steps, 2 * self.steps)
        worth: Floats = decay ** away.astype(np.float64)
        return worth

    def where(self, rows: NDArray[np.bool_]) -> Beside:
        """These rows alone."""
        return Beside(self.keys[rows], self.neighbours[rows], self.steps[rows])

    def with_(self, more: Beside) -> Beside:
        """These rows and more."""
        return Beside(
            np.concatenate((self.keys, more.keys)),
            np.concatenate((self.neighbours, more.neighbours)),
            np.concatenate((self.steps, more.steps)),
        )


class Talk:
    """Who stands beside whom, up to `reach` turns away; what was looked up once for a question is remembered."""

    def __init__(self, session: Session, reach: int) -> None:
        self._session, self.reach = session, reach
        self._known = Beside.none()
        self._looked: set[int] = set()

    def around(self, keys: Sequence[int]) -> Beside:
        """The neighbours of these notes in the same talk, in no particular order."""
        fresh = [key for key in dict.fromkeys(keys) if key not in self._looked] if self.reach else []
        if fresh:
            self._looked.update(fresh)
            self._known = self._known.with_(_beside(self._session, fresh, self.reach))
        if len(keys) == 1:
            return self._known.where(self._known.keys == keys[0])
        return self._known.where(np.isin(self._known.keys, np.array(keys, dtype=np.int64)))


def _beside(session: Session, keys: Sequence[int], reach: int) -> Beside:
    rows = session.notes.beside(keys, reach)
    if not rows:
        return Beside.none()
    here, there, steps, at, then = zip(*rows, strict=True)
    turns = np.array(steps, dtype=np.int64)
    close = np.abs(_moments(at) - _moments(then)) <= np.abs(turns) * _PAUSE
    return Beside(np.array(here, dtype=np.int64)[close], np.array(there, dtype=np.int64)[close], turns[close])


def _moments(texts: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    # numpy's times have no zone and want none: all that is stored is UTC.
    return np.array([text[:-1] for text in texts], dtype="datetime64[s]")

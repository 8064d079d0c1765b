"""What the turns around a note lend it: a reply is often unintelligible without what it replies to.

The note takes over, for each word of the question, the best of its own score and its neighbours', each decayed by how
far away it is: what comes before counts more than what comes after, and a word said three times around a note counts
once. Nothing is stored: a neighbour counts as it is now, one that was superseded not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Floats, Keys
    from amem.storage import Session

#: A pause of an hour ends an episode; what lies beyond is another talk. For each turn in between.
_PAUSE = np.timedelta64(1, "h")
#: Seconds, as the times of notes are written: `2024-05-01T12:30:00`.
_TO_SECONDS = 19


@dataclass(frozen=True, slots=True)
class Beside:
    """Neighbours of notes, one row for each: whose, who, how many turns away (before: below 0). `keys` ascend."""

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

    def where(self, rows: NDArray[Any] | slice) -> Beside:
        """These rows alone."""
        return Beside(self.keys[rows], self.neighbours[rows], self.steps[rows])

    def with_(self, more: Beside) -> Beside:
        """These rows and more."""
        keys = np.concatenate((self.keys, more.keys))
        both = Beside(
            keys, np.concatenate((self.neighbours, more.neighbours)), np.concatenate((self.steps, more.steps))
        )
        return both.where(np.argsort(keys, kind="stable"))

    def of(self, keys: Sequence[int]) -> Beside:
        """Those of these notes alone."""
        if len(keys) == 1:
            first, last = np.searchsorted(self.keys, (keys[0], keys[0] + 1)).tolist()
            return self.where(slice(first, last))
        asked = np.unique(np.array(keys, dtype=np.int64))
        first, last = np.searchsorted(self.keys, asked), np.searchsorted(self.keys, asked, side="right")
        return self.where(_each(first, last))


class Talk:
    """Who stands beside whom, up to `reach` turns away; what was looked up once for a question is remembered."""

    def __init__(self, session: Session, reach: int) -> None:
        self._session, self.reach = session, reach
        self._turns = _Turns.of((), {})
        self._talks: dict[str, int] = {}
        self._beside = Beside.none()
        #: Notes of which all turns around them are among the turns, and those that have been paired with them.
        self._whole: set[int] = set()
        self._paired: set[int] = set()

    def around(self, keys: Sequence[int], *, theirs: bool = False) -> Beside:
        """The neighbours of these notes in the same talk; fetches `theirs` as well where they will be asked for."""
        fresh = [key for key in dict.fromkeys(keys) if key not in self._paired] if self.reach else []
        if fresh:
            self._fetch([key for key in fresh if key not in self._whole], 2 * self.reach if theirs else self.reach)
            found = self._turns.beside(fresh, self.reach)
            self._beside = self._beside.with_(found)
            self._paired.update(fresh)
            if theirs:
                self._whole.update(found.neighbours.tolist())
        return self._beside.of(keys)

    def _fetch(self, keys: Sequence[int], reach: int) -> None:
        if keys and (rows := self._session.notes.turns(keys, reach)):
            self._turns = self._turns.with_(_Turns.of(rows, self._talks))
            self._whole.update(keys)


@dataclass(frozen=True, slots=True)
class _Turns:
    """Turns by their keys, which ascend: number of the talk, place in it, time, and whether they may lend."""

    keys: Keys
    talks: Keys
    ordinals: Keys
    at: NDArray[np.datetime64]
    active: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, str, int, str, int]], talks: dict[str, int]) -> _Turns:
        """Such rows as columns; conversations that are not among the `talks` yet get the next numbers."""
        keys, names, ordinals, at, active = zip(*rows, strict=True) if rows else ((),) * 5
        return cls(
            np.array(keys, dtype=np.int64),
            np.array([talks.setdefault(name, len(talks)) for name in names], dtype=np.int64),
            np.array(ordinals, dtype=np.int64),
            # numpy's times have no zone and want none: all that is stored is UTC.
            np.array([text[:_TO_SECONDS] for text in at], dtype="datetime64[s]"),
            np.array(active, dtype=np.bool_),
        )

    def with_(self, more: _Turns) -> _Turns:
        """These turns and more, each once."""
        keys, rows = np.unique(np.concatenate((self.keys, more.keys)), return_index=True)
        return _Turns(
            keys,
            np.concatenate((self.talks, more.talks))[rows],
            np.concatenate((self.ordinals, more.ordinals))[rows],
            np.concatenate((self.at, more.at))[rows],
            np.concatenate((self.active, more.active))[rows],
        )

    def beside(self, keys: Sequence[int], reach: int) -> Beside:
        """The neighbours of these notes, of those that are in any talk."""
        here = np.flatnonzero(np.isin(self.keys, np.array(keys, dtype=np.int64)))
        order = np.lexsort((self.ordinals, self.talks))
        places = self._places(order, reach)
        at = np.empty(len(order), dtype=np.int64)
        at[order] = places
        first = np.searchsorted(places, at[here] - reach)
        last = np.searchsorted(places, at[here] + reach, side="right")
        here, there = np.repeat(here, last - first), order[_each(first, last)]
        steps = at[there] - at[here]
        close = np.abs(self.at[there] - self.at[here]) <= np.abs(steps) * _PAUSE
        rows = (steps != 0) & self.active[there] & close
        return Beside(self.keys[here[rows]], self.keys[there[rows]], steps[rows])

    def _places(self, order: NDArray[np.intp], reach: int) -> Keys:
        """The turns in this order on one scale: one that is out of reach of the last, in any talk, is just out of it.

        So no talk runs into the next. Ordinals may be any integers: a step below 0 is one too long for 64 bits.
        """
        talks, steps = self.talks[order], np.diff(self.ordinals[order])
        near = (talks[1:] == talks[:-1]) & (steps >= 0) & (steps <= reach)
        return np.concatenate(([0][: len(order)], np.cumsum(np.where(near, steps, reach + 1))))


def _each(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every number from `first` on and below `last`, range after range."""
    counts = last - first
    starts = np.repeat(first - np.cumsum(counts) + counts, counts)
    each: NDArray[np.int64] = starts + np.arange(len(starts))
    return each

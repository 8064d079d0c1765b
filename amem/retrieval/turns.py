"""What was said around a note: the turns of each conversation in memory, kept in step by the change counter."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.storage.sql_values import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Floats, Keys
    from amem.storage.store import Session


# What the turns around a note lend it: a reply is often unintelligible without what it replies to.
#
# The note takes over, for each word of the question, the best of its own score and its neighbours', each decayed by
# how far away it is: what comes before counts more than what comes after, and a word said three times around a note
# counts once. Nothing is stored: a neighbour counts as it is now, one that was superseded not at all.

#: A pause of an hour ends an episode; what lies beyond is another conversation. For each turn in between.
_PAUSE = np.timedelta64(1, "h")


@dataclass(frozen=True, slots=True)
class NearTurns:
    """Neighbours of notes, one row for each: whose, who, how many turns away (before: below 0). `keys` ascend."""

    keys: Keys
    neighbours: Keys
    steps: Keys

    def worth(self, decay: float) -> Floats:
        """What each neighbour's words count for its note."""
        # What was said after a note explains it less than what it answers: it counts as twice as far away.
        away = np.where(self.steps < 0, -self.steps, 2 * self.steps)
        worth: Floats = decay ** away.astype(np.float64)
        return worth

    def of(self, key: int) -> NearTurns:
        """Those of one note."""
        first, last = np.searchsorted(self.keys, (key, key + 1)).tolist()
        return self.where(slice(first, last))

    def where(self, rows: NDArray[Any] | slice) -> NearTurns:
        """These rows alone."""
        return NearTurns(self.keys[rows], self.neighbours[rows], self.steps[rows])


@dataclass(frozen=True)
class Turns:
    """The turns of all conversations as of a value of the change counter, ordered by conversation and place in it.

    `chats` numbers the conversations as `names` has them; `active` turns may lend their words. 41 bytes a turn.
    """

    seq: int
    reach: int
    names: Mapping[str, int]
    keys: Keys
    chats: NDArray[np.int32]
    ordinals: Keys
    at: NDArray[np.datetime64]
    active: NDArray[np.bool_]

    @classmethod
    def of(cls, session: Session, counter: int, reach: int) -> Turns:
        """All there are, to be asked for neighbours up to `reach` turns away."""
        return cls._read(session, counter, reach, {})

    def after(self, session: Session, counter: int) -> Turns:
        """These turns with what has changed up to that value of the counter."""
        changed = session.vectors.states(self.seq)[0]
        if not len(changed):
            return replace(self, seq=counter)
        fresh = self._read(session, counter, self.reach, self.names, self.seq)
        kept = ~np.isin(self.keys, changed)
        chats, ordinals, keys = self.chats[kept], self.ordinals[kept], self.keys[kept]
        turns = zip(fresh.chats.tolist(), fresh.ordinals.tolist(), fresh.keys.tolist(), strict=True)
        at = np.array([_before(chats, ordinals, keys, *turn) for turn in turns], dtype=np.intp)
        return Turns(
            counter,
            self.reach,
            fresh.names,
            np.insert(keys, at, fresh.keys),
            np.insert(chats, at, fresh.chats),
            np.insert(ordinals, at, fresh.ordinals),
            np.insert(self.at[kept], at, fresh.at),
            np.insert(self.active[kept], at, fresh.active),
        )

    @classmethod
    def _read(
        cls, session: Session, counter: int, reach: int, known: Mapping[str, int], after: int | None = None
    ) -> Turns:
        """All turns, or those changed `after` that; conversations that are not `known` yet get the next numbers."""
        # Left to itself, SQLite walks through every conversation there is to find the few turns that changed.
        since = "WHERE true" if after is None else "INDEXED BY notes_seq WHERE seq > :after"
        which = f"FROM notes {since} AND conversation_id IS NOT NULL AND ordinal IS NOT NULL"
        counts = session.rows(f"SELECT conversation_id, count(*) {which} GROUP BY 1 ORDER BY 1", after=after)
        names = dict(known)
        for name, _ in counts:
            names.setdefault(name, len(names))
        found = columns(
            session,
            f"SELECT key, ordinal, at, status = 'active' AS active {which} ORDER BY conversation_id, ordinal, key",
            whole=("key", "ordinal", "active"),
            times=("at",),
            after=after,
        )
        chats = np.repeat(np.array([names[name] for name, _ in counts], dtype=np.int32), [count for _, count in counts])
        order = np.argsort(chats, kind="stable")
        key, ordinal, at, active = (found[name][order] for name in ("key", "ordinal", "at", "active"))
        return cls(counter, reach, names, key, chats[order], ordinal, at, active.astype(np.bool_))

    @cached_property
    def places(self) -> Keys:
        """Where the turns stand on one scale: one out of reach of the last, in any conversation, is just out of it.

        So no conversation runs into the next. Ordinals may be any integers: a step below 0 is one too long for 64 bits.
        """
        steps = np.diff(self.ordinals)
        near = (self.chats[1:] == self.chats[:-1]) & (steps >= 0) & (steps <= self.reach)
        return np.concatenate(([0][: len(self.keys)], np.cumsum(np.where(near, steps, self.reach + 1)))).astype(
            np.int64
        )

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The row of each key, -1 where it has none."""
        rows = np.full(int(self.keys.max(initial=-1)) + 1, -1, dtype=np.int32)
        rows[self.keys] = np.arange(len(self.keys), dtype=np.int32)
        return rows

    def beside(self, keys: Keys) -> NearTurns:
        """The neighbours of these notes, of those that are in any conversation."""
        asked = np.unique(keys)
        here = self.rows[asked[asked < len(self.rows)]]
        here = here[here >= 0]
        first = np.searchsorted(self.places, self.places[here] - self.reach)
        last = np.searchsorted(self.places, self.places[here] + self.reach, side="right")
        here, there = np.repeat(here, last - first), _each(first, last)
        steps = self.places[there] - self.places[here]
        close = np.abs(self.at[there] - self.at[here]) <= np.abs(steps) * _PAUSE
        kept = (steps != 0) & self.active[there] & close
        return NearTurns(self.keys[here[kept]], self.keys[there[kept]], steps[kept])


def _before(chats: NDArray[np.int32], ordinals: Keys, keys: Keys, chat: int, ordinal: int, key: int) -> int:
    """The row before which this turn has its place."""
    first, last = np.searchsorted(chats, (chat, chat + 1)).tolist()
    equal = first + np.searchsorted(ordinals[first:last], ordinal)
    beyond = first + np.searchsorted(ordinals[first:last], ordinal, side="right")
    return int(equal + np.searchsorted(keys[equal:beyond], key))


def _each(first: NDArray[np.intp], last: NDArray[np.intp]) -> NDArray[np.intp]:
    """Every number from `first` on and below `last`, range after range."""
    counts = last - first
    starts = np.repeat(first - np.cumsum(counts) + counts, counts)
    each: NDArray[np.intp] = starts + np.arange(len(starts))
    return each


class TurnCache:
    """The turns of one collection in memory. `reach` is how many turns away neighbours are; 0 keeps none."""

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._lock = threading.Lock()
        self._turns: Turns | None = None

    def window_of(self, session: Session) -> TurnWindow:
        """Who stands beside whom as of this session; next to nothing is read where nothing has changed."""
        if not self._reach:
            return TurnWindow(session, None)
        counter = session.counter
        with self._lock:
            held = self._turns
            # A session that began before the turns were last read sees fewer of them.
            if held is None or held.seq > counter:
                self._turns = Turns.of(session, counter, self._reach)
            elif held.seq < counter:
                self._turns = held.after(session, counter)
            return TurnWindow(session, self._turns)


class TurnWindow:
    """Who stands beside whom, for one session and its scope; nobody without turns."""

    def __init__(self, session: Session, turns: Turns | None) -> None:
        self._session, self._turns = session, turns
        self._shared = turns is not None and session.is_shared
        #: Whether a note that was met is of the scope.
        self._ours: dict[int, bool] = {}

    def around(self, keys: Sequence[int] | Keys) -> NearTurns:
        """The neighbours of these notes in the same conversation."""
        if self._turns is None or not len(self._turns.keys):
            nothing = np.empty(0, dtype=np.int64)
            return NearTurns(nothing, nothing, nothing)
        found = self._turns.beside(np.asarray(keys, dtype=np.int64))
        return found.where(self._within(found.neighbours)) if self._shared else found

    def _within(self, keys: Keys) -> NDArray[np.bool_]:
        if fresh := [key for key in np.unique(keys).tolist() if key not in self._ours]:
            ours = self._session.notes.of_scope(fresh)
            self._ours |= {key: key in ours for key in fresh}
        return np.array([self._ours[key] for key in keys.tolist()], dtype=np.bool_)

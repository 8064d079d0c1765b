"""The legs of a search: their protocol, the dense, speaker and time legs, and the turns beside a note."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from amem.language.times import named_in_note, states_a_time
from amem.retrieval.question import Intent, Period, Reading
from amem.storage.rows import columns, moment_or_never

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.protocols import Vector
    from amem.query import Query
    from amem.retrieval.ranking import EligibleNotes
    from amem.storage.store import Session

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]


# What every leg of a search is asked, and what it answers: candidates, and an exact score for any note.


@dataclass(frozen=True, slots=True)
class Asked:
    """One question on one snapshot. `vector` is that of ``reading.meaning``; `limit` bounds a leg's candidates.

    `window` knows the turns beside a note. `answers` are those of the legs that were asked before, by name.
    """

    session: Session
    query: Query
    reading: Reading
    vector: Vector | None
    eligible: EligibleNotes
    limit: int
    window: TurnWindow
    answers: Mapping[str, Answer] = field(default_factory=dict)


class Answer:
    """The answer of a leg to one question."""

    #: Its candidates, best first; none where it only has an opinion on those of others.
    keys: Sequence[int]

    def ranks(self) -> Mapping[int, int]:
        """The rank of each candidate, from 1."""
        return {key: place for place, key in enumerate(self.keys, start=1)}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        """For each of these notes, whoever found it, the leg's own score and that score on the scale all legs share.

        On that scale 0 is "says nothing for this note" and 1 the most that could be said.
        """
        raise NotImplementedError

    def matched(self, key: int) -> tuple[str, ...]:
        """The words, names or facts by which it found the note."""
        return ()


class Leg(Protocol):
    """One sense by which notes are found."""

    @property
    def name(self) -> str: ...

    def ask(self, asked: Asked) -> Answer | None:
        """The leg's answer; None where it abstains."""
        ...


def relevance_of(asked: Asked, keys: Keys) -> Floats:
    """How much each of these notes means and says what is asked, 0..1, as those legs have it; 1 if neither was asked.

    For legs that know something of a note which is worth nothing where the note has nothing to do with the question.
    """
    said = [asked.answers[name].scores(keys)[1] for name in ("dense", "lexical") if name in asked.answers]
    mean: Floats = np.mean(said, axis=0) if said else np.ones(len(keys))
    return mean


@dataclass(frozen=True)
class ListAnswer(Answer):
    """The answer of a leg that has no opinion but on what it found, best first.

    `most` is the score that counts as 1. `ties_share` is for coarse scores: notes of equal score then share the middle
    of their places, so that a name carried by fifty notes lifts all fifty a little and none of them by chance.
    """

    keys: Sequence[int]
    found: Sequence[float]
    most: float
    words: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    ties_share: bool = False

    def ranks(self) -> Mapping[int, int]:
        if not self.ties_share:
            return super().ranks()
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


def is_among(keys: Keys, held: Keys) -> NDArray[np.bool_]:
    """Which of `keys` are among `held`, which ascend: a tenth of the time of ``numpy.isin`` for few keys."""
    if not len(held):
        return np.zeros(len(keys), dtype=np.bool_)
    found: NDArray[np.bool_] = held[np.minimum(np.searchsorted(held, keys), len(held) - 1)] == keys
    return found


# The best of some notes alone, which all the others may well beat.

#: More notes than this are a good part of all there are, and the legs find the best of them as it is.
MOST = 20_000


def best_among(legs: Sequence[Leg], asked: Asked, keys: Keys) -> list[int]:
    """Those of `keys` that may answer, where they are few; else what each leg would find if there were no others.

    None of more than `MOST`.
    """
    if len(keys) <= asked.limit:
        return asked.eligible.passing(keys.tolist())
    if len(keys) > MOST:
        return []
    narrow = replace(asked, eligible=asked.eligible.among(keys))
    answers = [answer for leg in legs if (answer := leg.ask(narrow)) is not None]
    return asked.eligible.passing(dict.fromkeys(key for answer in answers for key in answer.keys))


# The dense leg: notes that mean what the question means, by the cosine of their vectors.

#: So many spreads above what is typical lies a note that says what the question says, word for word: its cosine is 1,
#: where unrelated notes have 0.1 with a spread of 0.1, give or take, with the sentence encoders in use.
_WHOLE = 8.0


class MeaningLeg:
    """Ranks notes by cosine, and tells how far each lies above the collection's typical note."""

    name = "dense"

    def __init__(self, dense: DenseLeg) -> None:
        self._dense = dense

    def ask(self, asked: Asked) -> DenseAnswer | None:
        """The nearest notes; None where the question has no vector. The index must have been refreshed."""
        return None if asked.vector is None else DenseAnswer(self._dense, asked, asked.vector)


class DenseAnswer(Answer):
    """The dense leg's answer.

    A cosine says little by itself: 0.4 is much where notes have 0.1 on average, and nothing where all are about one
    thing. So the common scale counts spreads above the mean of a sample of the collection, which is the same for
    whoever asks.
    """

    def __init__(self, dense: DenseLeg, asked: Asked, vector: Vector) -> None:
        self._dense, self._vector = dense, vector
        keys, _ = dense.search(vector, asked.limit, allowed=asked.eligible.allowed)
        self.keys = keys.tolist()

    @cached_property
    def _typical(self) -> tuple[float, float]:
        return self._dense.typical(self._vector)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        # A note whose vector is still being made has none to speak of: it says nothing, rather than nan.
        cosines = np.nan_to_num(self._dense.cosines(self._vector, keys).astype(np.float64), nan=0.0)
        mean, spread = self._typical
        return cosines, np.clip((cosines - mean) / (_WHOLE * spread), 0.0, 1.0)


# The speaker leg: asked about Ana, what Ana said herself is more likely to answer than what was said to her.


class SpeakerLeg:
    """Finds no notes of its own; lifts those said by the one person whom the question names."""

    name = "speaker"

    def ask(self, asked: Asked) -> SpeakerAnswer | None:
        """Who said what; None where nobody, or more than one, is named."""
        who = asked.reading.speaker
        return None if who is None else SpeakerAnswer(asked, who)


@dataclass(frozen=True)
class SpeakerAnswer(Answer):
    """The speaker leg's answer: 1 for what that person said."""

    asked: Asked
    who: str
    keys = ()

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        rows, wanted = self.asked.eligible.rows(keys.tolist()), self.who.casefold()
        said = np.array([(rows[key].speaker or "").casefold() == wanted for key in keys.tolist()], dtype=np.float64)
        return said, said

    def matched(self, key: int) -> tuple[str, ...]:
        return (self.who,)


# The time leg: a question that names a time is answered by the notes that speak of it.
#
# A note speaks of the time it is about, of the times its text names ("yesterday" is the day before), and of the time it
# says something has been so. Within what is asked for it counts in full. Outside it counts less, as times are named
# loosely: half for each length of the period that lies between, so that who asks about May may well mean early June,
# and who asks about the third of May hardly means the tenth. People tell what has happened, seldom what will: before
# the period a note fades twice as fast.

#: How loosely a time without an end is named, "since 2022" or "before we moved": by some weeks.
_OPEN = timedelta(days=30)
#: What was so all along, before and after as well, says little of the time that is asked for.
_ALL_ALONG = 0.5


class TimeLeg:
    """Lifts what speaks of the time that a question names, and finds the best of it; abstains where time is no matter.

    A question that asks when is helped by notes that state a time, whichever. The `legs` are asked again for their best
    among the notes of the time alone, which a hundred thousand other notes may well beat.
    """

    name = "time"

    def __init__(self, legs: Sequence[Leg], zone: tzinfo) -> None:
        self._legs, self._zone = legs, zone

    def ask(self, asked: Asked) -> Answer | None:
        """How well notes go with the time of the reading, which must be settled; None where time is not its matter."""
        reading, period = asked.reading, asked.reading.period
        if period is not None:
            within = asked.session.notes.within(period.since, period.until, MOST + 1)
            return TimeAnswer(asked, period, best_among(self._legs, asked, within), within, self._zone)
        when = Intent.TEMPORAL in reading.intents and reading.recency is None and reading.event is None
        return StatedTimeAnswer(asked) if when else None


@dataclass(frozen=True)
class TimeAnswer(Answer):
    """The time leg's answer: 1 within the period. All its candidates are equally within.

    `within` are notes of the period, ascending: all, where they are not too many.
    """

    asked: Asked
    period: Period
    keys: Sequence[int]
    within: Keys
    zone: tzinfo

    def ranks(self) -> Mapping[int, int]:
        return dict.fromkeys(self.keys, (len(self.keys) + 1) // 2)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        worth = np.ones(len(keys))
        others = ~is_among(keys, self.within)
        read = keys[others].tolist()
        rows = self.asked.session.notes.columns(read, ["at", "valid_from", "valid_to", "content"])
        worth[others] = [self._worth(*rows[key]) for key in read]
        return worth, worth

    def matched(self, key: int) -> tuple[str, ...]:
        return (self.period.words,)

    def _worth(self, at: str, begun: str | None, ended: str | None, content: str) -> float:
        said = moment_or_never(at)
        best = max(self._near(said, said), self._so(begun, ended))
        if best < 1.0:
            day = said.astimezone(self.zone).date()
            for first, after in times_of(content, day):
                best = max(best, self._spoken(self._midnight(first), self._midnight(after)))
        return best

    def _spoken(self, first: datetime, last: datetime) -> float:
        """The worth of a text that names the time from `first` to `last`: a day is little of "last year"."""
        named = last - first
        return self._near(first, last) * (min(1.0, self._length / named) if self._closed else 1.0)

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def _so(self, begun: str | None, ended: str | None) -> float:
        """The worth of a note that says what was so from `begun` until `ended`."""
        if begun is None and ended is None:
            return 0.0
        since = self._since if begun is None else moment_or_never(begun)
        if begun is not None and self._since <= since < self._until:
            return 1.0
        until = self._until if ended is None else moment_or_never(ended)
        if since >= self._until or until <= self._since:
            return self._near(since, since) if begun is not None else 0.0
        return 1.0 if ended is not None else _ALL_ALONG

    def _near(self, first: datetime, last: datetime) -> float:
        """1 for what lies within the period or overlaps it, less outside."""
        if first >= self._until:
            gap, half = first - self._until, self._length
        elif last < self._since:
            gap, half = self._since - last, self._length / 2
        else:
            return 1.0
        return float(0.5 ** (gap / half))

    @cached_property
    def _since(self) -> datetime:
        return self.period.since or datetime.min.replace(tzinfo=UTC)

    @cached_property
    def _until(self) -> datetime:
        return self.period.until or datetime.max.replace(tzinfo=UTC)

    @property
    def _closed(self) -> bool:
        return self.period.since is not None and self.period.until is not None

    @cached_property
    def _length(self) -> timedelta:
        return self._until - self._since if self._closed else _OPEN


@lru_cache(maxsize=1 << 12)
def times_of(content: str, said: date) -> tuple[tuple[date, date], ...]:
    """The first day of each time that the text names, read as on the day it was said, and the day after its last."""
    found = []
    for each in named_in_note(content, said):
        try:
            if each.span is not None:
                found.append((each.span.first, each.span.last + timedelta(days=1)))
        except (ValueError, OverflowError):
            continue  # The calendar ends before it does.
    return tuple(found)


@dataclass(frozen=True)
class StatedTimeAnswer(Answer):
    """The time leg's answer to a question that asks when.

    "I moved yesterday" answers "when did you move?" better than "the move was hard" does. But many notes state some
    time, so each counts for as much as it is to the point.
    """

    asked: Asked
    keys = ()

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        rows = self.asked.session.notes.columns(keys.tolist(), ["content"])
        states = np.array([states_a_time(rows[key][0]) for key in keys.tolist()], dtype=np.float64)
        return states, states * relevance_of(self.asked, keys)

    def matched(self, key: int) -> tuple[str, ...]:
        return ("says when",)


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
        """The weight of each neighbour's words for its note."""
        # What was said after a note explains it less than what it answers: it counts as twice as far away.
        away = np.where(self.steps < 0, -self.steps, 2 * self.steps)
        worth: Floats = decay ** away.astype(np.float64)
        return worth

    def lend(self, best: Floats, keys: Keys, offered: Floats, decay: float) -> None:
        """Raise the row of each of `keys` in `best` to what its neighbours offer, a row for each, by their worth."""
        order = np.argsort(keys)
        hosts = order[np.searchsorted(keys, self.keys, sorter=order)]
        np.maximum.at(best, hosts, offered * self.worth(decay)[:, None])

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
    def of(cls, session: Session, reach: int, held: Turns | None = None) -> Turns:
        """All that the session sees, to be asked for neighbours up to `reach` turns away: `held` brought up to date."""
        # A session that began before the turns were last read sees fewer of them.
        if held is None or held.seq > session.counter:
            return cls._read(session, reach, {})
        return held if held.seq == session.counter else held._after(session)

    def _after(self, session: Session) -> Turns:
        changed = session.vectors.states(self.seq)[0]
        if not len(changed):
            return replace(self, seq=session.counter)
        fresh = self._read(session, self.reach, self.names, self.seq)
        kept = ~np.isin(self.keys, changed)
        chats, ordinals, keys = self.chats[kept], self.ordinals[kept], self.keys[kept]
        turns = zip(fresh.chats.tolist(), fresh.ordinals.tolist(), fresh.keys.tolist(), strict=True)
        at = np.array([_before(chats, ordinals, keys, *turn) for turn in turns], dtype=np.intp)
        return Turns(
            session.counter,
            self.reach,
            fresh.names,
            np.insert(keys, at, fresh.keys),
            np.insert(chats, at, fresh.chats),
            np.insert(ordinals, at, fresh.ordinals),
            np.insert(self.at[kept], at, fresh.at),
            np.insert(self.active[kept], at, fresh.active),
        )

    @classmethod
    def _read(cls, session: Session, reach: int, known: Mapping[str, int], after: int | None = None) -> Turns:
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
        return cls(session.counter, reach, names, key, chats[order], ordinal, at, active.astype(np.bool_))

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


class TurnWindow:
    """The neighbours of turns, for one session and its scope; none without turns."""

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

"""The time leg: a question that names a time is answered by the notes that speak of it.

A note speaks of the time it is about, of the times its text names ("yesterday" is the day before), and of the time it
says something has been so. Within what is asked for it counts in full. Outside it counts less, as times are named
loosely: half for each length of the period that lies between, so that who asks about May may well mean early June, and
who asks about the third of May hardly means the tenth. People tell what has happened, seldom what will: before the
period a note fades twice as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from amem.language.times import mentions, states_a_time
from amem.retrieval.legs import MOST, best_among, to_the_point
from amem.retrieval.question import Intent
from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, tzinfo

    from amem.retrieval.legs import Answer, Asked, Floats, Keys, Leg
    from amem.retrieval.question import Period


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
            return InTime(asked, period, best_among(self._legs, asked, within), self._zone)
        when = Intent.TEMPORAL in reading.intents and reading.recency is None and reading.event is None
        return States(asked) if when else None


@dataclass(frozen=True)
class InTime:
    """The time leg's answer: 1 within the period. All its candidates are equally within."""

    asked: Asked
    period: Period
    keys: Sequence[int]
    zone: tzinfo

    def ranks(self) -> Mapping[int, int]:
        return dict.fromkeys(self.keys, (len(self.keys) + 1) // 2)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        rows = self.asked.session.notes.columns(keys.tolist(), ["at", "valid_from", "valid_to", "content"])
        worth = np.array([self._worth(*rows[key]) for key in keys.tolist()], dtype=np.float64)
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
        """What a text that names the time from `first` to `last` says of the period: a day is little of "last year"."""
        named = last - first
        return self._near(first, last) * (min(1.0, self._length / named) if self._closed else 1.0)

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def _so(self, begun: str | None, ended: str | None) -> float:
        """What a note says has been so from `begun` until `ended`."""
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
    for each in mentions(content, said):
        try:
            if each.span is not None:
                found.append((each.span.first, each.span.last + timedelta(days=1)))
        except (ValueError, OverflowError):
            continue  # The calendar ends before it does.
    return tuple(found)


@dataclass(frozen=True)
class States:
    """The time leg's answer to a question that asks when.

    "I moved yesterday" answers "when did you move?" better than "the move was hard" does. But many notes state some
    time, so each counts for as much as it is to the point.
    """

    asked: Asked

    @property
    def keys(self) -> Sequence[int]:
        return ()

    def ranks(self) -> Mapping[int, int]:
        return {}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        rows = self.asked.session.notes.columns(keys.tolist(), ["content"])
        states = np.array([states_a_time(rows[key][0]) for key in keys.tolist()], dtype=np.float64)
        return states, states * to_the_point(self.asked, keys)

    def matched(self, key: int) -> tuple[str, ...]:
        return ("says when",)

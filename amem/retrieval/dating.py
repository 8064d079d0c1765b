"""Which days a question's time means, where only the notes know: the year of "in May", the day of "before we moved"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from amem.clock import start_of_day
from amem.note import Kind
from amem.retrieval.reading import Intent, Period, Reading
from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from amem.protocols import Vector
    from amem.retrieval.legs import Asked, Leg
    from amem.retrieval.reading import Event
    from amem.storage import Session

#: Years that are gone back to find notes about a May: the oldest diaries are about as old.
_YEARS = 100
#: Notes looked at for an event, by each sense.
_NOTES = 10
#: What a note must have of all that a sense could say for it to tell of the event: one that holds all its words once
#: has a bit less than half, one that holds half of them not enough.
_TOLD = 0.3


class Dating:
    """Finds what a question's time hangs on with the same legs that answer it; `legs` are asked for events."""

    def __init__(self, legs: Sequence[Leg], zone: tzinfo) -> None:
        self._legs, self._zone = legs, zone

    def settle(self, asked: Asked, event: Vector | None) -> Reading:
        """The reading with the days of its time; `event` is the vector of its event's words, where there is one.

        An event that no note tells of leaves it without a period: nothing is known about when it was.
        """
        reading = asked.reading
        if reading.period is not None and reading.period.yearless:
            return replace(reading, period=_known_year(asked.session, reading.period))
        if reading.period is None and reading.event is not None:
            return replace(reading, period=self._when(asked, reading.event, event))
        return reading

    def _when(self, asked: Asked, event: Event, vector: Vector | None) -> Period | None:
        """Before or after the time that the note which best tells of the event speaks of."""
        sought = Reading(event.text, (Intent.GENERAL,), event.text)
        about = replace(asked, reading=sought, vector=vector, limit=_NOTES)
        answers = [answer for leg in self._legs if (answer := leg.ask(about)) is not None]
        keys = asked.gate.admit(dict.fromkeys(key for answer in answers for key in answer.keys[:_NOTES]))
        # Who asks when we moved does not tell of it.
        keys = [key for key in keys if asked.gate.rows[key].kind != Kind.QUESTION]
        if not keys:
            return None
        worth = np.stack([answer.scores(np.array(keys, dtype=np.int64))[1] for answer in answers])
        best = int(worth.sum(axis=0).argmax())
        if worth[:, best].max() < _TOLD:
            return None
        ((at, begun),) = asked.session.notes.columns([keys[best]], ["at", "valid_from"]).values()
        moment = moment_or_never(begun or at)
        if event.before:
            return Period(event.words, None, moment)
        return Period(event.words, start_of_day(moment, self._zone), None)


def _known_year(session: Session, period: Period) -> Period:
    """The period in the latest year of which there are notes; as it is where there are none in any."""
    moved = period
    for _ in range(_YEARS):
        if session.notes.within(moved.since, moved.until, 1):
            return moved
        moved = replace(moved, since=_year_before(moved.since), until=_year_before(moved.until))
    return period


def _year_before(moment: datetime | None) -> datetime | None:
    if moment is None or moment.year <= 1:
        return moment
    day = timedelta(days=1) if (moment.month, moment.day) == (2, 29) else timedelta(0)
    return (moment - day).replace(year=moment.year - 1)

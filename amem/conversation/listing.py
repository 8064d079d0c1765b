"""Which notes a question for several asks for: all of a time ("what did I do last week?"), or all of a sort."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conflict.statements import Statement, read
from amem.language.states import calls_off
from amem.language.times import (
    asks_ahead,
    asks_for_all,
    asks_for_deeds,
    deed_asked,
    named_in_note,
    tells_of_deed,
    tells_of_work,
)
from amem.note import Kind, MemoryNote
from amem.query import Filter
from amem.retrieval.confidence import Support
from amem.retrieval.legs import times_of
from amem.retrieval.question import Period, Recency, asks_for_several
from amem.retrieval.question_times import recency_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.conversation.ports import Memory
    from amem.retrieval.hit import Hit

#: Notes that are looked at for those of a time, the latest first.
_LATEST = 1_000
#: So long before a time notes may have planned it.
_PLANNED = timedelta(days=180)
#: What is recent where nothing else says since when.
_RECENTLY = timedelta(days=30)
#: Notes about a time are no notes of it.
_NOT_OF_A_TIME = (Kind.QUESTION, Kind.TOPIC)
#: More than one sentence: then a note of the time may speak of another one besides.
_SEVERAL_SENTENCES = re.compile(r"[.;!?。；！？]\s*\S")
#: So much of what is asked a note of a sort holds, and so great a share of the surest one's confidence it has.
_HELD, _NEAR = 0.75, 0.25


def of_a_time(question: str, period: Period | None, now: datetime, *, roughly: bool = False) -> Period | None:
    """The time of which a question wants everything; None where it wants something else.

    One for plans that names no time is about all that is to come, one for what is recent about a month. `roughly` takes
    one for whom one met or where one was, too.
    """
    if period is not None:
        return period if asks_for_all(question.replace(period.words, " "), roughly=roughly) else None
    if not asks_for_all(question, roughly=roughly):
        return None
    if asks_ahead(question):
        return Period("", now, None)
    return Period("", now - _RECENTLY, now) if recency_of(question)[0] is Recency.RECENT else None


def notes_of_a_time(
    memory: Memory, question: str, period: Period, hits: Sequence[Hit], notes: Mapping[str, MemoryNote], now: datetime
) -> list[MemoryNote]:
    """The notes of a time in its order: those that were written in it, and those that say that they are about it.

    What is to come, or was called off, is nothing that was done, and what was done no plan. `notes` are those of the
    `hits`.
    """
    ahead = asks_ahead(question)
    found = {id: notes[id] for id in timely(hits)}
    if not ahead:
        since = None if period.since is None else period.since - _PLANNED
        written = Filter(since=since, until=period.until)
        found |= {note.id: note for note in memory.list(written, limit=_LATEST)}
    if period.until is None or period.until > now:
        found |= {note.id: note for note in memory.list(limit=_LATEST)}
    local = zone(memory.settings.timezone)
    when: dict[str, datetime] = {}
    for id, note in found.items():
        if note.at is None or note.kind in _NOT_OF_A_TIME or note.metadata.get("episode"):
            continue
        at = note.at.astimezone(local)
        days = [
            (datetime.combine(first, time(), local), datetime.combine(after, time(), local))
            for first, after in times_of(note.content, at.date())
        ]
        if not days and not ahead and _calls(note.content, period, at):
            days = [(period.since or at, period.until or at)]  # a festival, or a month without its year
        inside = [each for each in days if _is_in(*each, period)]
        named = [first for first, after in inside if (after > now if ahead else first <= now)]
        if named:
            when[id] = min(named)
        elif not ahead and _holds(period, at) and _is_of_its_day(note.content, days, at):
            when[id] = at
    if not ahead:
        off = [note for note in found.values() if calls_off(note.content)]
        when = {id: day for id, day in when.items() if not _is_called_off(found[id], off)}
    return [found[id] for id in sorted(when, key=lambda id: (when[id], found[id].at))]


def only_plans(note: MemoryNote) -> bool:
    """Whether a note only plans what it names a day for: "we're going to Brittany in September"."""
    day = (note.at or datetime.min).date()
    stated = read(note.content)
    of_a_day = [each for each in stated if any(named.span is not None for named in named_in_note(each.text, day))]
    return bool(of_a_day) and all(each.planned for each in of_a_day)


def _is_called_off(note: MemoryNote, off: Sequence[MemoryNote]) -> bool:
    """Whether one of these notes, which call something off, is later and speaks of what a note tells."""
    later = [each for each in off if note.at is not None and each.at is not None and each.at > note.at]
    calling = [each for other in later for each in read(other.content) if calls_off(each.text)]
    told = _things(read(note.content)) if calling else frozenset()
    return bool(told & _things(calling))


def _things(stated: Iterable[Statement]) -> frozenset[str]:
    """What statements are about, light words left out."""
    return frozenset(key for each in stated for key, weight in each.about.items() if weight >= 1.0)


def notes_of_a_deed(memory: Memory, question: str, period: Period | None) -> list[MemoryNote]:
    """The notes that tell of the deed that a question asks for ("what did I buy this year?"), in order of time."""
    tells = deed_asked(question if period is None else question.replace(period.words, " ").strip())
    if tells is None:
        return []
    written = None if period is None else Filter(since=period.since, until=period.until)
    notes = [note for note in memory.list(written, limit=_LATEST) if note.speaker is None and tells(note.content)]
    return sorted((note for note in notes if note.at is not None), key=lambda note: (note.at, note.id))


def _is_of_its_day(text: str, days: Sequence[tuple[datetime, datetime]], at: datetime) -> bool:
    """Whether what a note tells was when it was written, though it may name other days."""
    if not days or _SEVERAL_SENTENCES.search(text):
        return True
    return all(first > at for first, _ in days) and tells_of_deed(text)


def timely(hits: Iterable[Hit]) -> list[str]:
    """The hits that the time leg puts in the time that is asked about."""
    return [hit.id for hit in hits if any(leg.leg == "time" and leg.scaled >= 1.0 for leg in hit.explanation.legs)]


def _calls(text: str, period: Period, at: datetime) -> bool:
    """Whether a text of not long before or after a time calls it by the words of the question: 国庆 of 国庆去色达."""
    if not period.words or period.words.isascii() or period.since is None or period.until is None:
        return False
    return period.words in text and period.since - _PLANNED <= at < period.until + _RECENTLY


def _holds(period: Period, moment: datetime) -> bool:
    begun = period.since is None or moment >= period.since
    return begun and (period.until is None or moment < period.until)


def _is_in(first: datetime, after: datetime, period: Period) -> bool:
    """Whether what is from `first` until `after` lies in the period, and is no longer than it."""
    if (period.until is not None and first >= period.until) or (period.since is not None and after <= period.since):
        return False
    if period.since is None or period.until is None:
        return True
    return after - first <= period.until - period.since + timedelta(days=1)


def notes_of_a_sort(
    question: str, period: Period | None, hits: Sequence[Hit], notes: Mapping[str, MemoryNote]
) -> list[MemoryNote]:
    """The hits that a question for several asks for, in order of time; none where it wants one, or not two are sure.

    With `period`, only those of that time.
    """
    asked = question if period is None else question.replace(period.words, " ")
    is_work = tells_of_work(asked)
    if is_work is None and not asks_for_several(asked) and not asks_for_deeds(asked):
        return []
    then = {*timely(hits)} if period is not None else {hit.id for hit in hits}
    of_it = [hit for hit in hits if hit.id in then and hit.explanation.signs is not None]
    if is_work is not None:
        chosen = [hit for hit in of_it if is_work(hit.content)]
    elif any(hit.support is Support.STRONG for hit in of_it):
        least = _NEAR * max(hit.confidence for hit in of_it)
        chosen = [hit for hit in of_it if hit.support is Support.STRONG or (_holds_it(hit) and hit.confidence >= least)]
    else:
        return []
    found = [notes[hit.id] for hit in chosen]
    return sorted(found, key=lambda note: (note.at is not None, note.at)) if len(found) > 1 else []


def _holds_it(hit: Hit) -> bool:
    return hit.explanation.signs is not None and hit.explanation.signs.held >= _HELD

"""What the ways of writing a note have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.analysis import Analysis, Draft
from amem.clock import local_time, parse_time
from amem.note import Kind
from amem.text import hashtags

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from datetime import datetime, tzinfo

    from amem.note import Fact, MemoryNote
    from amem.writing.canonical import Canon

#: Fields that an analyst's answer fills in.
ANSWERED = ("keywords", "context", "tags", "kind", "importance", "entities", "facts")
#: All that analysis fills in where nobody has: the answer, and since when it is so, by the same rules whoever answers.
ANALYSED = (*ANSWERED, "valid_from")
#: Under this name a note's metadata says which fields the rules filled in although a model was asked, and why.
BY_RULES = "by_rules"
#: What a question or small talk says of a time is not since when something is so.
_NO_STATEMENT = (Kind.QUESTION, Kind.CHITCHAT)
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


def draft_of(note: MemoryNote, zone: tzinfo, previous: tuple[str, ...] = ()) -> Draft:
    """A note as an analyst is shown it, at the hour its own clock showed: "today" must mean that day."""
    return Draft(note.content, local_time(note.timestamp, zone), note.speaker, previous)


def fill_in(
    note: MemoryNote, analysis: Analysis, owned: Container[str], zone: tzinfo, canon: Canon | None = None
) -> None:
    """Take over what analysis found, for the fields nobody has filled in; `zone` is that of times given without one.

    Facts are brought into the form that `canon` keeps them in, whoever found them; without it the note states none of
    its own (it sums up others that do). What a model says is so that rules read otherwise ("Ana left Google") is as
    the rules read it: they know no longer from still, and March from May.

    `valid_from` is read from the text here, not asked for: small models get dates wrong, and a note whose model was
    down deserves its date, too. See ``amem.llm.offline.validity`` for what counts as one; else it is the time that all
    of the note's facts share.
    """
    for name in ANSWERED:
        if name != "facts" and name not in owned:
            value = getattr(analysis, name)
            setattr(note, name, list(value) if isinstance(value, tuple) else value)
    if "tags" not in owned:
        note.tags = with_hashtags(note, note.tags)
    if "facts" not in owned:
        note.facts = [] if canon is None else _stated(note, analysis, zone, canon)
    if "valid_from" not in owned:
        note.valid_from = _holds_from(note, zone)


def with_hashtags(note: MemoryNote, tags: Iterable[str]) -> list[str]:
    """The tags that stand in the note's text as ``#tag``, then these; in code a # is none."""
    written = [] if note.kind is Kind.CODE else hashtags(note.content)
    known = {tag.casefold() for tag in written}
    return written + [tag for tag in tags if tag.casefold() not in known]


def _stated(note: MemoryNote, analysis: Analysis, zone: tzinfo, canon: Canon) -> list[Fact]:
    if not analysis.prompt or note.kind is Kind.CODE:
        found = canon.found(analysis.facts, note)
    else:
        # Here, so that opening a collection to read it does not load the rules.
        from amem.llm.offline.facts import facts_in

        found = canon.found(analysis.facts, note, facts_in(draft_of(note, zone), canon.predicates()))
    said = local_time(note.timestamp, zone)
    return [
        replace(fact, valid_from=_as_a_day(fact.valid_from, said, zone), valid_to=_as_a_day(fact.valid_to, said, zone))
        for fact in found
    ]


def _as_a_day(time: datetime | None, said: datetime, zone: tzinfo) -> datetime | None:
    """A day that a note names begins in `zone`, in which it is shown: "since 2023" must not read 2022-12-31 there.

    Not where it would then begin only after it was said, and no time of day is touched.
    """
    if time is None or time.tzinfo is None or time != time.replace(hour=0, minute=0, second=0, microsecond=0):
        return time
    day = time.replace(tzinfo=zone)
    return time if time <= said < day else day


def _holds_from(note: MemoryNote, zone: tzinfo) -> datetime | None:
    from amem.llm.offline.validity import holds_from

    if note.kind in _NO_STATEMENT:
        return None
    said = local_time(note.timestamp, zone)
    found = _as_a_day(holds_from(note.content, said), said, zone)
    if found is None:
        shared = {fact.valid_from for fact in note.facts}
        found = shared.pop() if len(shared) == 1 else None
    return None if found is None else parse_time(found, zone)


def analysis_of(note: MemoryNote) -> Analysis:
    """A note's own fields as evolution is shown them."""
    return Analysis(
        keywords=tuple(note.keywords),
        context=note.context,
        tags=tuple(note.tags),
        kind=note.kind,
        importance=note.importance,
        entities=tuple(note.entities),
        facts=tuple(note.facts),
    )

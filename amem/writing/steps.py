"""What the ways of writing a note have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysis import Analysis, Draft
from amem.clock import local_time, parse_time
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import datetime, tzinfo

    from amem.note import MemoryNote

#: Fields that an analyst's answer fills in.
ANSWERED = ("keywords", "context", "tags", "kind", "importance", "entities", "facts")
#: All that analysis fills in where nobody has: the answer, and since when it is so, by the same rules whoever answers.
ANALYSED = (*ANSWERED, "valid_from")
#: What a question or small talk says of a time is not since when something is so.
_NO_STATEMENT = (Kind.QUESTION, Kind.CHITCHAT)
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


def draft_of(note: MemoryNote, zone: tzinfo, previous: tuple[str, ...] = ()) -> Draft:
    """A note as an analyst is shown it, at the hour its own clock showed: "today" must mean that day."""
    return Draft(note.content, local_time(note.timestamp, zone), note.speaker, previous)


def fill_in(note: MemoryNote, analysis: Analysis, owned: Container[str], zone: tzinfo) -> None:
    """Take over what analysis found, for the fields nobody has filled in; `zone` is that of times given without one.

    `valid_from` is read from the text here, not asked for: small models get dates wrong, and a note whose model was
    down deserves its date, too. See ``amem.llm.offline.validity`` for what counts as one.
    """
    for name in ANSWERED:
        if name not in owned:
            value = getattr(analysis, name)
            setattr(note, name, list(value) if isinstance(value, tuple) else value)
    if "valid_from" not in owned:
        note.valid_from = _holds_from(note, zone)


def _holds_from(note: MemoryNote, zone: tzinfo) -> datetime | None:
    # Here, so that opening a collection to read it does not load the rules.
    from amem.llm.offline.validity import holds_from

    if note.kind in _NO_STATEMENT:
        return None
    found = holds_from(note.content, local_time(note.timestamp, zone))
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

"""What the ways of writing a note have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysis import Analysis, Draft
from amem.clock import local_time

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import tzinfo

    from amem.note import MemoryNote

#: Fields that analysis fills in.
ANALYSED = ("keywords", "context", "tags", "kind", "importance", "entities")
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


def draft_of(note: MemoryNote, zone: tzinfo, previous: tuple[str, ...] = ()) -> Draft:
    """A note as an analyst is shown it, at the hour its own clock showed: "today" must mean that day."""
    return Draft(note.content, local_time(note.timestamp, zone), note.speaker, previous)


def fill_in(note: MemoryNote, analysis: Analysis, owned: Container[str]) -> None:
    """Take over what analysis found, for the fields nobody has filled in."""
    for name in ANALYSED:
        if name not in owned:
            value = getattr(analysis, name)
            setattr(note, name, list(value) if isinstance(value, tuple) else value)


def analysis_of(note: MemoryNote) -> Analysis:
    """A note's own fields as evolution is shown them."""
    return Analysis(
        keywords=tuple(note.keywords),
        context=note.context,
        tags=tuple(note.tags),
        kind=note.kind,
        importance=note.importance,
        entities=tuple(note.entities),
    )

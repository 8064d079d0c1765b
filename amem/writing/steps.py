"""What the ways of writing a note have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysis import Analysis

if TYPE_CHECKING:
    from collections.abc import Container

    from amem.note import MemoryNote

#: Fields that analysis fills in.
ANALYSED = ("keywords", "context", "tags", "kind", "importance", "entities")
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


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

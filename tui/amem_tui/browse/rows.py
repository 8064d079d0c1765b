"""What the list shows of a note: one row of plain values, made from a note or from a search hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem_tui.phrases import GLYPHS, clean, day, one_line, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.note import Kind, MemoryNote
    from amem.retrieval import Hit


@dataclass(frozen=True, slots=True)
class Row:
    """`score` and `why` are set for search hits alone; `why` is shown below the title."""

    id: str
    kind: Kind
    title: str
    day: str
    links: int
    pinned: bool = False
    score: float | None = None
    why: str = ""

    @property
    def glyph(self) -> str:
        """The kind's sign."""
        return GLYPHS[self.kind]


def row_of_note(note: MemoryNote, zone: tzinfo) -> Row:
    """A row of the list of notes."""
    return Row(note.id, note.kind, title(note.content), day(note.at, zone), len(note.links), note.pinned)


def row_of_hit(hit: Hit, zone: tzinfo) -> Row:
    """A row of search results, with its explanation."""
    try:
        when = day(parse_time(hit.timestamp, zone), zone)
    except InvalidInput:
        when = clean(hit.timestamp)[:10].ljust(10)
    why = one_line(hit.explanation.words(), 300)
    return Row(hit.id, hit.kind, title(hit.content), when, len(hit.links), score=hit.score, why=why)

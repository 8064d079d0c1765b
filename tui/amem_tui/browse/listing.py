"""What the list is to show, all notes, those of a tag or the answers to a question, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.query import Filter
from amem_tui.browse.note_list import PAGE
from amem_tui.browse.rows import Row, row_of_hit, row_of_note
from amem_tui.phrases import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem

_HITS = 30


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read: how many rows there are, the pages around `place`, and the collection's tags and size."""

    count: int
    pages: Mapping[int, list[Row]]
    place: int
    tags: Mapping[str, int]
    total: int


@dataclass(frozen=True, slots=True)
class Listing:
    """`question` empty lists notes, newest first; otherwise the best hits. `tag` narrows both."""

    tag: str | None = None
    question: str = ""

    @property
    def heading(self) -> str:
        """What stands above the list."""
        if self.question:
            return f"Found for “{one_line(self.question, 40)}”"
        return "Notes" if self.tag is None else f"Notes tagged {one_line(self.tag, 40)}"

    def counted(self, count: int) -> str:
        """How many there are, in words."""
        return plural(count, "hit" if self.question else "note")

    def read(self, memory: AgenticMemorySystem, zone: tzinfo, place: int, keep: str | None) -> Contents:
        """The list with its cursor at `place`, or on the note with the id `keep` where that moved but a little."""
        tags, total = memory.tags(), memory.count(Filter())
        if self.question:
            hits = memory.search(self.question, _HITS, filter=self._filter, touch=False)
            return Contents(len(hits), {0: [row_of_hit(hit, zone) for hit in hits]}, place, tags, total)
        count = memory.count(self._filter)
        page = max(0, min(place, count - 1)) // PAGE
        pages = {near: self.page(memory, zone, near) for near in range(max(0, page - 1), page + 2)}
        places = {row.id: near * PAGE + at for near, rows in pages.items() for at, row in enumerate(rows)}
        return Contents(count, pages, places.get(keep or "", place), tags, total)

    def page(self, memory: AgenticMemorySystem, zone: tzinfo, page: int) -> list[Row]:
        """One page of notes."""
        notes = memory.list(self._filter, limit=PAGE, offset=page * PAGE)
        return [row_of_note(note, zone) for note in notes]

    @property
    def _filter(self) -> Filter:
        return Filter() if self.tag is None else Filter(tags=(self.tag,))

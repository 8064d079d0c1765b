"""Everything the browser shows about one note, read in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem_tui.phrases import title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote, Source
    from amem.storage import Version


@dataclass(frozen=True, slots=True)
class Dossier:
    """A note with what points from it, what points to it, how it came to be and where it came from.

    `titles` names the notes at the other ends of the links; one that is not there (yet, or any more) has none.
    """

    note: MemoryNote
    links: tuple[Link, ...]
    backlinks: tuple[Link, ...]
    titles: Mapping[str, str]
    history: tuple[Version, ...]
    sources: tuple[Source, ...]


def open_dossier(memory: AgenticMemorySystem, id: str) -> Dossier | None:
    """The dossier of a note, or None when there is no such note."""
    note = memory.read(id)
    if note is None:
        return None
    try:
        around = memory.neighbourhood(id)
        history = memory.history(id)
    except NoteNotFound:  # deleted between two of these reads
        return None
    return Dossier(
        note=note,
        links=tuple(memory.links(id)),
        backlinks=tuple(memory.backlinks(id)),
        titles={other: title(each.content) for other, each in around.notes.items()},
        history=tuple(history),
        sources=tuple(memory.sources([id]).get(id, ())),
    )

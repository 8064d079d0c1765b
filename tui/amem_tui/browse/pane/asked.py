"""What a page of the pane is made from: the note, and what the person asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import NoteNotFound

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.query import Query
    from amem.storage.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Dossier:
    """A note, and how much there is around it: what is read of every note that the cursor rests on."""

    note: MemoryNote
    around: Surroundings

    @property
    def counts(self) -> dict[str, int]:
        """How many things lie on the pages of the pane, by the name of the tab; one version is none to speak of."""
        around = self.around
        return {
            "links": around.links,
            "backlinks": around.backlinks,
            "history": self.note.version if self.note.version > 1 else 0,
            "sources": around.sources,
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """`question` is that of the search the note is a hit of, '' without one; `found` says why it was found.

    `unfolded` names what the person wants to be told more about.
    """

    dossier: Dossier
    zone: tzinfo
    question: Query | str = ""
    found: str = ""
    unfolded: AbstractSet[str] = frozenset()

    @property
    def note(self) -> MemoryNote:
        """The open note."""
        return self.dossier.note


def open_dossier(memory: AgenticMemorySystem, id: str) -> Dossier | None:
    """The dossier of a note, or None when there is no such note."""
    note = memory.read(id)
    if note is None:
        return None
    try:
        return Dossier(note, memory.surroundings(id))
    except NoteNotFound:  # purged between the two reads
        return None

"""Notes of which one may hold: two that disagree, or a chain in which each took the place of the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.note import Status

if TYPE_CHECKING:
    from datetime import datetime

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.verdict import Conflict


@dataclass(frozen=True, slots=True)
class Dispute:
    """`notes` in the order in which they were so; `pair` is (older, newer), the two sides of an open `conflict`."""

    notes: tuple[MemoryNote, ...]
    pair: tuple[str, str]
    conflict: Conflict | None = None

    def holder(self, id: str) -> str | None:
        """The id of the note that holds in place of this one; None when none does."""
        held = {note.id: note for note in self.notes}
        seen: set[str] = set()
        note = held.get(id)
        while note is not None and note.status is Status.SUPERSEDED and note.id not in seen:
            seen.add(note.id)
            note = held.get(note.superseded_by or "")
        return note.id if note is not None and note.status is Status.ACTIVE and note.id != id else None


def since(note: MemoryNote) -> datetime | None:
    """From when on the note was so, as far as anybody said."""
    return note.valid_from or note.at or note.recorded_at


def read_conflict(memory: AgenticMemorySystem, conflict: Conflict) -> Dispute:
    """The two sides with the chains they stand in. Raises NoteNotFound."""
    notes = {note.id: note for id in (conflict.earlier, conflict.later) for note in memory.succession(id)}
    # Of two notes of one time the verdict says which is the earlier.
    sides = [notes.pop(conflict.earlier), notes.pop(conflict.later)]
    before = [note for note in notes.values() if note.status is not Status.ACTIVE]
    before.sort(key=lambda note: str(since(note)))
    return Dispute((*before, *sides), (conflict.earlier, conflict.later), conflict)


def read_chain(memory: AgenticMemorySystem, id: str, newer: str = "") -> Dispute:
    """The chain a note stands in. Raises NoteNotFound."""
    notes = memory.succession(id)
    note = next(each for each in notes if each.id == id)
    return Dispute(tuple(notes), (id, newer or note.superseded_by or ""))

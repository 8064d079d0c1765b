"""What the notes of a topic took the place of, and what of it was taken back: the end of a topic's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.maintenance.topics.known import notes_of
from amem.maintenance.topics.page import MOST_GONE, Gone, line_of, statement_of
from amem.note import LinkType, Scope, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.note import MemoryNote
    from amem.storage import Session

#: How far back a chain of notes, each in the place of the one before, is followed.
_DEEP = 4


def overturned(session: Session, members: Sequence[str], former: Sequence[str], scope: Scope) -> list[Gone]:
    """What is no longer so, the newest first; `former` are notes that belonged to the topic and are not active now.

    The parts of a merged note were not overturned: what they said is said by it.
    """
    successors: dict[str, str] = {}
    at_hand = list(members)
    for _ in range(_DEEP):
        at_hand = [id for id in session.notes.replaced_by(at_hand) if id not in successors] if at_hand else []
        for id, note in notes_of(session, at_hand).items():
            if note.superseded_by is not None and not _merged(session, note):
                successors[id] = note.superseded_by
    retracted = [
        id
        for id, note in notes_of(session, former).items()
        if note.status is Status.SUPERSEDED and note.superseded_by is None
    ]
    marked = [note for note in notes_of(session, members).values() if note.overturned]
    followed = [each.by for note in marked for each in note.overturned if each.by]
    notes = {note.id: note for note in marked}
    notes |= notes_of(session, [*successors, *successors.values(), *retracted, *followed])
    notes = {id: note for id, note in notes.items() if Scope.of(note.metadata) == scope}
    found = [
        Gone(statement_of(notes[old]), statement_of(notes[new]))
        for old, new in successors.items()
        if old in notes and new in notes
    ]
    found += [Gone(statement_of(notes[id]), None) for id in retracted if id in notes]
    found += [
        Gone(line_of(note, each.text), statement_of(notes[each.by]) if each.by in notes else None)
        for note in marked
        if note.id in notes
        for each in note.overturned
    ]
    newest = {id: note.at.isoformat() if note.at is not None else "" for id, note in notes.items()}
    found.sort(key=lambda each: (newest[each.old.notes[0]], each.old.notes[0]), reverse=True)
    return found[:MOST_GONE]


def _merged(session: Session, note: MemoryNote) -> bool:
    assert note.superseded_by is not None
    return session.links.get(note.superseded_by, note.id, LinkType.DERIVED_FROM) is not None

"""How a note loses its standing and gets it back: status, successor and end are set and taken back together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.note import Link, LinkType, Status
from amem.storage.rows import plain, read_time

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from amem.note import MemoryNote, Overturned
    from amem.storage import Session


def standing_after(note: MemoryNote, successor: str | None, ended: datetime) -> dict[str, Any]:
    """The plain fields of a note that `successor` (None: nothing) took the place of; an end that it states stays."""
    end = note.valid_to if note.valid_to is not None and note.valid_to < ended else ended
    return {"status": str(Status.SUPERSEDED), "superseded_by": successor, "valid_to": plain("valid_to", end)}


def hide(
    session: Session, note: MemoryNote, link: Link, ended: datetime, operation: int, *, by_hand: bool = False
) -> None:
    """Put the source of `link` in the place of `note`, its target, from `ended` on.

    `by_hand` says that a person wants it so, who may have said before that the note stands.
    """
    session.notes.change(note.id, standing_after(note, link.source, ended), operation, disowned=by_hand)
    session.links.put(link, operation)


def free(session: Session, id: str, operation: int, *, edited: bool = False) -> None:
    """Make a superseded note active again, ending when it did before; `edited` says that a person wants it so."""
    ends = plain("valid_to", _end_before(session, id))
    fields = {"status": str(Status.ACTIVE), "superseded_by": None, "valid_to": ends}
    session.notes.change(id, fields, operation, edited=edited)


def unlink_successors(session: Session, id: str, operation: int) -> None:
    """Take away what says that others took this note's place."""
    for link in session.links.around([id]):
        if link.type is LinkType.SUPERSEDES and link.target == id:
            session.links.remove(link.source, id, link.type, operation)


def lift(session: Session, note: MemoryNote, lifted: Collection[Overturned], operation: int, *, edited: bool) -> None:
    """Let overturned statements of a note stand again; `edited` says that a person wants it so.

    A note that has overturned no other of its statements is unlinked.
    """
    left = [each for each in note.overturned if each not in lifted]
    session.notes.change(note.id, {"overturned": plain("overturned", left)}, operation, edited=edited)
    for by in {each.by for each in lifted} - {each.by for each in left}:
        if by and session.links.get(by, note.id, LinkType.SUPERSEDES) is not None:
            session.links.remove(by, note.id, LinkType.SUPERSEDES, operation)


def lift_all_by(session: Session, ids: Sequence[str], operation: int) -> list[str]:
    """Let the statements stand again that these notes overturned, since they are gone; returns whose they are."""
    found = session.notes.overturned_by(ids) if ids else {}
    for note in found.values():
        lift(session, note, [each for each in note.overturned if each.by in ids], operation, edited=False)
    return list(found)


def leads_to(session: Session, id: str, other: str) -> bool:
    """Whether the chain of what took a note's place passes through the other."""
    seen: set[str] = set()
    while id not in seen:
        seen.add(id)
        note = session.notes.get_many([id], history=False, usage=False, deleted=True).get(id)
        if note is None or note.superseded_by is None:
            return False
        id = note.superseded_by
        if id == other:
            return True
    return False


def _end_before(session: Session, id: str) -> datetime | None:
    """When a superseded note ended before it was superseded; an end that somebody has given it since is kept."""
    note = session.notes.get_many([id], history=False, usage=False, deleted=True)[id]
    now = plain("valid_to", note.valid_to)
    own: str | None = now
    left: str | None = now
    for version in session.operations.history(id):
        changes = version.changes
        if version.version > 1 and changes.get("status", ("", ""))[1] == Status.SUPERSEDED:
            own, left = changes.get("valid_to", (now, now))
        elif "superseded_by" in changes and "valid_to" in changes:
            left = changes["valid_to"][1]
    return read_time(own if left == now else now)

"""What one operation taught: the notes it made, and what it did to others, each with what takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.note import Status

if TYPE_CHECKING:
    from amem.storage.operations import Operation
    from amem.storage.store import Session


class LearnedKind(StrEnum):
    """What became of a note, the most telling last."""

    CHANGED = "changed"
    REMEMBERED = "remembered"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"


_BY_STATUS = {Status.SUPERSEDED: LearnedKind.SUPERSEDED, Status.DELETED: LearnedKind.FORGOTTEN}


@dataclass(frozen=True, slots=True)
class Learned:
    """One note of it. `operation` is what takes just this back, `undone` whether it was; `text` is '' once purged."""

    note: str
    text: str
    lesson: LearnedKind
    operation: int
    undone: bool


@dataclass(frozen=True, slots=True)
class Taught:
    """All that came of an operation; `links` counts those it made or removed."""

    operation: int
    undone: bool
    notes: tuple[Learned, ...]
    links: int


def taught(session: Session, operation: int) -> Taught:
    """What the operation and all it set off did, notes it made first. Raises OperationNotFound."""
    family = {id: session.operations.get(id) for id in reversed(session.operations.family(operation))}
    undone: dict[int, bool] = {}
    for each in family.values():  # whoever was set off comes after what set it off
        undone[each.id] = each.undone or undone.get(each.parent or 0, False)
    found: dict[str, tuple[LearnedKind, Operation]] = {}
    for each in family.values():
        for id in each.created:
            found[id] = (LearnedKind.REMEMBERED, each)
    made = set(found)
    for each in family.values():
        for id in each.notes:
            lesson = _what(session, id, each.id)
            if id not in made and (id not in found or lesson is not LearnedKind.CHANGED):
                found[id] = (lesson, each)
    held = session.notes.get_many(list(found), history=False, deleted=True)
    return Taught(
        operation,
        undone[operation],
        tuple(
            Learned(id, held[id].content if id in held else "", lesson, by.id, undone[by.id])
            for id, (lesson, by) in found.items()
        ),
        sum(each.links for each in family.values()),
    )


def _what(session: Session, note: str, operation: int) -> LearnedKind:
    """What the operation did to a note that was there before."""
    for version in session.operations.history(note):
        if version.operation == operation and "status" in version.changes:
            return _BY_STATUS.get(Status(str(version.changes["status"][1])), LearnedKind.CHANGED)
    return LearnedKind.CHANGED

"""Earlier attempts at the same episode: what they had made gives way to what a later one makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import exists, select

from amem.note import Status
from amem.storage import tables
from amem.writing.conflict.standing import free, lift_all_by

if TYPE_CHECKING:
    from amem.storage import Session

_OPS, _VERSIONS, _NOTES, _WITNESSES = tables.operations, tables.versions, tables.notes, tables.corroborations


def take_back(session: Session, operation: int, own: int, cause: str | None) -> None:
    """Hide what earlier extractions under `operation` had made, but for what anybody has touched since.

    `own` is the extraction that takes their place and carries the change; with `cause` only those of one episode are
    meant. What was made stays in the log, and undoing `operation` takes all of it back, whichever attempt stood.
    """
    for attempt in _attempts(session, operation, own, cause):
        family = session.operations.family(attempt)
        made = [id for each in family for id in session.operations.get(each).created]
        for id, note in session.notes.get_many(made, history=False, usage=False).items():
            if note.status is Status.ACTIVE and not _touched(session, id) and not _confirmed(session, id, set(family)):
                for overturned in session.notes.replaced_by([id]):
                    free(session, overturned, own)
                lift_all_by(session, [id], own)
                session.notes.change(id, {"status": str(Status.DELETED)}, own)


def _attempts(session: Session, operation: int, own: int, cause: str | None) -> list[int]:
    statement = select(_OPS.c.id).where(
        _OPS.c.parent == operation, _OPS.c.action == "extract", _OPS.c.undone_by.is_(None), _OPS.c.id != own
    )
    return list(
        session.connection.execute(statement if cause is None else statement.where(_OPS.c.cause == cause)).scalars()
    )


def _touched(session: Session, id: str) -> bool:
    """Whether somebody changed the note; what enrichment and evolution do to it carries a parent and is nobody's."""
    joined = _VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation).join(_NOTES, _NOTES.c.key == _VERSIONS.c.note)
    by_somebody = (
        select(_VERSIONS.c.id)
        .select_from(joined)
        .where(_NOTES.c.id == id, _OPS.c.parent.is_(None), _OPS.c.undone_by.is_(None))
        .where(_OPS.c.action.not_in(("undo", "redo")))
    )
    return bool(session.connection.execute(select(exists(by_somebody))).scalar_one())


def _confirmed(session: Session, id: str, family: set[int]) -> bool:
    """Whether anybody else has said the same since."""
    statement = (
        select(_WITNESSES.c.operation)
        .select_from(_WITNESSES.join(_NOTES, _NOTES.c.key == _WITNESSES.c.note))
        .where(_NOTES.c.id == id)
    )
    return not set(session.connection.execute(statement).scalars()) <= family

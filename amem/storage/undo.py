"""Undo, redo and rollback: recorded changes applied backwards, field by field, never over later work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from amem.errors import InvalidInput, NothingToUndo, OperationNotFound
from amem.note import LinkType, Status
from amem.storage import tables
from amem.storage.records import Kept, UndoReport
from amem.storage.rows import cell, from_cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.storage.session import Session

_REVERSALS = ("undo", "redo")
#: What cannot be taken back: purge leaves nothing to restore, and settings of the collection are not notes.
_FINAL = ("purge", "reindex")
_VERSIONS, _NOTES, _OPS, _CHANGED = tables.versions, tables.notes, tables.operations, tables.link_changes
# Built once: what remembered a long conversation has thousands of operations under it, each with a note and its links.
_VERSIONS_OF = (
    select(_VERSIONS.c.changes, _VERSIONS.c.version.label("made"), _NOTES)
    .select_from(_VERSIONS.join(_NOTES, _NOTES.c.key == _VERSIONS.c.note))
    .where(_VERSIONS.c.operation == bindparam("wanted"))
    .order_by(_VERSIONS.c.id.desc())
)
_LINKS_OF = select(_CHANGED).where(_CHANGED.c.operation == bindparam("wanted")).order_by(_CHANGED.c.id.desc())
_LATER = (
    select(_VERSIONS.c.operation)
    .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation))
    .where(
        _VERSIONS.c.note == bindparam("wanted"),
        _VERSIONS.c.operation > bindparam("target"),
        _OPS.c.parent.is_(None),
        _OPS.c.undone_by.is_(None),
        _OPS.c.action.not_in(_REVERSALS),
    )
    .order_by(_VERSIONS.c.id.desc())
    .limit(1)
)


def undo(session: Session, actor: str, operation: int | None = None) -> UndoReport:
    """Take back an operation and all it set off; None means the newest one that a person or agent asked for.

    Raises NothingToUndo, OperationNotFound, or InvalidInput for what cannot be taken back.
    """
    target = session.operations.newest(excluding=_REVERSALS + _FINAL) if operation is None else operation
    if target is None:
        raise NothingToUndo("there is nothing left to undo")
    found = session.operations.get(target)
    if found.undone:
        raise InvalidInput(f"operation {target} is undone already", hint="amem redo does it again")
    if found.action in _FINAL:
        raise InvalidInput(f"operation {target} ({found.action}) cannot be undone")
    if found.action in _REVERSALS:
        raise InvalidInput(f"operation {target} is itself an {found.action}", hint="use amem redo, or undo by its id")
    return _reverse(session, actor, target, "undo")


def redo(session: Session, actor: str) -> UndoReport:
    """Do the newest undone operation again. Raises NothingToUndo when there is none."""
    target = session.operations.newest(actions=("undo",))
    if target is None:
        raise NothingToUndo("there is nothing to redo")
    report = _reverse(session, actor, target, "redo")
    session.operations.mark_redone(target)
    return report


def rollback(session: Session, actor: str, id: str, version: int) -> tuple[str, ...]:
    """Set a note back to what it was at `version`, as a new version; returns the fields that changed."""
    history = session.operations.history(id)
    if not any(each.version == version for each in history):
        raise OperationNotFound(
            f"note {id[:8]} has no version {version}", hint=f"it has 1 to {history[-1].version}; see amem history"
        )
    values: dict[str, Any] = {}
    for each in reversed(history):
        if each.version > version:
            values |= {field: before for field, (before, _) in each.changes.items()}
    # Whether a note is deleted is the business of restore and delete, not of an old text coming back.
    values.pop("status", None)
    operation = session.begin("rollback", actor, f"back to version {version}")
    return session.notes.change(id, values, operation)


def _reverse(session: Session, actor: str, target: int, action: str) -> UndoReport:
    own = session.begin(action, actor, f"{action} of operation {target}", undoes=target)
    reverted: list[tuple[str, str]] = []
    kept: list[Kept] = []
    family = session.operations.standing(target)
    reviewed = session.reviews.concerned(family)
    for operation in family:
        _reverse_links(session, operation, own, reverted, kept)
        _reverse_notes(session, operation, target, own, reverted, kept)
        if operation in reviewed:
            session.reviews.withdraw(operation, own)
    session.operations.mark_undone(family, own)
    return UndoReport(own, target, tuple(reverted), tuple(kept))


def _reverse_notes(
    session: Session, operation: int, target: int, own: int, reverted: list[tuple[str, str]], kept: list[Kept]
) -> None:
    # One operation may have changed a note more than once: an undo that took back both its making and its hiding.
    done: dict[str, dict[str, Any]] = {}
    for row in session.connection.execute(_VERSIONS_OF, {"wanted": operation}).mappings().all():
        changes = json.loads(row["changes"])
        now = {**row, **done.setdefault(row["id"], {})}
        if row["made"] == 1:
            later = _later_work(session, row["key"], target)
            if later is not None:
                kept.append(Kept(row["id"], "note", later))
                continue
            changes = {"status": [str(Status.DELETED), now["status"]]}
        back: dict[str, Any] = {}
        for field, (before, after) in changes.items():
            if from_cell(field, now[field]) == after:
                back[field] = before
            else:
                kept.append(Kept(row["id"], field, _last_to_set(session, row["key"], field)))
        reverted += [(row["id"], field) for field in session.notes.change(row["id"], back, own)]
        done[row["id"]] |= {field: cell(field, value) for field, value in back.items()}


def _reverse_links(
    session: Session, operation: int, own: int, reverted: list[tuple[str, str]], kept: list[Kept]
) -> None:
    for row in session.connection.execute(_LINKS_OF, {"wanted": operation}).mappings().all():
        type = LinkType(row["type"])
        item = f"link {type} {row['target']}"
        if row["after"] is not None:
            done = session.links.remove(row["source"], row["target"], type, own)
        else:
            done = session.links.restore(row["source"], row["target"], type, json.loads(row["before"]), own)
        if done:
            reverted.append((row["source"], item))
        else:
            kept.append(Kept(row["source"], item, None))


def _later_work(session: Session, key: int, target: int) -> int | None:
    """The newest later operation, asked for by someone and still standing, that changed this note."""
    return session.connection.execute(_LATER, {"wanted": key, "target": target}).scalar_one_or_none()


def _last_to_set(session: Session, key: int, field: str) -> int | None:
    statement = select(_VERSIONS.c.operation, _VERSIONS.c.changes).where(_VERSIONS.c.note == key)
    for operation, changes in session.connection.execute(statement.order_by(_VERSIONS.c.id.desc())):
        held: Mapping[str, Any] = json.loads(changes)
        if field in held:
            return int(operation)
    return None

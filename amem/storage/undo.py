"""Undo, redo and rollback: recorded changes applied backwards, field by field, never over later work."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from amem.errors import InvalidInput, NothingToUndo
from amem.note import LinkType, Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.records import Kept, UndoReport
from amem.storage.rows import cell, from_cell
from amem.storage.versions import STANDING, would_roll_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.storage.session import Session

_REVERSALS = ("undo", "redo")
#: By these a person says that a note stands, whatever machines make of it.
_SAID_BY_HAND = ("unsupersede", "restore")
#: What cannot be taken back: purge leaves nothing to restore, and settings of the collection are not notes.
_FINAL = ("purge", "reindex")
#: What nobody asked for: it is taken back by its id only, so that a bare undo is still that of one's own last step on
#: the morning after.
_UNASKED = ("maintain", "return")
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


def own_last(session: Session, actor: str, among: Sequence[int]) -> int | None:
    """The newest operation of these that this actor asked for and that can be taken back; None when there is none."""
    return session.operations.newest(excluding=_REVERSALS + _FINAL + _UNASKED, actor=actor, among=among)


def own_undone(session: Session, actor: str, among: Sequence[int]) -> int | None:
    """The newest undo of these that this actor asked for and that can be redone; None when there is none."""
    return session.operations.newest(actions=("undo",), actor=actor, among=among)


def undo(session: Session, actor: str, operation: int | None = None) -> UndoReport:
    """Take back an operation and all it set off; None means the newest one that a person or agent asked for, never a
    maintenance.

    Raises NothingToUndo, OperationNotFound, or InvalidInput for what cannot be taken back.
    """
    unasked = session.operations.newest(actions=_UNASKED) if operation is None else None
    target = session.operations.newest(excluding=_REVERSALS + _FINAL + _UNASKED) if operation is None else operation
    if target is None:
        hint = "" if unasked is None else f"a maintenance is taken back by its number: amem undo {unasked}"
        raise NothingToUndo("there is nothing left to undo", hint=hint)
    found = session.operations.get(target)
    if found.undone:
        raise InvalidInput(f"operation {target} is undone already", hint="amem redo does it again")
    if found.action in _FINAL:
        raise InvalidInput(f"operation {target} ({found.action}) cannot be undone")
    if found.action in _REVERSALS:
        raise InvalidInput(f"operation {target} is itself an {found.action}", hint="use amem redo, or undo by its id")
    report = _reverse(session, actor, target, "undo")
    return report if unasked is None or unasked < target else replace(report, passed_over=unasked)


def redo(session: Session, actor: str, undone_by: int | None = None) -> UndoReport:
    """Do again what the undo with the id `undone_by` took back (None: the newest undo).

    Raises NothingToUndo when there is none, OperationNotFound, or InvalidInput for what is no undo that stands.
    """
    target = session.operations.newest(actions=("undo",)) if undone_by is None else undone_by
    if target is None:
        raise NothingToUndo("there is nothing to redo")
    found = session.operations.get(target)
    if found.action != "undo" or found.undone:
        raise InvalidInput(f"operation {target} is no undo that stands", hint="amem log lists what was undone")
    report = _reverse(session, actor, target, "redo")
    session.operations.mark_redone(target)
    return report


def rollback(session: Session, actor: str, id: str, version: int) -> tuple[str, ...]:
    """Set a note back to what it was at `version`, as a new version; returns the fields that changed."""
    values = {field: then for field, (_, then) in would_roll_back(session, id, version).items()}
    operation = session.begin("rollback", actor, f"back to version {version}")
    return session.notes.change(id, values, operation)


def _reverse(session: Session, actor: str, target: int, action: str) -> UndoReport:
    own = session.begin(action, actor, f"{action} of operation {target}", undoes=target)
    work = _Reversal(session, target, own)
    family = session.operations.standing(target)
    reviewed = session.reviews.concerned(family)
    for operation in family:
        work.links_of(operation)
        work.notes_of(operation)
        if operation in reviewed:
            session.reviews.withdraw(operation, own)
    _say_whose_standing(session, action, family)
    session.operations.mark_undone(family, own)
    return UndoReport(own, target, tuple(work.reverted), tuple(work.kept()))


class _Reversal:
    """One undo or redo under way: what went back, and what did not because of later work."""

    def __init__(self, session: Session, target: int, own: int) -> None:
        self.reverted: list[tuple[str, str]] = []
        self._session = session
        self._target = target
        self._own = own
        self._kept: list[Kept] = []
        self._unmade: set[str] = set()
        self._stuck: set[str] = set()

    def kept(self) -> list[Kept]:
        """What was left; of a note that is gone again it does not matter what else of it was changed."""
        return [each for each in self._kept if each.note not in self._unmade]

    def notes_of(self, operation: int) -> None:
        # One operation may have changed a note more than once: an undo that took back both its making and its hiding.
        done: dict[str, dict[str, Any]] = {}
        for row in self._session.connection.execute(_VERSIONS_OF, {"wanted": operation}).mappings().all():
            now = {**row, **done.setdefault(row["id"], {})}
            if row["made"] == 1:
                back = self._unmaking(row["id"], row["key"], now["status"])
            else:
                back = self._going_back(row["id"], row["key"], json.loads(row["changes"]), now)
            self.reverted += [(row["id"], field) for field in self._session.notes.change(row["id"], back, self._own)]
            done[row["id"]] |= {field: cell(field, value) for field, value in back.items()}

    def _unmaking(self, id: str, key: int, status: str) -> dict[str, Any]:
        later = _later_work(self._session, key, self._target)
        if later is not None:
            self._kept.append(Kept(id, "note", later))
            return {}
        self._unmade.add(id)
        return {"status": str(Status.DELETED) if status != Status.DELETED else status}

    def _going_back(self, id: str, key: int, changes: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that still are what the operation made of them, as they were before it."""
        back: dict[str, Any] = {}
        for fields in _units(changes):
            standing = len(fields) > 1 or fields[0] in STANDING
            if fields == ["overturned"]:
                held = from_cell("overturned", now["overturned"])
                gone, back_again = _statements(*changes["overturned"])
                if all(each in held for each in gone):
                    back["overturned"] = [each for each in held if each not in gone] + back_again
                    continue
            same = all(from_cell(field, now[field]) == changes[field][1] for field in fields)
            if same and not (standing and id in self._stuck):
                back |= {field: changes[field][0] for field in fields}
                continue
            if standing:
                self._stuck.add(id)
            self._kept += [Kept(id, field, _last_to_set(self._session, key, field)) for field in fields]
        return back

    def links_of(self, operation: int) -> None:
        links = self._session.links
        for row in self._session.connection.execute(_LINKS_OF, {"wanted": operation}).mappings().all():
            type = LinkType(row["type"])
            item = f"link {type} {row['target']}"
            if row["after"] is not None:
                done = links.remove(row["source"], row["target"], type, self._own)
            else:
                done = links.restore(row["source"], row["target"], type, json.loads(row["before"]), self._own)
            if done:
                self.reverted.append((row["source"], item))
            else:
                self._kept.append(Kept(row["source"], item, None))


def _statements(before: Sequence[Any], after: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The overturned statements that an operation added, and those that it took away: each goes back by itself."""
    return [each for each in after if each not in before], [each for each in before if each not in after]


def _units(changes: Mapping[str, Any]) -> list[list[str]]:
    """Fields that go back together: those of a note's standing where that is what changed, each other by itself."""
    standing = [field for field in STANDING if field in changes]
    if standing == ["valid_to"]:
        standing = []  # somebody set an end to a note that stands
    return [*([standing] if standing else []), *([field] for field in changes if field not in standing)]


def _say_whose_standing(session: Session, action: str, family: Sequence[int]) -> None:
    """Whether a person said that a note stands goes with the operation that said so."""
    for some in chunks(family):
        # What is redone is the undoing of it.
        undone = select(_OPS.c.undoes).where(_OPS.c.id.in_(some), _OPS.c.undoes.is_not(None))
        said = select(_OPS.c.id).where(_OPS.c.action.in_(_SAID_BY_HAND), _OPS.c.id.in_(some) | _OPS.c.id.in_(undone))
        for operation in session.connection.execute(said).scalars().all():
            rows = select(_NOTES.c.id, _VERSIONS.c.changes).join(_VERSIONS, _VERSIONS.c.note == _NOTES.c.key)
            for id, changes in session.connection.execute(rows.where(_VERSIONS.c.operation == operation)).all():
                for field in {"status", "overturned"}.intersection(json.loads(changes)):
                    session.notes.own(id, field, edited=action == "redo")


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

"""The log: every write as an operation, and the versions of notes it made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, exists, func, or_, select, update

from amem.errors import NoteNotFound, OperationNotFound
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.records import Operation, Version
from amem.storage.rows import read_moment, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from amem.storage.session import Session

_OPS, _VERSIONS, _LINK_CHANGES, _NOTES = tables.operations, tables.versions, tables.link_changes, tables.notes
_REVIEWS = tables.reviews
#: Of a version: the proposal that a person accepted with it.
_ACCEPTED = and_(
    _REVIEWS.c.note == _VERSIONS.c.note, _REVIEWS.c.decided_by == _VERSIONS.c.operation, _REVIEWS.c.state == "accepted"
)


#: True for an operation that still has a trace of its own: a version, a link, a witness, a decided review, a flag.
_LEFT = or_(
    exists(select(1).where(_VERSIONS.c.operation == _OPS.c.id)),
    exists(select(1).where(_LINK_CHANGES.c.operation == _OPS.c.id)),
    exists(select(1).where(tables.corroborations.c.operation == _OPS.c.id)),
    exists(select(1).where(tables.reviews.c.decided_by == _OPS.c.id)),
    exists(select(1).where((tables.flags.c.operation == _OPS.c.id) | (tables.flags.c.dismissed_by == _OPS.c.id))),
)

_NEWEST = select(func.coalesce(func.max(_OPS.c.id), 0))


class Operations:
    """The log of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def log(
        self, *, since: datetime | None = None, limit: int = 50, actor: str | None = None, tops_only: bool = False
    ) -> list[Operation]:
        """Operations, newest first."""
        statement = select(_OPS)
        if since is not None:
            statement = statement.where(_OPS.c.at >= time_text(since))
        if actor is not None:
            statement = statement.where(_OPS.c.actor == actor)
        if tops_only:
            statement = statement.where(_OPS.c.parent.is_(None))
        rows = self._run(statement.order_by(_OPS.c.id.desc()).limit(limit)).mappings().all()
        return self._described(rows)

    def count(self) -> int:
        """How many operations there ever were, which is the id of the newest; 0 before the first."""
        return int(self._run(_NEWEST).scalar_one())

    def get(self, id: int) -> Operation:
        """One operation; raises OperationNotFound."""
        row = self._run(select(_OPS).where(_OPS.c.id == id)).mappings().one_or_none()
        if row is None:
            raise OperationNotFound(f"no operation {id}", hint="amem log lists them")
        return self._described([row])[0]

    def of(self, ids: Sequence[int]) -> list[Operation]:
        """Those of these operations that there are, newest first."""
        rows = [row for some in chunks(ids) for row in self._run(select(_OPS).where(_OPS.c.id.in_(some))).mappings()]
        return self._described(sorted(rows, key=lambda row: -int(row["id"])))

    def family(self, id: int) -> list[int]:
        """The operation and everything it set off, newest first."""
        found, fresh = [id], [id]
        while fresh:
            fresh = [
                child
                for some in chunks(fresh)
                for child in self._run(select(_OPS.c.id).where(_OPS.c.parent.in_(some))).scalars()
            ]
            found += fresh
        return sorted(found, reverse=True)

    def newest(
        self,
        *,
        actions: Sequence[str] = (),
        excluding: Sequence[str] = (),
        actor: str | None = None,
        among: Sequence[int] | None = None,
    ) -> int | None:
        """The newest top-level operation (of this actor, `among` at most 1,000) that was not undone and that left
        something to undo."""
        statement = select(_OPS.c.id).where(_OPS.c.parent.is_(None), _OPS.c.undone_by.is_(None))
        if actions:
            statement = statement.where(_OPS.c.action.in_(actions))
        if excluding:
            statement = statement.where(_OPS.c.action.not_in(excluding))
        if actor is not None:
            statement = statement.where(_OPS.c.actor == actor)
        if among is not None:
            statement = statement.where(_OPS.c.id.in_(among))
        # Asked one by one, newest first: nearly always the first one is it.
        below: int | None = None
        while True:
            older = statement if below is None else statement.where(_OPS.c.id < below)
            below = self._run(older.order_by(_OPS.c.id.desc()).limit(1)).scalar_one_or_none()
            if below is None or self.left_something(below):
                return below

    def left_something(self, id: int) -> bool:
        """Whether the operation, or what it set off, changed anything that is still there; purge leaves nothing."""
        standing = self.standing(id)
        for part in chunks(standing):
            some = _OPS.c.id.in_(part)
            if self._run(select(_OPS.c.id).where(some, _LEFT).limit(1)).first() is not None:
                return True
        return False

    def standing(self, id: int) -> list[int]:
        """The operation's `family` without what of it was undone already by itself."""
        family = self.family(id)
        undone: set[int] = set()
        for part in chunks(family):
            some = _OPS.c.id.in_(part)
            undone |= set(self._run(select(_OPS.c.id).where(some, _OPS.c.undone_by.is_not(None))).scalars())
        return [each for each in family if each not in undone]

    def taken_back(self, action: str, actor: str, keys: Sequence[int]) -> set[int]:
        """Those of the notes (by key) that an undone operation of this action and actor had changed."""
        found: set[int] = set()
        for some in chunks([int(key) for key in keys]):
            statement = (
                select(_VERSIONS.c.note)
                .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation))
                .where(_VERSIONS.c.note.in_(some), _OPS.c.undone_by.is_not(None))
                .where(_OPS.c.action == action, _OPS.c.actor == actor)
            )
            found |= set(self._run(statement).scalars())
        return found

    def last_to_set(self, keys: Sequence[int], fields: Sequence[str]) -> dict[int, tuple[int, str]]:
        """By note key the newest operation that made the note or changed one of these fields, and its action."""
        said = or_(
            _VERSIONS.c.version == 1,
            *(func.json_type(_VERSIONS.c.changes, f"$.{name}").is_not(None) for name in fields),
        )
        found: dict[int, tuple[int, str]] = {}
        for some in chunks([int(key) for key in keys]):
            statement = (
                select(_VERSIONS.c.note, _OPS.c.id, _OPS.c.action)
                .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation))
                .where(_VERSIONS.c.note.in_(some), said)
                .order_by(_VERSIONS.c.id)
            )
            found |= {note: (operation, action) for note, operation, action in self._run(statement)}
        return found

    def unweighed_until(self) -> int:
        """The last operation from before notes were weighed on their arrival."""
        value = self._run(
            select(tables.meta.c.value).where(tables.meta.c.key == "unweighed_until")
        ).scalar_one_or_none()
        return int(value or 0)

    def changed_by(self, id: int) -> dict[str, dict[str, tuple[Any, Any]]]:
        """What one operation changed: by note and field what it was before, and what it became."""
        statement = (
            select(_NOTES.c.id, _VERSIONS.c.changes)
            .select_from(_VERSIONS.join(_NOTES, _NOTES.c.key == _VERSIONS.c.note))
            .where(_VERSIONS.c.operation == id)
            .order_by(_VERSIONS.c.id)
        )
        found: dict[str, dict[str, tuple[Any, Any]]] = {}
        for note, changes in self._run(statement):
            held = found.setdefault(note, {})
            for field, (before, after) in json.loads(changes).items():
                held[field] = (held[field][0] if field in held else before, after)
        return found

    def first_made_after(self, id: int) -> int | None:
        """Key of the first note that was made by a later operation; None when none was."""
        statement = select(func.min(_VERSIONS.c.note)).where(_VERSIONS.c.version == 1, _VERSIONS.c.operation > id)
        key = self._run(statement).scalar_one()
        return None if key is None else int(key)

    def mark_undone(self, ids: Sequence[int], by: int) -> None:
        """Note that these were taken back by operation `by`."""
        for part in chunks(ids):
            some = _OPS.c.id.in_(part)
            self._run(update(_OPS).where(some).values(undone_by=by))

    def mark_redone(self, by: int) -> None:
        """Note that what operation `by` had taken back stands again."""
        self._run(update(_OPS).where(_OPS.c.undone_by == by).values(undone_by=None))

    def history(self, id: str, *, limit: int | None = None) -> list[Version]:
        """The newest `limit` versions of a note (None: all), oldest first; raises NoteNotFound."""
        key = self._session.notes.keys_of([id]).get(id)
        if key is None:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        statement = (
            select(_VERSIONS.c.version, _VERSIONS.c.changes, _VERSIONS.c.operation)
            .add_columns(_OPS.c.actor, _OPS.c.action, _OPS.c.cause, _OPS.c.at, _OPS.c.prompts)
            .add_columns(_REVIEWS.c.confidence, _REVIEWS.c.made_by)
            .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation).outerjoin(_REVIEWS, _ACCEPTED))
            .where(_VERSIONS.c.note == key)
            .order_by(_VERSIONS.c.version.desc())
            .limit(limit)
        )
        return [
            Version(
                version=row["version"],
                at=read_moment(row["at"]),
                actor=row["actor"],
                action=row["action"],
                cause=row["cause"],
                operation=row["operation"],
                changes={field: (pair[0], pair[1]) for field, pair in json.loads(row["changes"]).items()},
                prompts=row["prompts"],
                confidence=row["confidence"],
                proposed_by=row["made_by"] or "",
            )
            for row in reversed(self._run(statement).mappings().all())
        ]

    def _described(self, rows: Sequence[RowMapping]) -> list[Operation]:
        ids = [row["id"] for row in rows]
        notes: dict[int, list[str]] = {}
        created: dict[int, list[str]] = {}
        links: dict[int, int] = {}
        for some in chunks(ids):
            touched = (
                select(_VERSIONS.c.operation, _NOTES.c.id, _VERSIONS.c.version)
                .select_from(_VERSIONS.join(_NOTES, _NOTES.c.key == _VERSIONS.c.note))
                .where(_VERSIONS.c.operation.in_(some))
                .order_by(_VERSIONS.c.id)
            )
            for operation, id, version in self._run(touched):
                (created if version == 1 else notes).setdefault(operation, []).append(id)
            linked = (
                select(_LINK_CHANGES.c.operation, func.count())
                .where(_LINK_CHANGES.c.operation.in_(some))
                .group_by(_LINK_CHANGES.c.operation)
            )
            links |= {operation: n for operation, n in self._run(linked)}
        return [
            Operation(
                id=row["id"],
                parent=row["parent"],
                action=row["action"],
                actor=row["actor"],
                cause=row["cause"],
                at=read_moment(row["at"]),
                undoes=row["undoes"],
                undone=row["undone_by"] is not None,
                prompts=row["prompts"],
                notes=tuple(dict.fromkeys(notes.get(row["id"], ()))),
                created=tuple(created.get(row["id"], ())),
                links=links.get(row["id"], 0),
            )
            for row in rows
        ]

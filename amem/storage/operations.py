"""The log: every write as an operation, and the versions of notes it made."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, column, exists, func, or_, select, update

from amem.errors import NoteNotFound, OperationNotFound
from amem.note import EVERYONE
from amem.storage import tables
from amem.storage.filters import in_scope, scope_values
from amem.storage.records import Operation, Version
from amem.storage.rows import read_moment, time_text
from amem.storage.sql_values import Prepared, chunks, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from amem.storage.store import Session

_OPS, _VERSIONS, _LINK_CHANGES, _NOTES = tables.operations, tables.versions, tables.link_changes, tables.notes
_REVIEWS, _DECISIONS = tables.reviews, tables.decisions
#: Of a version: the proposal that a person accepted with it.
_ACCEPTED = and_(
    _REVIEWS.c.note == _VERSIONS.c.note,
    exists(
        select(1).where(
            _DECISIONS.c.review == _REVIEWS.c.id,
            _DECISIONS.c.operation == _VERSIONS.c.operation,
            _DECISIONS.c.state == "accepted",
        )
    ),
)


#: What carries the operation that did it.
_TRACES = (_VERSIONS, _LINK_CHANGES, tables.corroborations, _REVIEWS, _DECISIONS, tables.flags)
#: True for an operation that still has a trace of its own, and for a purge, which nobody takes for undone.
_LEFT = or_(_OPS.c.action == "purge", *(exists(select(1).where(each.c.operation == _OPS.c.id)) for each in _TRACES))

#: Operations that left a trace on a note of the scope, and what set them off.
_OF_SCOPE = Prepared(
    f"WITH RECURSIVE mine AS MATERIALIZED (SELECT key, id FROM notes WHERE {in_scope()}), touched(id) AS ("
    " SELECT operation FROM versions WHERE note IN (SELECT key FROM mine)"
    " UNION SELECT operation FROM link_changes WHERE source IN (SELECT id FROM mine)"
    " UNION SELECT operation FROM corroborations WHERE note IN (SELECT key FROM mine)"
    " UNION SELECT operation FROM flags WHERE note IN (SELECT key FROM mine)"
    " UNION SELECT operation FROM reviews WHERE note IN (SELECT key FROM mine)"
    " UNION SELECT decisions.operation FROM decisions JOIN reviews ON reviews.id = decisions.review"
    "  WHERE reviews.note IN (SELECT key FROM mine)"
    " UNION SELECT undone_by FROM operations JOIN touched USING (id) WHERE undone_by IS NOT NULL"
    " UNION SELECT parent FROM operations JOIN touched USING (id) WHERE parent IS NOT NULL"
    ") SELECT id FROM touched ORDER BY id DESC"
)
#: Whether these operations left one on a note outside the scope.
_REACHES_OUT = Prepared(
    "WITH asked AS MATERIALIZED (SELECT value AS id FROM json_each(:ids)), reached(note) AS ("
    " SELECT note FROM versions WHERE operation IN (SELECT id FROM asked)"
    " UNION SELECT note FROM corroborations WHERE operation IN (SELECT id FROM asked)"
    " UNION SELECT note FROM flags WHERE operation IN (SELECT id FROM asked)"
    " UNION SELECT note FROM reviews WHERE operation IN (SELECT id FROM asked)"
    " UNION SELECT reviews.note FROM reviews JOIN decisions ON decisions.review = reviews.id"
    "  WHERE decisions.operation IN (SELECT id FROM asked)"
    " UNION SELECT notes.key FROM link_changes JOIN notes ON notes.id IN (link_changes.source, link_changes.target)"
    " WHERE operation IN (SELECT id FROM asked)"
    f") SELECT EXISTS (SELECT 1 FROM reached JOIN notes ON notes.key = reached.note WHERE NOT ({in_scope()}))"
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
        """Operations, newest first; in a scope those that, with all they set off, touched no other notes."""
        statement = select(_OPS)
        if self._session.scope != EVERYONE:
            statement = statement.where(_OPS.c.id.in_(select(column("value")).select_from(func.json_each(self._own()))))
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
        """One operation (in a scope: one of its own); raises OperationNotFound."""
        row = self._run(select(_OPS).where(_OPS.c.id == id)).mappings().one_or_none()
        if row is None or not self._is_own(id):
            raise OperationNotFound(f"no operation {id}", hint="amem log lists them")
        found = self._described([row])
        if not found:
            raise self._session.passed_over[f"operation {id}"]
        return found[0]

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
        below: int | None = None,
    ) -> int | None:
        """The newest top-level operation (of this actor, `among` at most 1,000, older than `below`) that was not undone
        and that left something to undo, or is a purge."""
        statement = select(_OPS.c.id).where(_OPS.c.parent.is_(None), _OPS.c.undone_by.is_(None))
        if actions:
            statement = statement.where(_OPS.c.action.in_(actions))
        if excluding:
            statement = statement.where(_OPS.c.action.not_in(excluding))
        if actor is not None:
            statement = statement.where(_OPS.c.actor == actor)
        if among is not None:
            statement = statement.where(_OPS.c.id.in_(among))
        if self._session.scope != EVERYONE:
            statement = statement.where(_OPS.c.id.in_(select(column("value")).select_from(func.json_each(self._own()))))
        # Asked one by one, newest first: nearly always the first one is it.
        while True:
            older = statement if below is None else statement.where(_OPS.c.id < below)
            below = self._run(older.order_by(_OPS.c.id.desc()).limit(1)).scalar_one_or_none()
            if below is None or self.left_something(below):
                return below

    def _own(self) -> str:
        """Ids of the operations that touched only notes of the scope, as one parameter."""
        values = scope_values(self._session.scope)
        touched = [id for (id,) in _OF_SCOPE.rows(self._session, **values)]
        return listed(id for id in touched if self._is_own(id))

    def _is_own(self, id: int) -> bool:
        """Whether the operation and all it set off touched no note outside the session's scope."""
        if self._session.scope == EVERYONE:
            return True
        values = scope_values(self._session.scope)
        ((out,),) = _REACHES_OUT.rows(self._session, ids=listed(self._concerned(id)), **values)
        return not out

    def _concerned(self, id: int) -> list[int]:
        """The operation, all it set off, and what it took back or did again, which may leave no trace of its own."""
        found = [*self.family(id), *self.undone_by(id)]
        undoes = self._run(select(_OPS.c.undoes).where(_OPS.c.id == id)).scalar_one()
        return found if undoes is None else [*found, *self._concerned(undoes)]

    def left_something(self, id: int) -> bool:
        """Whether the operation, or what it set off or took back, changed anything that is still there.

        Purge leaves nothing.
        """
        for part in chunks([*self.standing(id), *self.undone_by(id)]):
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

    def undone_above(self, id: int) -> int | None:
        """The nearest operation that set this one off, itself or through others, and is undone; None when none is."""
        parents = select(_OPS.c.parent, _OPS.c.undone_by).where(_OPS.c.id == bindparam("wanted"))
        above, _ = self._run(parents, {"wanted": id}).one()
        while above is not None:
            further, undone_by = self._run(parents, {"wanted": above}).one()
            if undone_by is not None:
                return int(above)
            above = further
        return None

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

    def undone_by(self, id: int) -> list[int]:
        """What this undo took back, newest first."""
        return list(self._run(select(_OPS.c.id).where(_OPS.c.undone_by == id).order_by(_OPS.c.id.desc())).scalars())

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
        rows = reversed(self._run(statement).mappings().all())
        return self._session.readable(rows, lambda row: f"version {row['version']} of note {id}", _version)

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
        read = partial(_operation, notes=notes, created=created, links=links)
        return self._session.readable(rows, lambda row: f"operation {row['id']}", read)


def _version(row: RowMapping) -> Version:
    return Version(
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


def _operation(
    row: RowMapping,
    notes: Mapping[int, Sequence[str]],
    created: Mapping[int, Sequence[str]],
    links: Mapping[int, int],
) -> Operation:
    return Operation(
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

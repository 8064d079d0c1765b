"""The log: every write as an operation, the versions of notes it made, and what somebody sees who looks through it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.errors import OperationNotFound
from amem.note import EVERYONE
from amem.storage.rows import Part, from_row, in_scope, read_moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from amem.storage.reviews import Review


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the log. `parent` is the operation that set it off; `undone` tells whether it was taken back.

    `prompts` names what the model (then the `actor`) was asked, with versions: ``analyze 2, evolve 2``.

    `notes` are the ids it changed, `created` those it made, `links` how many links it added or removed (its
    children's not counted).
    """

    id: int
    parent: int | None
    action: str
    actor: str
    cause: str
    at: datetime
    undoes: int | None
    undone: bool
    prompts: str = ""
    notes: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    links: int = 0


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a note: what changed in it (`changes` is {field: (before, after)}), when, by whom and why.

    `prompts` are those of its operation. Of a proposal that a person accepted it says how sure (0..1) its maker was,
    and who that is.
    """

    version: int
    at: datetime
    actor: str
    action: str
    cause: str
    operation: int
    changes: Mapping[str, tuple[Any, Any]]
    prompts: str = ""
    confidence: float | None = None
    proposed_by: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation's work on one note: it was `made`, or changed. `undone` says that it was taken back since."""

    operation: int
    action: str
    cause: str
    undone: bool
    note: str
    made: bool


@dataclass(frozen=True, eq=False)
class LogOrder:
    """Operations, newest first: their ids, the ids of what set them off (0: nothing), their days as ordinals.

    A few bytes for each, so that any place in a log of a hundred thousand is as near as its end.
    """

    ids: NDArray[np.int64]
    parents: NDArray[np.int64]
    days: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that was `added`, or taken away."""

    source: str
    target: str
    type: str
    reason: str
    added: bool


@dataclass(frozen=True, slots=True)
class Doings:
    """The work of one operation, without the operations that it set off.

    `changes` is {note: {field: (before, after)}}, as plain values, of a note that it made with every field; `reviews`
    are the proposals that it made or decided, `flagged` the notes that may be out of date since, `witnessed` those that
    it said once more.
    """

    operation: Operation
    changes: Mapping[str, Mapping[str, tuple[Any, Any]]]
    links: tuple[LinkChange, ...]
    reviews: tuple[Review, ...]
    flagged: tuple[str, ...]
    witnessed: tuple[str, ...]


#: Of a version: the proposal that a person accepted with it.
_ACCEPTED = (
    "r.note = v.note AND EXISTS (SELECT 1 FROM decisions AS d"
    " WHERE d.review = r.id AND d.operation = v.operation AND d.state = 'accepted')"
)
#: What carries the operation that did it.
_TRACES = ("versions", "link_changes", "corroborations", "reviews", "decisions", "flags")
#: True for an operation that still has a trace of its own, and for a purge, which nobody takes for undone.
_LEFT = " OR ".join(
    ["action = 'purge'", *(f"EXISTS (SELECT 1 FROM {each} WHERE operation = operations.id)" for each in _TRACES)]
)
#: An operation with all that it set off.
_FAMILY = (
    "WITH RECURSIVE family(id) AS (VALUES (:id) UNION ALL"
    " SELECT o.id FROM operations AS o JOIN family AS f ON o.parent = f.id)"
)
#: Which note each operation left a trace on: (operation, note).
_TRACED = " UNION ALL ".join(
    [
        *(f"SELECT operation, note FROM {each}" for each in ("versions", "corroborations", "flags", "reviews")),
        "SELECT d.operation, r.note FROM decisions AS d JOIN reviews AS r ON r.id = d.review",
        "SELECT c.operation, n.key FROM link_changes AS c JOIN notes AS n ON n.id IN (c.source, c.target)",
    ]
)
#: Operations that left a trace on a note of the scope, and what set them off.
_OF_SCOPE = (
    f"WITH RECURSIVE mine AS MATERIALIZED (SELECT key FROM notes WHERE {in_scope()}), touched(id) AS ("
    f" SELECT operation FROM ({_TRACED}) WHERE note IN (SELECT key FROM mine)"
    " UNION SELECT undone_by FROM operations JOIN touched USING (id) WHERE undone_by IS NOT NULL"
    " UNION SELECT parent FROM operations JOIN touched USING (id) WHERE parent IS NOT NULL"
    ") SELECT id FROM touched ORDER BY id DESC"
)
#: Whether these operations left one on a note outside the scope.
_REACHES_OUT = (
    f"SELECT EXISTS (SELECT 1 FROM ({_TRACED}) AS reached JOIN notes ON notes.key = reached.note"
    f" WHERE reached.operation IN :ids AND NOT ({in_scope()}))"
)
#: What an operation did note by note, with all that it set off.
_DEEDS = (
    f"{_FAMILY} SELECT o.id, o.action, o.cause, o.undone_by IS NOT NULL, n.id, v.version = 1"
    " FROM family AS f JOIN operations AS o ON o.id = f.id JOIN versions AS v ON v.operation = o.id"
    " JOIN notes AS n ON n.key = v.note ORDER BY v.id LIMIT :limit"
)
_WHICH = " FROM operations WHERE (:since IS NULL OR at >= :since) AND (:actor IS NULL OR actor = :actor)"
_ORDER = f"SELECT id, coalesce(parent, 0), at{_WHICH} ORDER BY id DESC"
_ACTORS = f"SELECT actor, count(*){_WHICH} GROUP BY actor ORDER BY count(*) DESC, actor"
#: A minute begins and ends on the same day wherever one is.
_MINUTE = len("2026-03-01T09:00")
_TOUCHED = (
    "SELECT n.id, v.version, v.changes FROM versions AS v JOIN notes AS n ON n.key = v.note"
    " WHERE v.operation = :operation AND v.note IN (SELECT DISTINCT note FROM versions WHERE operation = :operation"
    " ORDER BY id LIMIT :most) ORDER BY v.id"
)
_LINKED = (
    "SELECT source, target, type, before, after FROM link_changes WHERE operation = :operation ORDER BY id LIMIT :most"
)
_FLAGGED = (
    "SELECT n.id FROM flags AS f JOIN notes AS n ON n.key = f.note WHERE f.operation = :operation AND NOT f.dismissed"
    " ORDER BY f.id LIMIT :most"
)
_WITNESSED = (
    "SELECT n.id FROM corroborations AS c JOIN notes AS n ON n.key = c.note WHERE c.operation = :operation LIMIT :most"
)


class Operations(Part):
    """The log of one transaction."""

    def log(self, *, since: datetime | None = None, limit: int = 50, actor: str | None = None) -> list[Operation]:
        """Operations, newest first; in a scope those that, with all they set off, touched no other notes."""
        where, asked = self._in_scope()
        if since is not None:
            where += " AND at >= :since"
        if actor is not None:
            where += " AND actor = :actor"
        asked |= {"since": since, "actor": actor, "limit": limit}
        sql = f"SELECT * FROM operations WHERE {where} ORDER BY id DESC LIMIT :limit"
        return self._described(self._session.records(sql, **asked))

    def count(self) -> int:
        """How many operations there ever were, which is the id of the newest; 0 before the first."""
        return int(self._session.value("SELECT coalesce(max(id), 0) FROM operations"))

    def get(self, id: int) -> Operation:
        """One operation (in a scope: one of its own); raises OperationNotFound."""
        rows = self._session.records("SELECT * FROM operations WHERE id = :id", id=id)
        if not rows or not self._is_own(id):
            raise OperationNotFound(f"no operation {id}", hint="amem log lists them")
        found = self._described(rows)
        if not found:
            raise self._session.passed_over[f"operation {id}"]
        return found[0]

    def of(self, ids: Sequence[int]) -> list[Operation]:
        """Those of these operations that there are, in this order."""
        found = self._described(self._session.records("SELECT * FROM operations WHERE id IN :these", these=ids))
        held = {each.id: each for each in found}
        return [held[id] for id in ids if id in held]

    def family(self, id: int) -> list[int]:
        """The operation and everything it set off, newest first."""
        return self._session.column(f"{_FAMILY} SELECT id FROM family ORDER BY id DESC", id=id)

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
        where, asked = self._in_scope()
        where += " AND parent IS NULL AND undone_by IS NULL AND id < :below AND (:actor IS NULL OR actor = :actor)"
        where += " AND (:actions IS NULL OR action IN :actions) AND action NOT IN :excluding"
        where += "" if among is None else " AND id IN :among"
        asked |= {"actions": actions or None, "excluding": excluding, "actor": actor, "among": among}
        sql = f"SELECT id FROM operations WHERE {where} ORDER BY id DESC LIMIT 1"
        # Asked one by one, newest first: nearly always the first one is it.
        while True:
            below = self._session.value(sql, **asked, below=sys.maxsize if below is None else below)
            if below is None or self.left_something(below):
                return below

    def _in_scope(self) -> tuple[str, dict[str, Any]]:
        """A condition on operations: that they touched only notes of the session's scope."""
        if self._session.scope == EVERYONE:
            return "true", {}
        return "id IN :own", {"own": [id for id in self._session.column(_OF_SCOPE) if self._is_own(id)]}

    def _is_own(self, id: int) -> bool:
        """Whether the operation and all it set off touched no note outside the session's scope."""
        if self._session.scope == EVERYONE:
            return True
        return not self._session.value(_REACHES_OUT, ids=self._concerned(id))

    def _concerned(self, id: int) -> list[int]:
        """The operation, all it set off, and what it took back or did again, which may leave no trace of its own."""
        found = [*self.family(id), *self.undone_by(id)]
        undoes = self._session.value("SELECT undoes FROM operations WHERE id = :id", id=id)
        return found if undoes is None else [*found, *self._concerned(undoes)]

    def left_something(self, id: int) -> bool:
        """Whether the operation, or what it set off or took back, changed anything that is still there.

        Purge leaves nothing.
        """
        these = [*self.standing(id), *self.undone_by(id)]
        sql = f"SELECT id FROM operations WHERE id IN :these AND ({_LEFT}) LIMIT 1"
        return bool(self._session.column(sql, these=these))

    def standing(self, id: int) -> list[int]:
        """The operation's `family` without what of it was undone already by itself."""
        sql = f"{_FAMILY} SELECT id FROM family JOIN operations USING (id) WHERE undone_by IS NULL ORDER BY id DESC"
        return self._session.column(sql, id=id)

    def undone_above(self, id: int) -> int | None:
        """The nearest operation that set this one off, itself or through others, and is undone; None when none is."""
        sql = "SELECT parent, undone_by FROM operations WHERE id = :id"
        ((above, _),) = self._session.rows(sql, id=id)
        while above is not None:
            ((further, undone_by),) = self._session.rows(sql, id=above)
            if undone_by is not None:
                return int(above)
            above = further
        return None

    def taken_back(self, action: str, actor: str, keys: Sequence[int]) -> set[int]:
        """Those of the notes (by key) that an undone operation of this action and actor had changed."""
        sql = "SELECT v.note FROM versions AS v JOIN operations AS o ON o.id = v.operation WHERE v.note IN :these"
        sql += " AND o.undone_by IS NOT NULL AND o.action = :action AND o.actor = :actor"
        return set(self._session.column(sql, these=keys, action=action, actor=actor))

    def last_to_set(self, keys: Sequence[int], fields: Sequence[str]) -> dict[int, tuple[int, str]]:
        """By note key the newest operation that made the note or changed one of these fields, and its action."""
        said = " OR ".join(["v.version = 1", *(f"json_type(v.changes, '$.{name}') IS NOT NULL" for name in fields)])
        sql = "SELECT v.note, o.id, o.action FROM versions AS v JOIN operations AS o ON o.id = v.operation"
        sql += f" WHERE v.note IN :these AND ({said}) ORDER BY v.id"
        rows = self._session.rows(sql, these=keys)
        return {note: (operation, action) for note, operation, action in rows}

    def unweighed_until(self) -> int:
        """The last operation from before notes were weighed on their arrival."""
        return int(self._session.remembered("unweighed_until") or 0)

    def changed_by(self, id: int) -> dict[str, dict[str, tuple[Any, Any]]]:
        """The changes of one operation: {note: {field: (before, after)}}."""
        sql = "SELECT n.id, v.changes FROM versions AS v JOIN notes AS n ON n.key = v.note"
        rows = self._session.rows(f"{sql} WHERE v.operation = :id ORDER BY v.id", id=id)
        return _together((note, json.loads(changes)) for note, changes in rows)

    def first_made_after(self, id: int) -> int | None:
        """Key of the first note that was made by a later operation; None when none was."""
        key: int | None = self._session.value(
            "SELECT min(note) FROM versions WHERE version = 1 AND operation > :id", id=id
        )
        return key

    def undone_by(self, id: int) -> list[int]:
        """The operations that this undo took back, newest first."""
        return self._session.column("SELECT id FROM operations WHERE undone_by = :id ORDER BY id DESC", id=id)

    def mark_undone(self, ids: Sequence[int], by: int) -> None:
        """Note that these were taken back by operation `by`."""
        self._session.change("UPDATE operations SET undone_by = :by WHERE id IN :these", by=by, these=ids)

    def mark_redone(self, by: int) -> None:
        """Note that what operation `by` had taken back stands again."""
        self._session.update("operations", {"undone_by": None}, undone_by=by)

    def history(self, id: str, *, limit: int | None = None) -> list[Version]:
        """The newest `limit` versions of a note (None: all), oldest first; raises NoteNotFound."""
        key = self._session.notes.key_of(id)
        sql = (
            "SELECT v.version, v.changes, v.operation, o.actor, o.action, o.cause, o.at, o.prompts,"
            " r.confidence, r.made_by FROM versions AS v JOIN operations AS o ON o.id = v.operation"
            f" LEFT JOIN reviews AS r ON {_ACCEPTED} WHERE v.note = :key ORDER BY v.version DESC LIMIT :limit"
        )
        rows = reversed(self._session.records(sql, key=key, limit=-1 if limit is None else limit))
        return self._session.readable(rows, lambda row: f"version {row['version']} of note {id}", _version)

    # -- for somebody who looks through the log ------------------------------------------------------------------------

    def order(self, zone: tzinfo, *, since: datetime | None = None, actor: str | None = None) -> LogOrder:
        """The order of all operations since then, or of one actor's; their days are those of that zone."""
        import numpy as np

        rows = self._session.rows(_ORDER, since=since, actor=actor)
        days: dict[str, int] = {}
        for _, _, at in rows:
            minute = at[:_MINUTE]
            if minute not in days:
                days[minute] = read_moment(at).astimezone(zone).date().toordinal()
        return LogOrder(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([days[row[2][:_MINUTE]] for row in rows], dtype=np.int32),
        )

    def actors(self, *, since: datetime | None = None) -> dict[str, int]:
        """Everyone who did anything since then, and how many operations, most first."""
        return dict(self._session.rows(_ACTORS, since=since, actor=None))

    def deeds(self, operation: int, *, limit: int) -> list[Deed]:
        """The work of the operation and all below it, in the order it was done; at most `limit` deeds."""
        return [
            Deed(id, action, cause, bool(undone), note, bool(made))
            for id, action, cause, undone, note, made in self._session.rows(_DEEDS, id=operation, limit=limit)
        ]

    def doings(self, operation: int, *, most: int) -> Doings:
        """The work of an operation, on at most `most` notes, links and flags. Raises OperationNotFound."""
        session, found = self._session, self.get(operation)
        asked = {"operation": operation, "most": most}
        changes = _together(
            (note, session.notes.differences(note, 0, 1) if version == 1 else json.loads(text))
            for note, version, text in session.rows(_TOUCHED, **asked)
        )
        links = tuple(
            LinkChange(source, target, type, json.loads(after or before)["reason"], after is not None)
            for source, target, type, before, after in session.rows(_LINKED, **asked)
        )
        numbers = session.reviews.concerned([operation])[:most]
        flagged, witnessed = (tuple(id for (id,) in session.rows(each, **asked)) for each in (_FLAGGED, _WITNESSED))
        return Doings(found, changes, links, tuple(session.reviews.of(numbers)), flagged, witnessed)

    def _described(self, rows: Sequence[Mapping[str, Any]]) -> list[Operation]:
        these = [row["id"] for row in rows]
        notes: dict[int, list[str]] = {}
        created: dict[int, list[str]] = {}
        touched = "SELECT v.operation, n.id, v.version FROM versions AS v JOIN notes AS n ON n.key = v.note"
        for operation, id, version in self._session.rows(
            f"{touched} WHERE v.operation IN :these ORDER BY v.id", these=these
        ):
            (created if version == 1 else notes).setdefault(operation, []).append(id)
        linked = "SELECT operation, count(*) FROM link_changes WHERE operation IN :these GROUP BY operation"
        links = dict(self._session.rows(linked, these=these))
        read = partial(_operation, notes=notes, created=created, links=links)
        return self._session.readable(rows, lambda row: f"operation {row['id']}", read)


def _together(
    changes: Iterable[tuple[str, Mapping[str, Sequence[Any]]]],
) -> dict[str, dict[str, tuple[Any, Any]]]:
    """By note what became of each field by these changes, one after the other: its value before all and after all."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for note, fields in changes:
        held = found.setdefault(note, {})
        for field, (before, after) in fields.items():
            held[field] = (held[field][0] if field in held else before, after)
    return found


def _version(row: Mapping[str, Any]) -> Version:
    changes = {field: (pair[0], pair[1]) for field, pair in json.loads(row["changes"]).items()}
    return from_row(Version, row, changes=changes, proposed_by=row["made_by"] or "")


def _operation(
    row: Mapping[str, Any],
    notes: Mapping[int, Sequence[str]],
    created: Mapping[int, Sequence[str]],
    links: Mapping[int, int],
) -> Operation:
    return from_row(
        Operation,
        row,
        undone=row["undone_by"] is not None,
        notes=tuple(dict.fromkeys(notes.get(row["id"], ()))),
        created=tuple(created.get(row["id"], ())),
        links=links.get(row["id"], 0),
    )

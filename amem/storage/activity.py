"""The log for somebody who looks through it: the order of operations, who wrote, and what each did note by note."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.storage.notes import differences
from amem.storage.rows import read_moment, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from amem.storage.records import Operation, Review
    from amem.storage.store import Session


# What an operation did note by note, with all that it set off: the lines of a report that outlives its process.

_DEEDS = (
    "WITH RECURSIVE family(id) AS (VALUES (:operation) UNION ALL"
    " SELECT o.id FROM operations AS o JOIN family AS f ON o.parent = f.id)"
    " SELECT o.id, o.action, o.cause, o.undone_by IS NOT NULL, n.id, v.version = 1"
    " FROM family AS f JOIN operations AS o ON o.id = f.id JOIN versions AS v ON v.operation = o.id"
    " JOIN notes AS n ON n.key = v.note ORDER BY v.id LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done to one note: it was `made`, or changed. `cause` says why, `undone` that it was taken back since."""

    operation: int
    action: str
    cause: str
    undone: bool
    note: str
    made: bool


def deeds(session: Session, operation: int, *, limit: int) -> list[Deed]:
    """What the operation and all below it did, in the order it was done; at most `limit` deeds."""
    return [
        Deed(id, action, cause, bool(undone), note, bool(made))
        for id, action, cause, undone, note, made in session.rows(_DEEDS, operation=operation, limit=limit)
    ]


# The log for somebody who looks through it: the order of all operations, who there is, and all that one did.
#
# The order is a few bytes for each operation, so that any place in a log of a hundred thousand is as near as its end.

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
    " ORDER BY f.id"
    " LIMIT :most"
)
_WITNESSED = (
    "SELECT n.id FROM corroborations AS c JOIN notes AS n ON n.key = c.note WHERE c.operation = :operation LIMIT :most"
)


@dataclass(frozen=True, eq=False)
class LogOrder:
    """Operations, newest first: their ids, the ids of what set them off (0: nothing), their days as ordinals."""

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
    """What one operation did by itself, without what it set off.

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


def log_order(session: Session, zone: tzinfo, *, since: datetime | None = None, actor: str | None = None) -> LogOrder:
    """The order of all operations since then, or of one actor's; their days are those of that zone."""
    import numpy as np

    rows = session.rows(_ORDER, since=None if since is None else time_text(since), actor=actor)
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


def actors(session: Session, *, since: datetime | None = None) -> dict[str, int]:
    """Everyone who did anything since then, and how many operations, most first."""
    return dict(session.rows(_ACTORS, since=None if since is None else time_text(since), actor=None))


def operations_of(session: Session, ids: list[int]) -> list[Operation]:
    """These operations, in this order."""
    held = {each.id: each for each in session.operations.of(ids)}
    return [held[id] for id in ids if id in held]


def doings(session: Session, operation: int, *, most: int) -> Doings:
    """What an operation did, to no more than so many notes, links and flags. Raises OperationNotFound."""
    found = session.operations.get(operation)
    asked = {"operation": operation, "most": most}
    changes: dict[str, dict[str, tuple[Any, Any]]] = {}
    for note, version, text in session.rows(_TOUCHED, **asked):
        held = changes.setdefault(note, {})
        made = differences(session, note, 0, 1) if version == 1 else json.loads(text)
        for field, (before, after) in made.items():
            held[field] = (held[field][0] if field in held else before, after)
    links = tuple(
        LinkChange(source, target, type, json.loads(after or before)["reason"], after is not None)
        for source, target, type, before, after in session.rows(_LINKED, **asked)
    )
    numbers = session.reviews.concerned([operation])[:most]
    flagged, witnessed = (tuple(id for (id,) in session.rows(each, **asked)) for each in (_FLAGGED, _WITNESSED))
    return Doings(found, changes, links, tuple(session.reviews.of(numbers)), flagged, witnessed)

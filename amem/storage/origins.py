"""Where a copy of a collection comes from: whose copy it is, and the points at which both sides were last the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from amem.storage.store import Session

#: What the log calls the merge of a fork.
MERGE = "merge fork"
_ORIGIN = "origin"
_MARK = (
    "SELECT (SELECT value FROM counter), (SELECT coalesce(max(id), 0) FROM operations),"
    " (SELECT coalesce(max(id), 0) FROM versions), (SELECT coalesce(max(id), 0) FROM link_changes),"
    " (SELECT coalesce(max(id), 0) FROM flags), coalesce((SELECT at FROM operations ORDER BY id DESC LIMIT 1), '')"
)
_READ = "SELECT value FROM meta WHERE key = :key"
_HAPPENED = "SELECT at FROM operations WHERE id = :operation"
_UNDONE_MERGES = (
    f"SELECT id, undone_by FROM operations WHERE action = '{MERGE}' AND undone_by IS NOT NULL AND id > :after"
)
_STANDS = "SELECT undone_by IS NULL FROM operations WHERE id = :operation"
_PURGED = "SELECT id FROM tombstones WHERE seq > :after"


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of one collection: its change counter, and the newest row of each log. `at` is the last operation's."""

    counter: int
    operation: int
    version: int
    link: int
    flag: int
    at: str


@dataclass(frozen=True, slots=True)
class Point:
    """A moment at which both were brought in step: by copying, or by the `merge`, an operation of the source."""

    source: Mark
    fork: Mark
    merge: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Of a copy: the `identity` of its source and the `name` it had, and the points, oldest first."""

    identity: str
    name: str
    points: tuple[Point, ...]


def mark_copy(path: Path, name: str) -> None:
    """Make a fresh copy of the collection `name`, nobody's yet, a collection of its own that remembers its origin."""
    with closing(sqlite3.connect(path)) as raw, raw:
        (identity,) = raw.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        mark = Mark(*raw.execute(_MARK).fetchone())
        origin = Origin(identity, name, (Point(mark, mark),))
        raw.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_ORIGIN, json.dumps(asdict(origin))))
        raw.execute("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'identity'")
        raw.execute("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'collection'")


def mark(session: Session) -> Mark:
    """The present moment of a collection, as this transaction sees it."""
    return Mark(*session.connection.execute(_MARK).fetchone())


def identity(session: Session) -> str:
    """What tells this collection from every other, whatever either is called."""
    rows = session.rows(_READ, key="identity")
    return str(rows[0][0]) if rows else ""


def origin(session: Session) -> Origin | None:
    """Where this collection was copied from; None for one that was begun empty."""
    rows = session.rows(_READ, key=_ORIGIN)
    if not rows:
        return None
    held = json.loads(rows[0][0])
    points = [Point(Mark(**each["source"]), Mark(**each["fork"]), each["merge"]) for each in held["points"]]
    return Origin(held["identity"], held["name"], tuple(points))


def add_point(session: Session, point: Point) -> None:
    """Have the copy's origin move to a merge that has just been made."""
    before = origin(session)
    assert before is not None
    text = json.dumps(asdict(replace(before, points=(*before.points, point))))
    session.connection.execute("UPDATE meta SET value = ? WHERE key = ?", (text, _ORIGIN))


def base_point(source: Session, fork: Session) -> Point | None:
    """The last point that counts, whose merge is not undone; None where the one is no copy of the other."""
    held = origin(fork)
    if held is None or identity(source) != held.identity:
        return None
    for point in reversed(held.points):
        if point.merge is None or source.rows(_STANDS, operation=point.merge) == [(1,)]:
            last = point.source.operation
            # A backup from before that moment was restored since: the log tells of other operations.
            happened = not last or source.rows(_HAPPENED, operation=last) == [(point.source.at,)]
            return point if happened else None
    return None


def undone_merges(session: Session, after: int) -> set[int]:
    """The operations of merges that were undone, and of their undoing: together they changed nothing."""
    found: set[int] = set()
    for merge, undone_by in session.rows(_UNDONE_MERGES, after=after):
        found |= {*session.operations.family(merge), *session.operations.family(undone_by)}
    return found


def purged_ids(session: Session, after: int = -1) -> set[str]:
    """Ids of notes that were purged (after that value of the change counter)."""
    return {id for (id,) in session.rows(_PURGED, after=after)}

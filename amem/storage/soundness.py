"""Every row of a collection, read and checked: what SQLite holds to be whole may still be no time and no vector."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import StorageCorrupt
from amem.storage.note_reading import normal_hash
from amem.storage.rows import link_of, note_of, read_moment, shortened, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.storage.session import Session

#: Columns that hold times, and those that hold JSON; None is let through where the schema lets it.
TIMES = {
    "operations": ("at",),
    "notes": ("at", "valid_from", "valid_to", "recorded_at"),
    "links": ("at",),
    "facts": ("valid_from", "valid_to"),
    "flags": ("at",),
    "runs": ("started_at", "finished_at", "lease_until"),
    "usage": ("last_access",),
    "corroborations": ("at",),
    "sources": ("at",),
    "reviews": ("created_at", "expires_at"),
    "jobs": ("lease_until",),
    "sessions": ("started_at",),
    "turns": ("at", "lease_until"),
}
JSON = {
    "notes": ("edited",),
    "versions": ("changes",),
    "link_changes": ("before", "after"),
    "reviews": ("changes",),
    "runs": ("progress",),
}


def unsound(session: Session) -> Iterator[str]:
    """What of which row cannot be read, or is not what it was derived from. Reads everything."""
    yield from _cells(session)
    yield from _notes(session)
    yield from _links(session)
    yield from _vectors(session)
    yield from _counts(session)


def _cells(session: Session) -> Iterator[str]:
    for table in sorted({*TIMES, *JSON}):
        times, texts = TIMES.get(table, ()), JSON.get(table, ())
        key = "key" if table in ("notes", "links", "sources", "turns", "sessions") else "note"
        key = "id" if table in ("operations", "flags", "runs", "reviews", "jobs", "versions", "link_changes") else key
        columns = ", ".join(f'"{name}"' for name in (key, *times, *texts))
        for row in session.driver.execute(f"SELECT {columns} FROM {table}"):
            for place, name in enumerate((*times, *texts), start=1):
                value = row[place]
                if value is not None and not (_is_time(value) if name in times else _is_json(value)):
                    yield f"row {row[0]} of {table}: its {name} is {shortened(value)}"


def _notes(session: Session) -> Iterator[str]:
    cursor = session.driver.execute("SELECT * FROM notes")
    names = [column[0] for column in cursor.description]
    for values in cursor:
        row = dict(zip(names, values, strict=True))
        try:
            note = note_of(row)
        except StorageCorrupt as error:
            if not any(f"its {name} is" in str(error) for name in TIMES["notes"]):  # said with the other times
                yield str(error)
            continue
        if row["normal"] != normal_hash(note.content):
            yield f"note {note.id}: its text is not the one that its hash was made of"


def _links(session: Session) -> Iterator[str]:
    cursor = session.driver.execute("SELECT * FROM links")
    names = [column[0] for column in cursor.description]
    for values in cursor:
        row = dict(zip(names, values, strict=True))
        if _is_time(row["at"]):
            try:
                link_of(row)
            except StorageCorrupt as error:
                yield str(error)


def _vectors(session: Session) -> Iterator[str]:
    held = "SELECT vectors.key, spaces.dimension, vector FROM vectors JOIN spaces ON spaces.id = vectors.space"
    for key, dimension, vector in session.driver.execute(held):
        if len(vector) != 4 * dimension or not np.isfinite(np.frombuffer(vector, dtype=np.float32)).all():
            yield f"vector {key} is not {dimension} numbers"


def _counts(session: Session) -> Iterator[str]:
    asked = (
        "SELECT status, sum(held), sum(counted) FROM ("
        " SELECT status, count(*) AS held, 0 AS counted FROM notes GROUP BY status"
        " UNION ALL SELECT status, 0, notes FROM note_counts) GROUP BY status"
    )
    for status, held, counted in session.driver.execute(asked):
        if held != counted:
            yield f"{held} notes are {status}, and {counted} are counted"


def _is_time(value: Any) -> bool:
    try:
        return bool(time_text(read_moment(value)) == value)
    except (StorageCorrupt, OverflowError):
        return False


def _is_json(value: Any) -> bool:
    try:
        json.loads(value)
    except (ValueError, TypeError):
        return False
    return True

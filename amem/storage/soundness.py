"""Every row of a collection, read and checked: what SQLite holds to be whole may still be no time and no vector."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import StorageCorrupt
from amem.labels import visible_name
from amem.storage.chats import Learning, TurnState
from amem.storage.note_reading import normal_hash
from amem.storage.rows import Undecoded, link_label, link_of, note_of, read_moment, shortened, time_text
from amem.storage.vectors import packed_size, unpacked_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from amem.storage.store import Session

#: Columns that hold times, as those do whose names end with ``_at``, and that hold JSON, in whichever table.
_TIMES = frozenset(("at", "valid_from", "valid_to", "last_access", "lease_until"))
_JSON = frozenset(("edited", "changes", "before", "after", "progress", "recalled"))
#: Columns that hold one of a few words.
_WORDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("turns", "state"): frozenset(TurnState),
    ("turns", "learning"): frozenset(Learning),
}
_SORTS: Mapping[str, Any] = {"TEXT": str, "INTEGER": int, "REAL": int | float, "BLOB": bytes}
#: All but notes and links, which are read as such, and the full-text indexes, which SQLite checks itself.
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('notes', 'links')"
    " AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'note_text*' AND name NOT GLOB 'source_text*'"
    " AND name <> 'note_vocabulary' ORDER BY name"
)


def unsound(session: Session) -> Iterator[str]:
    """Name each row that cannot be read, or does not match the data that it was derived from. Reads everything."""
    yield from _cells(session)
    yield from _read(session, "notes", lambda row: f"note {row['id']}", _whole_note)
    yield from _read(session, "links", link_label, link_of)
    yield from _vectors(session)
    yield from _counts(session)


def _cells(session: Session) -> Iterator[str]:
    for name in session.column(_TABLES):
        sorts, named = _columns(session, name)
        for row in _rows(session, name):
            which = ", ".join(visible_name(str(row[each])) for each in named)
            yield from (f"row {which} of {name}: {problem}" for problem in _unfit(name, sorts, row))


def _columns(session: Session, table: str) -> tuple[dict[str, str], list[str]]:
    """The columns of a table with their sorts, and those that name a row."""
    info = session.connection.execute(f"PRAGMA table_info({table})").fetchall()
    sorts = {name: sort for _, name, sort, *_ in info}
    return sorts, [name for _, name, *_, key in info if key] or list(sorts)[:1]


def _rows(session: Session, table: str) -> Iterator[dict[str, Any]]:
    cursor = session.connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    for values in cursor:
        yield dict(zip(names, values, strict=True))


def _unfit(table: str, sorts: Mapping[str, str], row: Mapping[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        if value is not None and not _fits(table, name, sorts[name], value):
            yield f"its {name} is {shortened(value)}" + " and not UTF-8" * isinstance(value, Undecoded)


def _fits(table: str, name: str, sort: str, value: Any) -> bool:
    """Whether a value is one of the column's own sort."""
    if not isinstance(value, _SORTS.get(sort, object)) or isinstance(value, Undecoded):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if name in _TIMES or name.endswith("_at"):
        return _is_time(value)
    if name in _JSON:
        return _is_json(value)
    return (table, name) not in _WORDS or value in _WORDS[table, name]


def _read(
    session: Session, table: str, label: Callable[[Mapping[str, Any]], str], read: Callable[[Mapping[str, Any]], object]
) -> Iterator[str]:
    """The rows of a table that `read` refuses, and cells of them that do not fit."""
    sorts, _ = _columns(session, table)
    for row in _rows(session, table):
        unfit = list(_unfit(table, sorts, row))
        yield from (f"{label(row)}: {problem}" for problem in unfit)
        try:
            read(row)
        except StorageCorrupt as error:
            if not unfit:
                yield str(error)


def _whole_note(row: Mapping[str, Any]) -> None:
    note = note_of(row)
    if row["normal"] != normal_hash(note.content):
        raise StorageCorrupt(f"note {note.id}: its text is not the one that its hash was made of")


def _vectors(session: Session) -> Iterator[str]:
    held = "SELECT vectors.key, spaces.dimension, vector FROM vectors JOIN spaces ON spaces.id = vectors.space"
    for key, dimension, vector in session.connection.execute(held):
        if not isinstance(vector, bytes) or not isinstance(dimension, int):
            continue  # said of its cell
        if len(vector) != packed_size(dimension) or not np.isfinite(unpacked_vectors(vector, dimension)).all():
            yield f"vector {key} is not {dimension} numbers"


def _counts(session: Session) -> Iterator[str]:
    asked = (
        "SELECT status, sum(held), sum(counted) FROM ("
        " SELECT status, count(*) AS held, 0 AS counted FROM notes GROUP BY status"
        " UNION ALL SELECT status, 0, notes FROM note_counts) GROUP BY status"
    )
    for status, held, counted in session.connection.execute(asked):
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

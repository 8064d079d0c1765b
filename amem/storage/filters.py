"""Filters as SQL, and notes as they stood at an earlier time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amem.note import SCOPES, Status
from amem.storage.rows import ROLE, cell, listed, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from amem.query import Filter
    from amem.storage.store import Session


# Notes as they stood at an earlier time: what was changed since, taken back version by version.

#: Changes after a moment; the first version of a note is no change.
_LATER = "FROM versions AS v JOIN operations AS o ON o.id = v.operation WHERE o.at > :known_at AND v.version > 1"


def stood(session: Session, rows: Mapping[int, Mapping[str, Any]], moment: datetime) -> dict[int, dict[str, Any]]:
    """These rows of ``notes``, by key, with every versioned field and `version` as at `moment`.

    Notes that did not exist yet are left out.
    """
    there = {key: dict(row) for key, row in rows.items() if row["recorded_at"] <= time_text(moment)}
    since = f"SELECT v.note, v.version, v.changes {_LATER} AND v.note IN (SELECT value FROM json_each(:keys))"
    since += " ORDER BY v.note, v.version DESC"
    for key, version, changes in session.rows(since, keys=listed(there), known_at=time_text(moment)):
        there[key] |= {field: cell(field, before) for field, (before, _) in json.loads(changes).items()}
        there[key]["version"] = version - 1
    return there


def changed_since(session: Session, moment: datetime, *fields: str) -> set[int]:
    """Keys of the notes of which one of these fields was changed after `moment`."""
    touched = " OR ".join(f"json_type(v.changes, '$.{name}') IS NOT NULL" for name in fields)
    return set(session.column(f"SELECT DISTINCT v.note {_LATER} AND ({touched})", known_at=time_text(moment)))


def _then(name: str, known_at: datetime | None) -> str:
    """What the column of ``notes`` holds, or held at `known_at` (of notes that existed then), as SQL."""
    if known_at is None:
        return f"notes.{name}"
    first = (
        f"{_LATER} AND v.note = notes.key AND json_type(v.changes, '$.{name}') IS NOT NULL ORDER BY v.version LIMIT 1"
    )
    return (
        f"CASE WHEN notes.key NOT IN (SELECT v.note {_LATER}) THEN notes.{name} WHEN EXISTS (SELECT 1 {first})"
        f" THEN (SELECT json_extract(v.changes, '$.{name}[0]') {first}) ELSE notes.{name} END"
    )


# A ``Filter`` as SQL conditions on the notes table.

#: Whole numbers of fewer digits fit into SQLite's.
_DIGITS = 19


def conditions(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """What a row of ``notes`` must meet, and the values of its parameters."""
    found: list[str] = []
    values: dict[str, Any] = {}

    def meets(condition: str, value: Any) -> None:
        """One condition on one value, for which ``?`` stands."""
        name = f"p{len(values)}"
        found.append(condition.replace("?", f":{name}"))
        values[name] = value

    def among(column: str, names: Iterable[str]) -> None:
        meets(f"{column} IN (SELECT value FROM json_each(?))", listed(map(str, names)))

    statuses, known_at = wanted.statuses, wanted.known_at
    if known_at is not None:
        values["known_at"] = time_text(known_at)
        found.append("notes.recorded_at <= :known_at")
    if wanted.as_of is not None:
        # It had begun to be so, and had not yet ended: by its own word, or as what took its place began. What had
        # ended before it was said was so before that, nobody said since when.
        statuses = tuple({*statuses, Status.SUPERSEDED})
        values["as_of"] = time_text(wanted.as_of)
        begun = f"coalesce({_then('valid_from', known_at)}, {_then('at', known_at)})"
        replaced = (
            "(SELECT coalesce(newer.valid_from, newer.at) FROM notes AS newer"
            f" WHERE newer.id = {_then('superseded_by', known_at)})"
        )
        ended = f"coalesce({_then('valid_to', known_at)}, {replaced})"
        found.append(f"({begun} <= :as_of OR {ended} < {begun}) AND ({ended} IS NULL OR {ended} > :as_of)")
    if known_at is None:
        # Written out, or SQLite would use no partial index.
        found.append(f"notes.status IN ({', '.join(repr(str(status)) for status in statuses)})")
    else:
        among(_then("status", known_at), statuses)
    for tag in wanted.tags:
        meets(f"notes.key IN (SELECT note FROM note_terms WHERE role = {ROLE['tag']} AND term = ?)", tag.casefold())
    if wanted.kinds:
        among("notes.kind", wanted.kinds)
    if wanted.layers:
        among("notes.layer", wanted.layers)
    for name in ("category", "speaker"):
        if (value := getattr(wanted, name)) is not None:
            meets(f"lower(notes.{name}) = ?", value.lower())
    if wanted.conversation is not None:
        meets("notes.conversation_id = ?", wanted.conversation)
    if wanted.part_of is not None:
        meets("notes.id IN (SELECT source FROM links WHERE target = ? AND type = 'part_of')", wanted.part_of)
    if wanted.since is not None:
        meets("notes.at >= ?", time_text(wanted.since))
    if wanted.until is not None:
        meets("notes.at < ?", time_text(wanted.until))
    for key, value in wanted.metadata.items():
        values[f"path{len(values)}"] = f'$."{key}"'
        path = f":path{len(values) - 1}"
        if isinstance(value, bool):
            # SQLite reads JSON true as 1; without the type the number 1 would pass for true.
            meets(f"json_type(notes.metadata, {path}) = ?", "true" if value else "false")
        else:
            types = "'text'" if isinstance(value, str) else "'integer', 'real'"
            held = f"json_extract(notes.metadata, {path}) = ?"
            meets(f"{held} AND json_type(notes.metadata, {path}) IN ({types})", value)
    whose = {} if wanted.whose is None else wanted.whose.ids
    own = {name: value for name in SCOPES if (value := getattr(wanted, name)) is not None}
    for name, value in (*whose.items(), *own.items()):
        # Written out, as the index on it is (0004_scopes.sql); an id that another program keeps as a number counts.
        whole = value.isdecimal() and value.isascii() and str(int(value)) == value and len(value) < _DIGITS
        same = listed([value, int(value)] if whole else [value])
        meets(f"json_extract(notes.metadata, '$.{name}') IN (SELECT value FROM json_each(?))", same)
    for name in () if wanted.whose is None else SCOPES:
        if getattr(wanted.whose, name) == "":
            found.append(f"coalesce(json_extract(notes.metadata, '$.{name}'), '') = ''")
    return " AND ".join(found), values

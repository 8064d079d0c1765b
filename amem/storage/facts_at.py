"""What notes stated at an earlier time, by their versions; the index of facts knows the present only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from amem.note import Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.facts import evidence_of, fact_rows
from amem.storage.known import changed_since, stood
from amem.storage.rows import note_of
from amem.truth.subjects import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.storage.session import Session
    from amem.truth.evidence import Evidence

_NOTES, _FACTS = tables.notes, tables.facts


def told_at(session: Session, subjects: Sequence[str], moment: datetime) -> list[Evidence]:
    """All that notes stated of these subjects as they stood at `moment`, oldest arrival first.

    Notes that were deleted since are among them.
    """
    wanted = {subject_key(subject) for subject in subjects}
    # Whoever states it now stated it then, but for those whose facts or status changed in between.
    now = select(_FACTS.c.note).where(_FACTS.c.subject_key.in_(wanted)).distinct()
    moved = changed_since(moment, "facts", "overturned", "status")
    keys = {int(key) for statement in (now, moved) for key in session.connection.execute(statement).scalars()}
    notes = _stood(session, _NOTES.c.key, sorted(keys), moment)
    successors = {row["superseded_by"] for row in notes if row["superseded_by"] is not None}
    then = {row["id"]: row for row in _stood(session, _NOTES.c.id, sorted(successors), moment)}
    settled = set(session.connection.execute(changed_since(moment, "status")).scalars())
    return [
        evidence_of(_with_note(fact, row, then, settled))
        for row in sorted(notes, key=lambda row: row["key"])
        if row["status"] != Status.DELETED and session.scope.holds(json.loads(row["metadata"]))
        for fact in _facts_of(row)
        if fact["subject_key"] in wanted
    ]


def _stood(session: Session, column: Any, values: Sequence[Any], moment: datetime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for some in chunks(values):
        rows = session.connection.execute(select(_NOTES).where(column.in_(some))).mappings()
        found += stood(session, {row["key"]: row for row in rows}, moment).values()
    return found


def _facts_of(row: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    return fact_rows(row["key"], note_of(row))


def _with_note(
    fact: Mapping[str, Any], row: Mapping[str, Any], then: Mapping[str, Mapping[str, Any]], settled: set[int]
) -> dict[str, Any]:
    """A row as `evidence_of` reads it. Whoever owns the status now may not have owned it before it changed."""
    successor = then.get(row["superseded_by"])
    if successor is not None and successor["status"] == Status.DELETED:
        successor = None
    owned = json.loads(row["edited"]).get("status")
    return {
        **fact,
        **{name: row[name] for name in ("id", "key", "at", "status", "superseded_by", "speaker")},
        "note_from": row["valid_from"],
        "note_to": row["valid_to"],
        "status_owner": None if row["key"] in settled else owned,
        "successor": None if successor is None else successor["id"],
        "replaced": None if successor is None else successor["valid_from"] or successor["at"],
    }

"""What other tables say of a note: links, usage, trust, history. Filled in for the few notes that are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from amem.note import Status
from amem.storage import tables
from amem.storage.rows import read_moment, time_text
from amem.storage.sql_values import Prepared, chunks, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.note import MemoryNote
    from amem.storage.store import Session


#: Built once, as it is on the path of every search. A link may point to a note that does not exist yet; one to a
#: deleted note is not shown until it is restored.
_LINKS = Prepared(
    "SELECT links.source, links.target FROM json_each(:ids) AS asked CROSS JOIN links ON links.source = asked.value"
    " LEFT JOIN notes ON notes.id = links.target WHERE coalesce(notes.status, '') <> 'deleted'"
    " ORDER BY links.at, links.key"
)


_DOUBTS = Prepared(
    "SELECT notes.id, flags.reason FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value"
    " JOIN flags ON flags.note = notes.key JOIN operations AS made ON made.id = flags.operation"
    " WHERE flags.dismissed = 0 AND made.undone_by IS NULL AND made.at <= :moment"
    " AND NOT EXISTS (SELECT 1 FROM flags AS later JOIN operations AS said ON said.id = later.operation"
    "  WHERE later.note = flags.note AND later.because = flags.because AND later.id > flags.id"
    "  AND said.undone_by IS NULL AND said.at <= :moment)"
    " ORDER BY flags.id"
)


def complete(
    session: Session,
    notes: Mapping[str, MemoryNote],
    rows: Mapping[str, Mapping[str, Any]],
    *,
    history: bool,
    usage: bool,
    known_at: datetime | None = None,
) -> None:
    """Fill in links, doubts (those there were at `known_at`) and, when asked, usage, trust, stability and history."""
    moment = time_text(known_at or session.now)
    ids = list(notes)
    for some in chunks(ids):
        _links(session, notes, some)
        for id, reason in _DOUBTS.rows(session, ids=listed(some), moment=moment):
            if notes[id].status is Status.ACTIVE:
                notes[id].doubts.append(reason)
        if usage:
            _usage(session, notes, rows, some)
        if history:
            _history(session, notes, rows, some)


def _links(session: Session, notes: Mapping[str, MemoryNote], ids: Sequence[str]) -> None:
    for source, end in _LINKS.rows(session, ids=listed(ids)):
        if end not in notes[source].links:
            notes[source].links.append(end)


def _usage(
    session: Session, notes: Mapping[str, MemoryNote], rows: Mapping[str, Mapping[str, Any]], ids: Sequence[str]
) -> None:
    keys = [rows[id]["key"] for id in ids]
    used = tables.usage
    found = {row.note: row for row in session.connection.execute(select(used).where(used.c.note.in_(keys)))}
    by_key = {rows[id]["key"]: notes[id] for id in ids}
    standing = session.usage.standings(keys)
    kept = zip(standing.keys.tolist(), standing.stability.tolist(), standing.trust(session.now).tolist(), strict=True)
    for key, stability, trust in kept:
        note = by_key[key]
        note.retrieval_count = found[key].recalls if key in found else 0
        note.last_accessed = found[key].last_access if key in found else note.timestamp
        note.stability, note.trust = stability, trust


def _history(
    session: Session, notes: Mapping[str, MemoryNote], rows: Mapping[str, Mapping[str, Any]], ids: Sequence[str]
) -> None:
    versions, operations = tables.versions, tables.operations
    by_key = {rows[id]["key"]: notes[id] for id in ids}
    statement = (
        select(versions.c.note, versions.c.version, versions.c.changes, operations.c.actor, operations.c.action)
        .add_columns(operations.c.cause, operations.c.at)
        .select_from(versions.join(operations, operations.c.id == versions.c.operation))
        .where(versions.c.note.in_(list(by_key)), versions.c.version > 1)
        .order_by(versions.c.note, versions.c.version)
    )
    found = session.connection.execute(statement).mappings()
    for key, told in session.readable(
        found, lambda row: f"version {row['version']} of note {by_key[row['note']].id}", _told
    ):
        if told["version"] <= by_key[key].version:  # else the note is asked for as it stood before
            by_key[key].evolution_history.append(told)


def _told(row: Mapping[Any, Any]) -> tuple[int, dict[str, Any]]:
    return row["note"], {
        "version": row["version"],
        "at": read_moment(row["at"]).isoformat(),
        "actor": row["actor"],
        "action": row["action"],
        "cause": row["cause"],
        "changes": json.loads(row["changes"]),
    }

"""What other tables say of a note: links, usage, trust, history. Filled in for the few notes that are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amem.note import Status
from amem.storage.rows import read_moment, time_text
from amem.storage.sql_values import listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from amem.note import MemoryNote
    from amem.storage.store import Session


#: Built once, as it is on the path of every search. A link may point to a note that does not exist yet; one to a
#: deleted note is not shown until it is restored.
_LINKS = (
    "SELECT links.source, links.target FROM json_each(:ids) AS asked CROSS JOIN links ON links.source = asked.value"
    " LEFT JOIN notes ON notes.id = links.target WHERE coalesce(notes.status, '') <> 'deleted'"
    " ORDER BY links.at, links.key"
)


_DOUBTS = (
    "SELECT notes.id, flags.reason FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value"
    " JOIN flags ON flags.note = notes.key JOIN operations AS made ON made.id = flags.operation"
    " WHERE flags.dismissed = 0 AND made.undone_by IS NULL AND made.at <= :moment"
    " AND NOT EXISTS (SELECT 1 FROM flags AS later JOIN operations AS said ON said.id = later.operation"
    "  WHERE later.note = flags.note AND later.because = flags.because AND later.id > flags.id"
    "  AND said.undone_by IS NULL AND said.at <= :moment)"
    " ORDER BY flags.id"
)

_USED = "SELECT note, recalls, last_access FROM usage WHERE note IN (SELECT value FROM json_each(:keys))"
_CHANGES = (
    "SELECT v.note, v.version, v.changes, o.actor, o.action, o.cause, o.at"
    " FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    " WHERE v.note IN (SELECT value FROM json_each(:keys)) AND v.version > 1 ORDER BY v.note, v.version"
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
    ids = listed(notes)
    for source, end in session.rows(_LINKS, ids=ids):
        if end not in notes[source].links:
            notes[source].links.append(end)
    for id, reason in session.rows(_DOUBTS, ids=ids, moment=moment):
        if notes[id].status is Status.ACTIVE:
            notes[id].doubts.append(reason)
    by_key = {rows[id]["key"]: note for id, note in notes.items()}
    if usage:
        _usage(session, by_key)
    if history:
        _history(session, by_key)


def _usage(session: Session, notes: Mapping[int, MemoryNote]) -> None:
    used = {note: rest for note, *rest in session.rows(_USED, keys=listed(notes))}
    for key, (stability, trust) in session.usage.beliefs(list(notes)).items():
        note = notes[key]
        note.retrieval_count, note.last_accessed = used.get(key, (0, note.timestamp))
        note.stability, note.trust = stability, trust


def _history(session: Session, notes: Mapping[int, MemoryNote]) -> None:
    found = session.records(_CHANGES, keys=listed(notes))
    for key, told in session.readable(
        found, lambda row: f"version {row['version']} of note {notes[row['note']].id}", _told
    ):
        if told["version"] <= notes[key].version:  # else the note is asked for as it stood before
            notes[key].evolution_history.append(told)


def _told(row: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    return row["note"], {
        "version": row["version"],
        "at": read_moment(row["at"]).isoformat(),
        "actor": row["actor"],
        "action": row["action"],
        "cause": row["cause"],
        "changes": json.loads(row["changes"]),
    }

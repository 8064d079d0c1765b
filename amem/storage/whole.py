"""Notes whole, with all that an export carries beside their fields; and notes that came from files."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.note import MemoryNote, Status
from amem.storage.rows import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.storage.operations import Version
    from amem.storage.store import Session

_NOTES = (
    "SELECT notes.id, reliability, edited, recalls, last_access, growth, since_archived"
    " FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value LEFT JOIN usage ON usage.note = notes.key"
)
_WITNESSES = (
    "SELECT notes.id, who, min(corroborations.at) FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value"
    " JOIN corroborations ON corroborations.note = notes.key"
    " JOIN operations ON operations.id = corroborations.operation WHERE undone_by IS NULL GROUP BY notes.id, who"
)
#: Of each cause the last word whose operation stands: it raises a flag or dismisses it.
_FLAGS = (
    "SELECT notes.id, because, reason, flags.at, dismissed, max(flags.id)"
    " FROM json_each(:ids) AS asked JOIN notes ON notes.id = asked.value"
    " JOIN flags ON flags.note = notes.key JOIN operations ON operations.id = flags.operation"
    " WHERE undone_by IS NULL GROUP BY notes.id, because ORDER BY max(flags.id)"
)


@dataclass(frozen=True, slots=True)
class Use:
    """How often a note was used, when last, by how much that made it stabler, and how often since it was archived."""

    recalls: int
    last_access: str
    growth: float
    since_archived: int


@dataclass(frozen=True, slots=True)
class Whole:
    """`owned` are the fields by whose they are, `witnesses` (who, at) said the same, `flags` are (because, reason, at,
    dismissed) of what may have made the note out of date.
    """

    reliability: float
    owned: Mapping[str, str]
    use: Use | None = None
    witnesses: tuple[tuple[str, str], ...] = ()
    flags: tuple[tuple[str, str, str, bool], ...] = ()


def wholes(session: Session, ids: Sequence[str]) -> dict[str, Whole]:
    """For each of these notes what belongs to it beside its fields, links and sources."""
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    flags: dict[str, list[tuple[str, str, str, bool]]] = defaultdict(list)
    for id, who, at in session.rows(_WITNESSES, ids=ids):
        said[id].append((who, at))
    for id, because, reason, at, dismissed, _ in session.rows(_FLAGS, ids=ids):
        flags[id].append((because, reason, at, bool(dismissed)))
    return {
        id: Whole(
            reliability,
            json.loads(edited),
            None if used[0] is None else Use(*used),
            tuple(said[id]),
            tuple(flags[id]),
        )
        for id, reliability, edited, *used in session.rows(_NOTES, ids=ids)
    }


def put_whole(
    session: Session,
    note: MemoryNote,
    whole: Whole,
    versions: Sequence[Version],
    operation: int,
    *,
    text_hash: bytes,
    known: dict[int, int],
) -> int:
    """Store a note as it was elsewhere, with its `versions` (none: the first is of now); returns its key.

    The operations of the versions become parts of `operation`; `known` tells which those of other notes became, by
    the numbers that they had.
    """
    key = session.notes.insert(note, operation, reliability=whole.reliability, text_hash=text_hash)
    session.notes.own(key, dict(whole.owned))
    if whole.use is not None:
        row: dict[str, Any] = {name: getattr(whole.use, name) for name in Use.__slots__}
        session.insert("usage", {"note": key, **row})
    for who, at in whole.witnesses:
        session.insert("corroborations", {"note": key, "who": who, "at": at, "operation": operation})
    for because, reason, at, dismissed in whole.flags:
        flag = {"because": because, "reason": reason, "at": at, "dismissed": int(dismissed)}
        session.insert("flags", {"note": key, "operation": operation, **flag})
    if versions:
        session.change("DELETE FROM versions WHERE note = :key", key=key)
        for version in versions:
            if version.operation not in known:
                made = session.begin(
                    version.action, version.actor, version.cause, parent=operation, prompts=version.prompts
                )
                session.update("operations", {"at": version.at}, id=made)
                known[version.operation] = made
            row = {"operation": known[version.operation], "note": key, "version": version.version}
            changes = {name: list(pair) for name, pair in version.changes.items()}
            session.insert("versions", {"changes": as_json(changes), **row})
        session.update("notes", {"version": versions[-1].version}, key=key)
    return key


_FROM_FILES = (
    "SELECT key, id, version, content, metadata, status, edited FROM notes"
    " WHERE json_extract(metadata, '$.file') IS NOT NULL OR json_extract(metadata, '$.path') IS NOT NULL ORDER BY key"
)


@dataclass(frozen=True, slots=True)
class FileNote:
    """A note that came from a file, whatever its status.

    `owned` are its fields by whose they are (see `owned_fields`); `said_by` and `put_by` are the actions that last set
    its content and its status, '' for those that made the note.
    """

    id: str
    version: int
    content: str
    metadata: Mapping[str, Any]
    status: Status
    owned: Mapping[str, str]
    said_by: str = ""
    put_by: str = ""


def file_notes(session: Session) -> list[FileNote]:
    """Every note that says in its metadata which file it came from, oldest first."""
    rows = session.rows(_FROM_FILES)
    changed = [key for key, _, version, *_ in rows if version > 1]
    said = session.operations.last_to_set(changed, ["content"])
    put = session.operations.last_to_set(changed, ["status"])
    return [
        FileNote(
            id,
            version,
            content,
            json.loads(metadata),
            Status(status),
            json.loads(edited),
            said[key][1] if key in said else "",
            put[key][1] if key in put else "",
        )
        for key, id, version, content, metadata, status, edited in rows
    ]

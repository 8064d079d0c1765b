"""Notes that came from files, as an import that comes again needs to know them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.storage.store import Session

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

"""Versions of a note compared: every field as it was then, from what is now and what was changed since."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from amem.errors import NoteNotFound, OperationNotFound
from amem.labels import short_id
from amem.storage import tables
from amem.storage.rows import VERSIONED, from_cell

if TYPE_CHECKING:
    from amem.storage.session import Session

_NOTES, _VERSIONS = tables.notes, tables.versions
#: What tells together whether a note stands: taken back together or not at all.
STANDING = ("status", "superseded_by", "valid_to")


def differences(session: Session, id: str, older: int, newer: int | None = None) -> dict[str, tuple[Any, Any]]:
    """The fields in which two versions differ, {field: (in the older, in the newer)}, as plain values.

    `newer` None is the note as it is now. Version 0 is before the note was there: each of its fields is None then, and
    what is empty in the other is left out. Raises NoteNotFound and OperationNotFound.
    """
    after = {**_now(session, id), **({} if newer is None else fields_then(session, id, newer))}
    if older == 0:
        return {field: (None, value) for field, value in after.items() if value not in (None, "", [], {}, False)}
    before = {**_now(session, id), **fields_then(session, id, older)}
    return {field: (before[field], value) for field, value in after.items() if value != before[field]}


def would_roll_back(session: Session, id: str, version: int) -> dict[str, tuple[Any, Any]]:
    """What setting a note back would change, {field: (now, then)}. Raises NoteNotFound and OperationNotFound."""
    now, then = _now(session, id), fields_then(session, id, version)
    # Whether a note stands is the business of those who hide and restore it, not of an old text coming back.
    if "status" in then or "superseded_by" in then:
        then = {field: value for field, value in then.items() if field not in STANDING}
    return {field: (now[field], value) for field, value in then.items() if value != now[field]}


def fields_then(session: Session, id: str, version: int) -> dict[str, Any]:
    """The fields that were changed after that version, as they were in it. Raises NoteNotFound, OperationNotFound."""
    last = session.connection.execute(select(_NOTES.c.key, _NOTES.c.version).where(_NOTES.c.id == id)).one_or_none()
    if last is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    if not 1 <= version <= last.version:
        raise OperationNotFound(
            f"note {short_id(id)} has no version {version}", hint=f"it has 1 to {last.version}; see amem history"
        )
    since = select(_VERSIONS.c.changes).where(_VERSIONS.c.note == last.key, _VERSIONS.c.version > version)
    found: dict[str, Any] = {}
    for changes in session.connection.execute(since.order_by(_VERSIONS.c.version.desc())).scalars():
        found |= {field: before for field, (before, _) in json.loads(changes).items()}
    return found


def _now(session: Session, id: str) -> dict[str, Any]:
    row = session.connection.execute(select(_NOTES).where(_NOTES.c.id == id)).mappings().one_or_none()
    if row is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    return {field: from_cell(field, row[field]) for field in VERSIONED}

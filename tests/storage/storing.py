"""The shortest ways to put a note into a store and to change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.note import MemoryNote

if TYPE_CHECKING:
    from amem.storage.store import Session


def put(session: Session, content: str, operation: int | None = None, **fields: Any) -> str:
    """Insert a note that speaks of now, with an operation of its own unless given one; returns its id."""
    fields.setdefault("at", session.now)
    note = MemoryNote(content, timestamp="now", **fields)
    by = session.begin("add", "user") if operation is None else operation
    session.notes.insert(note, by, reliability=0.8, text_hash=None)
    return note.id


def change(session: Session, id: str, action: str = "update", **fields: Any) -> int:
    """Change fields (plain values) under an operation of its own; returns the operation."""
    operation = session.begin(action, "user")
    session.notes.change(id, fields, operation)
    return operation

"""The shortest ways to put a note into a store, to change it and to find it by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.note import MemoryNote
from amem.query import Filter
from amem.storage.search_tables import Lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def search(session: Session, terms: Sequence[str], wanted: Filter | None = None) -> dict[int, float]:
    """The keys of notes that pass the filter and hold any of these index terms, with their BM25, best first."""
    _, keys, worth = session.text.postings(terms, Lengths.of(session))
    scores = {key: float(worth[keys == key].sum()) for key in keys.tolist()}
    passing = scores.keys() & set(session.notes.keys(wanted or Filter()))
    return {key: scores[key] for key in sorted(passing, key=lambda key: (-scores[key], key))}

"""The truth: notes, links, versions, operations, usage, sources, full text and vectors in one SQLite file."""

from amem.storage.records import Job, Kept, Operation, Review, UndoReport, Version
from amem.storage.session import Session
from amem.storage.store import Store
from amem.storage.undo import redo, rollback, undo
from amem.storage.vectors import Space, text_hash

__all__ = [
    "Job",
    "Kept",
    "Operation",
    "Review",
    "Session",
    "Space",
    "Store",
    "UndoReport",
    "Version",
    "redo",
    "rollback",
    "text_hash",
    "undo",
]

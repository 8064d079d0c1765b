"""The truth: notes, links, versions, operations, usage, sources, full text and vectors in one SQLite file."""

from amem.storage.logbook import Doings, LinkChange, LogOrder
from amem.storage.records import Difference, Job, Operation, Review, UndoReport, Version
from amem.storage.session import Session
from amem.storage.store import Store
from amem.storage.undo import own_last, own_undone, redo, rollback, turn_back, undo
from amem.storage.vectors import Space, text_hash

__all__ = [
    "Difference",
    "Doings",
    "Job",
    "LinkChange",
    "LogOrder",
    "Operation",
    "Review",
    "Session",
    "Space",
    "Store",
    "UndoReport",
    "Version",
    "own_last",
    "own_undone",
    "redo",
    "rollback",
    "text_hash",
    "turn_back",
    "undo",
]

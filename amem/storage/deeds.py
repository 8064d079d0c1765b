"""What an operation did note by note, with all that it set off: the lines of a report that outlives its process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.storage.prepared import Prepared

if TYPE_CHECKING:
    from amem.storage.session import Session

_DEEDS = Prepared(
    "WITH RECURSIVE family(id) AS (VALUES (:operation) UNION ALL"
    " SELECT o.id FROM operations AS o JOIN family AS f ON o.parent = f.id)"
    " SELECT o.id, o.action, o.cause, o.undone_by IS NOT NULL, n.id, v.version = 1"
    " FROM family AS f JOIN operations AS o ON o.id = f.id JOIN versions AS v ON v.operation = o.id"
    " JOIN notes AS n ON n.key = v.note ORDER BY v.id LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done to one note: it was `made`, or changed. `cause` says why, `undone` that it was taken back since."""

    operation: int
    action: str
    cause: str
    undone: bool
    note: str
    made: bool


def deeds(session: Session, operation: int, *, limit: int) -> list[Deed]:
    """What the operation and all below it did, in the order it was done; at most `limit` deeds."""
    return [
        Deed(id, action, cause, bool(undone), note, bool(made))
        for id, action, cause, undone, note, made in _DEEDS.rows(session, operation=operation, limit=limit)
    ]

"""The review queue: changes that machines proposed and a person decides."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, exists, func, insert, select

from amem.errors import ReviewNotFound
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.records import Review
from amem.storage.rows import read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import RowMapping

    from amem.storage.session import Session

_REVIEWS, _NOTES, _DECISIONS, _OPS = tables.reviews, tables.notes, tables.decisions, tables.operations
#: What became of a proposal: undone with its operation, else what the last decision that stands says, else still open.
_STATE = case(
    (exists(select(1).where(_OPS.c.id == _REVIEWS.c.operation, _OPS.c.undone_by.is_not(None))), "withdrawn"),
    else_=func.coalesce(
        select(_DECISIONS.c.state)
        .select_from(_DECISIONS.join(_OPS, _OPS.c.id == _DECISIONS.c.operation))
        .where(_DECISIONS.c.review == _REVIEWS.c.id, _OPS.c.undone_by.is_(None))
        .order_by(_DECISIONS.c.id.desc())
        .limit(1)
        .scalar_subquery(),
        "open",
    ),
)


class Reviews:
    """The review queue of one transaction; a newer proposal replaces one for the same note that is open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def propose(
        self,
        id: str,
        changes: Mapping[str, tuple[Any, Any]],
        *,
        operation: int,
        base_version: int,
        reason: str,
        confidence: float,
        made_by: str,
        days: int,
    ) -> int:
        """Queue a change of plain values {field: (before, after)} for a person; returns the review's id."""
        key = self._session.notes.keys_of([id])[id]
        for item in self._read(_NOTES.c.id == id, _STATE == "open"):
            self.decide(item.id, "replaced", operation)
        now = self._session.now
        statement = insert(_REVIEWS).values(
            note=key,
            operation=operation,
            base_version=base_version,
            changes=json.dumps({field: list(pair) for field, pair in changes.items()}, ensure_ascii=False),
            reason=reason,
            confidence=confidence,
            made_by=made_by,
            created_at=time_text(now),
            expires_at=time_text(now + timedelta(days=days)),
        )
        review = self._run(statement).lastrowid
        assert review is not None
        return int(review)

    def open(self) -> list[Review]:
        """Items that wait and have not expired, oldest first."""
        return self._read(_STATE == "open", _REVIEWS.c.expires_at > time_text(self._session.now))

    def pairs(self, made_by: str) -> set[frozenset[str]]:
        """Every two notes of which this machine ever proposed that one take the other's place."""
        found = self._read(_REVIEWS.c.made_by == made_by)
        return {frozenset((item.note, item.changes["superseded_by"][1])) for item in found if _replaces(item)}

    def of(self, reviews: Sequence[int]) -> list[Review]:
        """These items, whatever became of them."""
        return [item for some in chunks(reviews) for item in self._read(_REVIEWS.c.id.in_(some))]

    def get(self, review: int) -> Review:
        """An open item; raises ReviewNotFound when there is none of this id, or it is decided or expired."""
        found = self._read(_REVIEWS.c.id == review)
        if not found:
            raise ReviewNotFound(f"no review {review}", hint="amem review lists what waits")
        if found[0].state != "open" or found[0].expires_at <= self._session.now:
            state = "expired" if found[0].state == "open" else found[0].state
            raise ReviewNotFound(f"review {review} is {state} already", hint="amem review lists what waits")
        return found[0]

    def decide(self, review: int, state: str, operation: int) -> None:
        """Close an item as accepted, rejected or replaced, for as long as the operation stands."""
        self._run(insert(_DECISIONS).values(review=review, state=state, operation=operation))

    def concerned(self, operations: Sequence[int]) -> list[int]:
        """Ids of the items that these operations proposed or decided, oldest first."""
        found: set[int] = set()
        for some in chunks(operations):
            found |= set(self._run(select(_REVIEWS.c.id).where(_REVIEWS.c.operation.in_(some))).scalars())
            found |= set(self._run(select(_DECISIONS.c.review).where(_DECISIONS.c.operation.in_(some))).scalars())
        return sorted(found)

    def _read(self, *where: Any) -> list[Review]:
        statement = (
            select(_REVIEWS, _NOTES.c.id.label("note_id"), _STATE.label("state"))
            .select_from(_REVIEWS.join(_NOTES, _NOTES.c.key == _REVIEWS.c.note))
            .where(*where)
            .order_by(_REVIEWS.c.id)
        )
        return self._session.readable(self._run(statement).mappings(), lambda row: f"review {row['id']}", _review_of)


def _replaces(item: Review) -> bool:
    return item.changes.get("superseded_by", (None, None))[1] is not None


def _review_of(row: RowMapping) -> Review:
    created, expires = read_time(row["created_at"]), read_time(row["expires_at"])
    assert created is not None
    assert expires is not None
    return Review(
        id=row["id"],
        note=row["note_id"],
        changes={field: (pair[0], pair[1]) for field, pair in json.loads(row["changes"]).items()},
        reason=row["reason"],
        confidence=row["confidence"],
        made_by=row["made_by"],
        created_at=created,
        expires_at=expires,
        state=row["state"],
        operation=row["operation"],
    )

"""The review queue: changes that machines proposed and a person decides."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from amem.errors import ReviewNotFound
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.records import Review
from amem.storage.rows import read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import RowMapping

    from amem.storage.session import Session

_REVIEWS, _NOTES = tables.reviews, tables.notes


#: The states in which operations of these actions leave an item.
_DECISIONS = {"accept": "accepted", "reject": "rejected"}


class Reviews:
    """The review queue of one transaction; one open item per note, a newer proposal replaces an older one."""

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
        self._run(
            update(_REVIEWS)
            .where(_REVIEWS.c.note == key, _REVIEWS.c.state == "open")
            .values(state="replaced", decided_by=operation)
        )
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
            state="open",
        )
        review = self._run(statement).lastrowid
        assert review is not None
        return int(review)

    def open(self) -> list[Review]:
        """Items that wait and have not expired, oldest first."""
        return self._read(_REVIEWS.c.state == "open", _REVIEWS.c.expires_at > time_text(self._session.now))

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
        """Close an item as accepted, rejected or stale."""
        self._run(update(_REVIEWS).where(_REVIEWS.c.id == review).values(state=state, decided_by=operation))

    def concerned(self, operations: Sequence[int]) -> set[int]:
        """Those of these operations that proposed or decided a review."""
        found: set[int] = set()
        for some in chunks(operations):
            for column in (_REVIEWS.c.operation, _REVIEWS.c.decided_by):
                found |= set(self._run(select(column).where(column.in_(some)).distinct()).scalars())
        return found

    def withdraw(self, operation: int, by: int) -> None:
        """The part of undo and redo: close what `operation` had proposed, open again what it had decided.

        What is open again remembers by which undo: redoing decides it as before.
        """
        self._run(
            update(_REVIEWS)
            .where(_REVIEWS.c.operation == operation, _REVIEWS.c.state == "open")
            .values(state="withdrawn", decided_by=by)
        )
        for item in self._read(_REVIEWS.c.decided_by == operation):
            if item.state == "open":
                self._decide_again(item.id, operation)
            elif item.state in ("accepted", "rejected", "withdrawn") and not self._has_open(item.note):
                self._run(update(_REVIEWS).where(_REVIEWS.c.id == item.id).values(state="open", decided_by=by))

    def _decide_again(self, review: int, undone_by: int) -> None:
        """Decide an item as the operation did that this undo had taken back."""
        decided = self._session.operations.get(undone_by).undoes
        action = "" if decided is None else self._session.operations.get(decided).action
        if action in _DECISIONS:
            self.decide(review, _DECISIONS[action], decided or 0)

    def _has_open(self, id: str) -> bool:
        return bool(self._read(_NOTES.c.id == id, _REVIEWS.c.state == "open"))

    def _read(self, *where: Any) -> list[Review]:
        statement = (
            select(_REVIEWS, _NOTES.c.id.label("note_id"))
            .select_from(_REVIEWS.join(_NOTES, _NOTES.c.key == _REVIEWS.c.note))
            .where(*where)
            .order_by(_REVIEWS.c.id)
        )
        return [_review_of(row) for row in self._run(statement).mappings()]


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

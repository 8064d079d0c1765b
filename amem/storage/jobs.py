"""Work that waits: rows with an owner and a lease, so that two workers never do one job twice."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, or_, select, update

from amem.storage import tables
from amem.storage.records import Job
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from amem.storage.session import Session

_JOBS, _NOTES = tables.jobs, tables.notes


class Jobs:
    """The job rows of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Queue a job for a note; one that is there already is given back with the newer error."""
        key = self._session.notes.keys_of([id])[id]
        known = self._run(
            update(_JOBS)
            .where(_JOBS.c.kind == kind, _JOBS.c.note == key)
            .values(error=error, owner=None, lease_until=None)
        ).rowcount
        if not known:
            self._run(insert(_JOBS).values(kind=kind, note=key, operation=operation, error=error, attempts=0))

    def lease(self, kind: str, owner: str, *, seconds: float, skip: frozenset[int] = frozenset()) -> Job | None:
        """Take the oldest job that nobody holds (or whose lease ran out); None when there is none.

        `skip` names jobs the caller has tried already.
        """
        now = time_text(self._session.now)
        free = or_(_JOBS.c.lease_until.is_(None), _JOBS.c.lease_until <= now)
        statement = (
            select(_JOBS, _NOTES.c.id.label("note_id"))
            .select_from(_JOBS.join(_NOTES, _NOTES.c.key == _JOBS.c.note))
            .where(_JOBS.c.kind == kind, free, _JOBS.c.id.not_in(sorted(skip)))
            .order_by(_JOBS.c.id)
        )
        row = self._run(statement.limit(1)).mappings().one_or_none()
        if row is None:
            return None
        until = time_text(self._session.now + timedelta(seconds=seconds))
        self._run(
            update(_JOBS)
            .where(_JOBS.c.id == row["id"])
            .values(owner=owner, lease_until=until, attempts=_JOBS.c.attempts + 1)
        )
        return Job(row["id"], row["kind"], row["note_id"], row["operation"], row["attempts"] + 1, row["error"])

    def settle(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Forget a note's job when it went well; with an error, let it wait for the next round."""
        if error:
            self.put(kind, id, operation, error=error)
            return
        key = self._session.notes.keys_of([id])[id]
        self._run(delete(_JOBS).where(_JOBS.c.kind == kind, _JOBS.c.note == key))

    def count(self, kind: str) -> int:
        """How many jobs of this kind wait or are being done."""
        return int(self._run(select(func.count()).where(_JOBS.c.kind == kind)).scalar_one())

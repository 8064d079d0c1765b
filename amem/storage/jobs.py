"""Work that waits: rows with an owner and a lease, so that two workers never do one job twice."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, or_, select, update

from amem.note import Status
from amem.storage import tables
from amem.storage.records import Job
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from amem.storage.session import Session

_JOBS, _NOTES = tables.jobs, tables.notes
_ALIVE = _NOTES.c.status != str(Status.DELETED)


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

    def claim(self, kind: str, id: str, owner: str, *, seconds: float) -> bool:
        """Take the job of this note; False when there is none, or another holds it."""
        key = self._session.notes.keys_of([id]).get(id)
        statement = update(_JOBS).where(_JOBS.c.kind == kind, _JOBS.c.note == key, self._free())
        return bool(self._run(statement.values(self._taken(owner, seconds))).rowcount)

    def lease(self, kind: str, owner: str, *, seconds: float, skip: frozenset[int] = frozenset()) -> Job | None:
        """Take the oldest job that nobody holds (or whose lease ran out); None when there is none.

        `skip` names jobs the caller has tried already. Jobs of deleted notes wait until those are restored.
        """
        statement = (
            select(_JOBS, _NOTES.c.id.label("note_id"))
            .select_from(_JOBS.join(_NOTES, _NOTES.c.key == _JOBS.c.note))
            .where(_JOBS.c.kind == kind, self._free(), _ALIVE, _JOBS.c.id.not_in(sorted(skip)))
            .order_by(_JOBS.c.id)
        )
        row = self._run(statement.limit(1)).mappings().one_or_none()
        if row is None:
            return None
        self._run(update(_JOBS).where(_JOBS.c.id == row["id"]).values(self._taken(owner, seconds)))
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
        jobs = _JOBS.join(_NOTES, _NOTES.c.key == _JOBS.c.note)
        return int(self._run(select(func.count()).select_from(jobs).where(_JOBS.c.kind == kind, _ALIVE)).scalar_one())

    def _free(self) -> ColumnElement[bool]:
        return or_(_JOBS.c.lease_until.is_(None), _JOBS.c.lease_until <= time_text(self._session.now))

    def _taken(self, owner: str, seconds: float) -> dict[str, Any]:
        until = time_text(self._session.now + timedelta(seconds=seconds))
        return {"owner": owner, "lease_until": until, "attempts": _JOBS.c.attempts + 1}

"""Work that waits: rows with an owner and a lease, so that two workers never do one job twice.

A job is its owner's until the lease ends, the owner settles or gives it back, or somebody queues it anew because the
note has another text now. Whoever comes late finds that it is another's, and leaves it alone.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, or_, select, update

from amem.note import Status
from amem.storage import tables
from amem.storage.records import Job
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy import ColumnElement

    from amem.storage.session import Session

_JOBS, _NOTES = tables.jobs, tables.notes
_ALIVE = _NOTES.c.status != str(Status.DELETED)
_NOBODYS = {"owner": None, "lease_until": None}


class Jobs:
    """The job rows of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def put(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Queue a job for a note. One that is there is free again, whoever had it: what it was about has changed."""
        key = self._session.notes.keys_of([id])[id]
        known = self._run(
            update(_JOBS).where(_JOBS.c.kind == kind, _JOBS.c.note == key).values(error=error, **_NOBODYS)
        ).rowcount
        if not known:
            self._run(insert(_JOBS).values(kind=kind, note=key, operation=operation, error=error, attempts=0))

    def put_new(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Queue a job for a note, unless it has one, which stays as it is."""
        key = self._session.notes.keys_of([id])[id]
        row = {"kind": kind, "note": key, "operation": operation, "error": error, "attempts": 0}
        self._run(insert(_JOBS).prefix_with("OR IGNORE").values(row))

    def claim(self, kind: str, id: str, owner: str, *, seconds: float) -> Job | None:
        """Take (or keep on) the job of this note; None when there is none, or another holds it."""
        key = self._session.notes.keys_of([id]).get(id)
        this = (_JOBS.c.kind == kind, _JOBS.c.note == key)
        mine = or_(self._free(), _JOBS.c.owner == owner)
        if not self._run(update(_JOBS).where(*this, mine).values(self._taken(owner, seconds))).rowcount:
            return None
        row = self._run(select(_JOBS).where(*this)).mappings().one()
        return Job(row["id"], kind, id, row["operation"], row["attempts"], row["error"])

    def lease(self, kind: str, owner: str, *, seconds: float, skip: Collection[int] = ()) -> Job | None:
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

    def held(self, kind: str, id: str, owner: str) -> bool:
        """Whether this note's job is (still) the owner's."""
        key = self._session.notes.keys_of([id]).get(id)
        statement = select(_JOBS.c.id).where(_JOBS.c.kind == kind, _JOBS.c.note == key, _JOBS.c.owner == owner)
        return self._run(statement).first() is not None

    def settle(self, kind: str, id: str, owner: str, *, error: str = "") -> bool:
        """End the owner's work on a note's job: forget it, or with an error let it wait for the next round.

        False, and nothing is changed, when the job is not (or no longer) the owner's.
        """
        key = self._session.notes.keys_of([id])[id]
        this = (_JOBS.c.kind == kind, _JOBS.c.note == key, _JOBS.c.owner == owner)
        if error:
            return bool(self._run(update(_JOBS).where(*this).values(error=error, **_NOBODYS)).rowcount)
        return bool(self._run(delete(_JOBS).where(*this)).rowcount)

    def give_back(self, owner: str) -> int:
        """Let others have all jobs whose owner's name begins with `owner`; returns how many there were."""
        this = _JOBS.c.owner.startswith(owner, autoescape=True)
        return int(self._run(update(_JOBS).where(this).values(_NOBODYS)).rowcount)

    def give_back_of(self, gone: Callable[[str], bool]) -> int:
        """Let others have the jobs of owners that are gone; returns how many there were."""
        owners = self._run(select(_JOBS.c.owner).where(_JOBS.c.owner.is_not(None)).distinct()).scalars().all()
        left = [owner for owner in owners if gone(owner)]
        if not left:
            return 0
        return int(self._run(update(_JOBS).where(_JOBS.c.owner.in_(left)).values(_NOBODYS)).rowcount)

    def count(self, kind: str) -> int:
        """How many jobs of this kind wait or are being done."""
        jobs = _JOBS.join(_NOTES, _NOTES.c.key == _JOBS.c.note)
        return int(self._run(select(func.count()).select_from(jobs).where(_JOBS.c.kind == kind, _ALIVE)).scalar_one())

    def _free(self) -> ColumnElement[bool]:
        return or_(_JOBS.c.lease_until.is_(None), _JOBS.c.lease_until <= time_text(self._session.now))

    def _taken(self, owner: str, seconds: float) -> dict[str, Any]:
        until = time_text(self._session.now + timedelta(seconds=seconds))
        return {"owner": owner, "lease_until": until, "attempts": _JOBS.c.attempts + 1}

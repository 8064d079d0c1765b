"""Work that outlives its process: jobs with a lease, runs of maintenance, counts of evolution, remarks made once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, or_, select, update

from amem.note import Status
from amem.storage import tables
from amem.storage.records import Job
from amem.storage.rows import read_moment, read_time, time_text
from amem.storage.sql_values import Prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, RowMapping

    from amem.storage.store import Session


# Work that waits: rows with an owner and a lease, so that two workers never do one job twice.
#
# A job is its owner's until the lease ends, the owner settles or gives it back, or somebody queues it anew because
# the note has another text now. Whoever comes late finds that it is another's, and leaves it alone.

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


# Runs of maintenance: how far each came and who is at it, so that one that was killed goes on where it was.

_RUNS = tables.runs
_STEPS = Prepared("SELECT count(*) + count(finished_at) FROM runs")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a maintenance cycle. `since` is the change counter up to which its predecessors had seen the
    collection, `operation` the one that all it wrote hangs on (None as long as it wrote nothing), `progress` JSON."""

    id: int
    cycle: str
    operation: int | None
    started_at: datetime
    finished_at: datetime | None
    since: int
    phase: str
    progress: Mapping[str, Any]
    owner: str | None
    lease_until: datetime | None


class Runs:
    """The runs of one transaction. A run is its owner's until the lease ends, or it is finished or given back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def get(self, id: int) -> Run:
        """That run, which must be there."""
        return _of(self._run(select(_RUNS).where(_RUNS.c.id == id)).mappings().one())

    def open(self) -> Run | None:
        """The run that is not finished; there is never more than one."""
        return self._newest(_RUNS.c.finished_at.is_(None))

    def last(self, cycles: Sequence[str] = ()) -> Run | None:
        """The newest finished run (of one of these cycles)."""
        finished = _RUNS.c.finished_at.is_not(None)
        return self._newest(finished & _RUNS.c.cycle.in_(cycles) if cycles else finished)

    def first(self) -> Run | None:
        """The oldest run."""
        return self._maybe(self._run(select(_RUNS).order_by(_RUNS.c.id).limit(1)).mappings().all())

    def steps(self) -> int:
        """How many runs were begun, and how many of them ended, together: it grows with either."""
        ((number,),) = _STEPS.rows(self._session)
        return int(number)

    def start(self, cycle: str, since: int, progress: Mapping[str, Any], owner: str, *, seconds: float) -> Run:
        """Begin a run in the name of `owner`."""
        row = {"cycle": cycle, "seq": since, "progress": json.dumps(progress), **self._leased(owner, seconds)}
        row["started_at"] = time_text(self._session.now)
        key = self._run(insert(_RUNS), row).lastrowid
        assert key is not None
        return self.get(int(key))

    def take(self, id: int, cycle: str, progress: Mapping[str, Any], owner: str, *, seconds: float) -> Run:
        """Go on with a run that nobody holds, as one of this cycle."""
        self._set(id, cycle=cycle, progress=json.dumps(progress), **self._leased(owner, seconds))
        return self.get(id)

    def keep(self, id: int, owner: str, *, seconds: float) -> bool:
        """Lengthen the lease; False when the run is not (or no longer) the owner's."""
        mine = (_RUNS.c.id == id) & (_RUNS.c.owner == owner)
        return bool(self._run(update(_RUNS).where(mine).values(self._leased(owner, seconds))).rowcount)

    def hang_on(self, id: int, operation: int) -> None:
        """Say which operation all that the run writes hangs on."""
        self._set(id, operation=operation)

    def record(self, id: int, phase: str, progress: Mapping[str, Any]) -> None:
        """Keep how far the run came."""
        self._set(id, phase=phase, progress=json.dumps(progress))

    def finish(self, id: int) -> None:
        """The run is over."""
        self._set(id, finished_at=time_text(self._session.now), **_NOBODYS)

    def give_back(self, owner: str) -> int:
        """Let others go on with the run of an owner whose name begins so; returns how many there were."""
        this = _RUNS.c.owner.startswith(owner, autoescape=True)
        return int(self._run(update(_RUNS).where(this).values(_NOBODYS)).rowcount)

    def _newest(self, condition: ColumnElement[bool]) -> Run | None:
        statement = select(_RUNS).where(condition).order_by(_RUNS.c.id.desc()).limit(1)
        return self._maybe(self._run(statement).mappings().all())

    def _set(self, id: int, **values: Any) -> None:
        self._run(update(_RUNS).where(_RUNS.c.id == id).values(values))

    def _maybe(self, rows: Sequence[RowMapping]) -> Run | None:
        read = self._session.readable(rows, lambda row: f"run {row['id']}", _of)
        return read[0] if read else None

    def _leased(self, owner: str, seconds: float) -> dict[str, Any]:
        return {"owner": owner, "lease_until": time_text(self._session.now + timedelta(seconds=seconds))}


def _of(row: RowMapping) -> Run:
    progress = json.loads(row["progress"])
    if not isinstance(progress, dict):
        raise TypeError("its progress is no object")
    return Run(
        id=row["id"],
        cycle=row["cycle"],
        operation=row["operation"],
        started_at=read_moment(row["started_at"]),
        finished_at=read_time(row["finished_at"]),
        since=row["seq"],
        phase=row["phase"],
        progress=progress,
        owner=row["owner"],
        lease_until=read_time(row["lease_until"]),
    )


# How often the notes of a collection evolved, and what the last consolidation had seen, whatever process it was.

_META = tables.meta
_TOTAL, _AT, _SEQ = "evolutions", "consolidated evolutions", "consolidated seq"


@dataclass(frozen=True, slots=True)
class Evolved:
    """`total` evolutions so far, `at` of them at the last consolidation; `seq` is the change counter that had seen."""

    total: int = 0
    at: int = 0
    seq: int = 0


class Evolutions:
    """The count of one transaction."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def read(self) -> Evolved:
        """What is kept."""
        found = dict(self._run(select(_META.c.key, _META.c.value).where(_META.c.key.in_((_TOTAL, _AT, _SEQ)))).all())
        return Evolved(*(int(found.get(key, 0)) for key in (_TOTAL, _AT, _SEQ)))

    def add(self, number: int) -> Evolved:
        """Count so many more; what there is then."""
        self._put(_TOTAL, self.read().total + number)
        return self.read()

    def consolidated(self, seq: int) -> None:
        """A consolidation has seen the collection up to this value of the change counter."""
        self._put(_AT, self.read().total)
        self._put(_SEQ, seq)

    def _put(self, key: str, value: int) -> None:
        self._run(_META.delete().where(_META.c.key == key))
        self._run(_META.insert().values(key=key, value=str(value)))


# What has been said to whoever uses a collection, and need not be said again.


class Remarks:
    """Remarks on the collection as a whole: the last one made about each thing."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def last(self, about: str) -> str | None:
        """The last remark made; None when none was."""
        found: str | None = self._run(select(_META.c.value).where(_META.c.key == f"said {about}")).scalar()
        return found

    def make(self, about: str, remark: str) -> bool:
        """Keep a remark; False when it is the last one made already, by whatever process."""
        if self.last(about) == remark:
            return False
        self._run(_META.delete().where(_META.c.key == f"said {about}"))
        self._run(_META.insert().values(key=f"said {about}", value=remark))
        return True

"""Runs of maintenance: how far each came and who is at it, so that one that was killed goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from amem.storage import tables
from amem.storage.prepared import Prepared
from amem.storage.rows import read_moment, read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, RowMapping

    from amem.storage.session import Session

_RUNS = tables.runs
_STEPS = Prepared("SELECT count(*) + count(finished_at) FROM runs")
_NOBODYS = {"owner": None, "lease_until": None}


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

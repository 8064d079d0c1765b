"""Work that waits or runs: jobs and who holds them, runs of maintenance, remarks, and what model calls cost."""

from __future__ import annotations

import itertools
import json
import os
import socket
import uuid
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.storage.rows import Part, as_json, from_row

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Job:
    """Work that a worker has leased: `note` is the note's id, `operation` what set it off."""

    id: int
    kind: str
    note: str
    operation: int | None
    error: str


# Work that waits: rows with an owner and a lease, so that two workers never do one job twice.
#
# A job is its owner's until the lease ends, the owner settles or gives it back, or somebody queues it anew because
# the note has another text now. Whoever comes late finds that it is another's, and leaves it alone.

_FREE = "(lease_until IS NULL OR lease_until <= :now)"
_TAKE = "UPDATE jobs SET owner = :owner, lease_until = :until"
#: Jobs of deleted notes wait until those are restored.
_WAITING = "FROM jobs JOIN notes ON notes.key = jobs.note WHERE jobs.kind = :kind AND notes.status <> 'deleted'"
_THIS = "kind = :kind AND note = :note"
_NOBODYS = {"owner": None, "lease_until": None}
_GIVE_BACK = "UPDATE {0} SET owner = NULL, lease_until = NULL WHERE substr(owner, 1, length(:owner)) = :owner"


class Jobs(Part):
    """The job rows of one transaction."""

    def put(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Queue a job for a note. One that is there is free again, whoever had it: what it was about has changed."""
        key = self._session.notes.keys_of([id])[id]
        if not self._session.update("jobs", {"error": error, **_NOBODYS}, kind=kind, note=key):
            self._add(kind, key, operation, error)

    def put_new(self, kind: str, id: str, operation: int | None, *, error: str = "") -> None:
        """Queue a job for a note, unless it has one, which stays as it is."""
        self._add(kind, self._session.notes.keys_of([id])[id], operation, error)

    def claim(self, kind: str, id: str, owner: str, *, seconds: float) -> Job | None:
        """Take (or keep on) the job of this note; None when there is none, or another holds it."""
        this = {"kind": kind, "note": self._session.notes.keys_of([id]).get(id)}
        taken = self._taken(owner, seconds)
        if not self._session.change(f"{_TAKE} WHERE {_THIS} AND ({_FREE} OR owner = :owner)", **this, **taken):
            return None
        ((number, operation, error),) = self._session.rows(
            f"SELECT id, operation, error FROM jobs WHERE {_THIS}", **this
        )
        return Job(number, kind, id, operation, error)

    def lease(self, kind: str, owner: str, *, seconds: float, skip: Collection[int] = ()) -> Job | None:
        """Take the oldest job that nobody holds (or whose lease ran out); None when there is none.

        `skip` names jobs the caller has tried already. Jobs of deleted notes wait until those are restored.
        """
        sql = f"SELECT jobs.id, notes.id, operation, error {_WAITING} AND {_FREE}"
        sql += " AND jobs.id NOT IN :skip ORDER BY jobs.id LIMIT 1"
        taken = self._taken(owner, seconds)
        found = self._session.rows(sql, kind=kind, skip=skip, **taken)
        if not found:
            return None
        ((number, note, operation, error),) = found
        self._session.change(f"{_TAKE} WHERE id = :id", id=number, **taken)
        return Job(number, kind, note, operation, error)

    def held(self, kind: str, id: str, owner: str) -> bool:
        """Whether this note's job is (still) the owner's."""
        key = self._session.notes.keys_of([id]).get(id)
        sql = f"SELECT id FROM jobs WHERE {_THIS} AND owner = :owner"
        return bool(self._session.column(sql, kind=kind, note=key, owner=owner))

    def settle(self, kind: str, id: str, owner: str, *, error: str = "") -> bool:
        """End the owner's work on a note's job: forget it, or with an error let it wait for the next round.

        False, and nothing is changed, when the job is not (or no longer) the owner's.
        """
        this = {"kind": kind, "note": self._session.notes.keys_of([id])[id], "owner": owner}
        if error:
            return bool(self._session.update("jobs", {"error": error, **_NOBODYS}, **this))
        return bool(self._session.change(f"DELETE FROM jobs WHERE {_THIS} AND owner = :owner", **this))

    def give_back(self, owner: str) -> int:
        """Let others have all jobs whose owner's name begins with `owner`; returns how many there were."""
        return self._session.change(_GIVE_BACK.format("jobs"), owner=owner)

    def give_back_of(self, gone: Callable[[str], bool]) -> int:
        """Let others have the jobs of owners that are gone; returns how many there were."""
        owners = self._session.column("SELECT DISTINCT owner FROM jobs WHERE owner IS NOT NULL")
        return sum(self._session.update("jobs", _NOBODYS, owner=owner) for owner in owners if gone(owner))

    def count(self, kind: str) -> int:
        """How many jobs of this kind wait or are being done."""
        return int(self._session.value(f"SELECT count(*) {_WAITING}", kind=kind))

    def _add(self, kind: str, note: int, operation: int | None, error: str) -> None:
        row = {"kind": kind, "note": note, "operation": operation, "error": error}
        self._session.insert("jobs", row, either="IGNORE")

    def _taken(self, owner: str, seconds: float) -> dict[str, Any]:
        now = self._session.now
        return {"owner": owner, "now": now, "until": now + timedelta(seconds=seconds)}


# Runs of maintenance: how far each came and who is at it, so that one that was killed goes on where it was.


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


class Runs(Part):
    """The runs of one transaction. A run is its owner's until the lease ends, or it is finished or given back."""

    def get(self, id: int) -> Run:
        """Return the run, which must exist."""
        (row,) = self._session.records("SELECT * FROM runs WHERE id = :id", id=id)
        return _of(row)

    def open(self) -> Run | None:
        """The run that is not finished; there is never more than one."""
        return self._one("finished_at IS NULL")

    def last(self, cycles: Sequence[str] = ()) -> Run | None:
        """The newest finished run (of one of these cycles)."""
        return self._one("finished_at IS NOT NULL AND (:cycles = '[]' OR cycle IN :cycles)", cycles=cycles)

    def first(self) -> Run | None:
        """The oldest run."""
        return self._one("true", order="id")

    def steps(self) -> int:
        """How many runs were begun, and how many of them ended, together: it grows with either."""
        return int(self._session.value("SELECT count(*) + count(finished_at) FROM runs"))

    def start(self, cycle: str, since: int, progress: Mapping[str, Any], owner: str, *, seconds: float) -> Run:
        """Begin a run in the name of `owner`."""
        row = {"cycle": cycle, "seq": since, "progress": as_json(progress), **self._leased(owner, seconds)}
        row["started_at"] = self._session.now
        return self.get(self._session.insert("runs", row))

    def take(self, id: int, cycle: str, progress: Mapping[str, Any], owner: str, *, seconds: float) -> Run:
        """Go on with a run that nobody holds, as one of this cycle."""
        self._set(id, cycle=cycle, progress=as_json(progress), **self._leased(owner, seconds))
        return self.get(id)

    def keep(self, id: int, owner: str, *, seconds: float) -> bool:
        """Lengthen the lease; False when the run is not (or no longer) the owner's."""
        return bool(self._session.update("runs", self._leased(owner, seconds), id=id, owner=owner))

    def hang_on(self, id: int, operation: int) -> None:
        """Say which operation all that the run writes hangs on."""
        self._set(id, operation=operation)

    def record(self, id: int, phase: str, progress: Mapping[str, Any]) -> None:
        """Keep how far the run came."""
        self._set(id, phase=phase, progress=as_json(progress))

    def finish(self, id: int) -> None:
        """The run is over."""
        self._set(id, finished_at=self._session.now, **_NOBODYS)

    def give_back(self, owner: str) -> int:
        """Let others go on with the run of an owner whose name begins so; returns how many there were."""
        return self._session.change(_GIVE_BACK.format("runs"), owner=owner)

    def _set(self, id: int, **values: Any) -> None:
        self._session.update("runs", values, id=id)

    def _one(self, where: str, *, order: str = "id DESC", **asked: Any) -> Run | None:
        rows = self._session.records(f"SELECT * FROM runs WHERE {where} ORDER BY {order} LIMIT 1", **asked)
        read = self._session.readable(rows, lambda row: f"run {row['id']}", _of)
        return read[0] if read else None

    def _leased(self, owner: str, seconds: float) -> dict[str, Any]:
        return {"owner": owner, "lease_until": self._session.now + timedelta(seconds=seconds)}


def _of(row: Mapping[str, Any]) -> Run:
    progress = json.loads(row["progress"])
    if not isinstance(progress, dict):
        raise TypeError("its progress is no object")
    return from_row(Run, row, since=row["seq"], progress=progress)


# How often the notes of a collection evolved, and what the last consolidation had seen, whatever process it was.

_TOTAL, _AT, _SEQ = "evolutions", "consolidated evolutions", "consolidated seq"


@dataclass(frozen=True, slots=True)
class Evolved:
    """`total` evolutions so far, `at` of them at the last consolidation; `seq` is the change counter that had seen."""

    total: int = 0
    at: int = 0
    seq: int = 0


class Evolutions(Part):
    """The count of one transaction."""

    def read(self) -> Evolved:
        """Return the counts."""
        return Evolved(*(int(self._session.remembered(name) or 0) for name in (_TOTAL, _AT, _SEQ)))

    def add(self, number: int) -> Evolved:
        """Add to the number of evolutions and return the counts."""
        self._session.remember(_TOTAL, str(self.read().total + number))
        return self.read()

    def consolidated(self, seq: int) -> None:
        """A consolidation has seen the collection up to this value of the change counter."""
        self._session.remember(_AT, str(self.read().total))
        self._session.remember(_SEQ, str(seq))


# What has been said to whoever uses a collection, and need not be said again.


class Remarks(Part):
    """Remarks on the collection as a whole: the last one made about each thing."""

    def last(self, about: str) -> str | None:
        """The last remark made; None when none was."""
        return self._session.remembered(f"said {about}")

    def make(self, about: str, remark: str) -> bool:
        """Keep a remark; False when it is the last one made already, by whatever process."""
        if self.last(about) == remark:
            return False
        self._session.remember(f"said {about}", remark)
        return True


# What one add, one chat turn and one `remember` cost in model calls: sums since the collection was begun.

#: What calls are made for: a note that is added, learning from a chat turn, a conversation that is remembered, and the
#: drafts of merged notes in one run of maintenance.
ADD, LEARNING, REMEMBER, MERGING = "add", "chat learning", "remember", "merging"
#: The answers of chats are counted where the turns are kept.
ANSWER = "chat answer"


@dataclass(frozen=True, slots=True)
class PurposeCost:
    """Calls and tokens that `times` pieces of work for one purpose took; `most_calls` is the most that one took."""

    purpose: str
    times: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    most_calls: int = 0


class Costs(Part):
    """The costs by purpose, in one transaction. Not versioned and not in the change counter: no note changes."""

    def add(self, purpose: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Count one piece of work."""
        held = asdict(self._of(purpose))
        for name, number in {"times": 1, "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}.items():
            held[name] += number
        held["most_calls"] = max(held["most_calls"], calls)
        self._session.remember(_key(purpose), json.dumps(held))

    def report(self) -> list[PurposeCost]:
        """Every purpose that anything was spent on."""
        sql = (
            "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM turns WHERE tokens_in > 0"
        )
        ((times, read, written),) = self._session.rows(sql)
        answers = PurposeCost(ANSWER, times, times, read, written, 1)
        found = [self._of(ADD), answers, self._of(LEARNING), self._of(REMEMBER), self._of(MERGING)]
        return [each for each in found if each.times]

    def _of(self, purpose: str) -> PurposeCost:
        value = self._session.remembered(_key(purpose))
        return PurposeCost(**json.loads(value)) if value else PurposeCost(purpose)


def _key(purpose: str) -> str:
    return f"cost {purpose}"


# What model calls cost, by day and model: kept with the collection, so that a budget holds over processes.

_ADD = (
    "INSERT INTO spending (day, model, calls, tokens_in, tokens_out)"
    " VALUES (:day, :model, :calls, :tokens_in, :tokens_out)"
    " ON CONFLICT (day, model) DO UPDATE SET calls = calls + :calls,"
    " tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out"
)


@dataclass(frozen=True, slots=True)
class DaySpent:
    """What one model cost on one day (``2026-03-01``, in the collection's time zone)."""

    day: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int


class Spending(Part):
    """The spending rows of one transaction. Not versioned and not in the change counter: no note changes."""

    def add(self, day: str, model: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Add to what a model cost on a day."""
        row = {"day": day, "model": model, "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}
        self._session.change(_ADD, **row)

    def of(self, day: str) -> int:
        """Tokens that all models together read and wrote on that day."""
        sql = "SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM spending WHERE day = :day"
        return int(self._session.value(sql, day=day))

    def report(self, days: int) -> list[DaySpent]:
        """The newest `days` days on which anything was spent, newest first, models by name."""
        sql = "SELECT day, model, calls, tokens_in, tokens_out FROM spending WHERE day IN"
        sql += " (SELECT DISTINCT day FROM spending ORDER BY day DESC LIMIT :days) ORDER BY day DESC, model"
        return [DaySpent(*row) for row in self._session.rows(sql, days=days)]


# Who holds a job: a name that says which process it is, so that the jobs of one that was killed are free at once.


class Owner:
    """Names for the work of one open collection: `name` begins each, `one_more` makes one for each piece of work.

    `used` tells whether there was any. They say which process it is: this one, or the one of that number.
    """

    def __init__(self, process: int | None = None) -> None:
        self.name = f"{socket.gethostname()}:{_process(process or os.getpid())}:{uuid.uuid4().hex[:8]}:"
        self.used = False
        self._numbers = itertools.count(1)

    def one_more(self) -> str:
        """A name no other piece of work has."""
        self.used = True
        return f"{self.name}{next(self._numbers)}"


def is_gone(owner: str) -> bool:
    """True when the owner is a process of this machine that runs no more; False when nobody can tell.

    A lease that is taken from a process which only cannot be seen (in another container of the same name) costs one
    analysis: what comes late is left out.
    """
    host, _, process = owner.rpartition(":")[0].rpartition(":")[0].rpartition(":")
    number, _, began = process.partition("+")
    if host != socket.gethostname() or not number.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it runs, as somebody else
        pass
    now = _began(int(number))
    return bool(began and now is not None and now != began)


def _process(number: int) -> str:
    """A process by its number and, since another may be given the same (a container's first is always 1), its start."""
    began = _began(number)
    return str(number) if began is None else f"{number}+{began}"


def _began(number: int) -> str | None:
    """When that process was started, in ticks since the machine was; "" once it has ended; None where nobody can tell.

    A process that was killed is still listed until its parent has heard of it.
    """
    try:
        # The name of the program comes before these, in brackets, and may itself hold spaces and brackets.
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in ("Z", "X") else fields[19]

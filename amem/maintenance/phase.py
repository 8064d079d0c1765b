"""The phases of a maintenance run: what each is given, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from amem.errors import Cancelled
from amem.note import MemoryNote, Plain, Status
from amem.storage.rows import time_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.storage.jobs import Run
    from amem.storage.store import Session


# What a maintenance did, in numbers and note by note.


@dataclass(frozen=True, slots=True)
class MaintenanceReport(Plain):
    """What one run did; in a dry run, what it would do.

    `operation` is what `undo` takes back, None when nothing changed; `duration` is in seconds and that of this
    process alone; `resumed` tells that an earlier process had begun the run: its part is in the numbers, not in the
    `reasons`. `problems` holds a line for each phase that failed; what it should have looked at is looked at again
    the next time.
    """

    cycle: str
    dry_run: bool = False
    promoted: int = 0
    demoted: int = 0
    faded: int = 0
    conflicts_found: int = 0
    conflicts_resolved: int = 0
    consolidated: int = 0
    merges_proposed: int = 0
    topics_updated: int = 0
    compressed: int = 0
    reembedded: int = 0
    reweighted: int = 0
    duration: float = 0.0
    operation: int | None = None
    resumed: bool = False
    reasons: tuple[Reason, ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Mapping[str, int], **rest: Any) -> MaintenanceReport:
        """A report from counts by name, which must be those above."""
        values: dict[str, Any] = {**counts, **rest}
        return cls(**values)

    def counts(self) -> Iterator[tuple[str, int]]:
        """What was done, by name, where it was done at all."""
        return ((name, getattr(self, name)) for name in COUNTS if getattr(self, name))

    def line(self) -> str:
        """All of it in a few words, with how to take it back; empty when nothing changed."""
        if self.operation is None:
            return ""
        done = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in self.counts())
        return f"maintenance: {done or 'done'}: amem undo {self.operation}"


#: The names of what is counted.
COUNTS: Sequence[str] = tuple(
    each.name for each in fields(MaintenanceReport) if each.type == "int" and each.name != "operation"
)


# What a phase of maintenance is handed: which notes to look at, an operation to write under, a place for progress.
#
# The notes that changed are settled when the run begins, so that what one phase writes is no news to the next. A run
# has *seen* the collection up to a value of the change counter, which its own writes carry along for as long as
# nobody else writes; from there its successor goes on. So a quiet collection is seen once, and what somebody else
# wrote in the middle is never taken for our own.

#: How long a run may go without writing before somebody else may take it over: a few slow model calls.
LEASE_SECONDS = 600.0
#: Who the log says it was.
ACTOR = "amem"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something happened to a note: `what` is promoted, demoted, faded, superseded, merged, topic, …"""

    id: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """What a phase did (or, in a dry run, would do): `counts` by name, as in `MaintenanceReport`."""

    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of the cycle, by its name.

    It works in short transactions, a page of notes each, looks at ``run.cancelled`` between them (and then just
    returns what it has done), and writes nothing in a dry run.
    """

    name: str
    run: Callable[[PhaseRun], PhaseReport]


@dataclass(frozen=True, slots=True)
class PhaseRun:
    """One run of the cycle, as one phase of it sees it.

    `since` is the change counter up to which its predecessors had seen the collection.
    `progress` is what this phase last passed to `mark`, in an earlier process that was killed or called off.
    """

    cycle: str
    since: int
    dry_run: bool
    cancelled: threading.Event
    keys: Sequence[int] = ()
    phase: str = ""
    progress: Mapping[str, Any] = field(default_factory=dict)
    run: int | None = None
    owner: str = ""
    listener: Callable[[str, int, int], None] | None = None

    def changed(self, session: Session) -> list[int]:
        """Keys of the active notes that changed since the last run, ascending, but for those up to ``done``.

        ``done`` is the highest key that this phase is through with, as it passed it to `mark`.
        """
        after = int(self.progress.get("done", 0))
        wanted = [key for key in self.keys if key > after]
        states = session.notes.columns(wanted, ("status",)) if wanted else {}
        return [key for key in wanted if states.get(key) == (Status.ACTIVE,)]

    def begin(self, session: Session, action: str, cause: str) -> int:
        """An operation for what follows in this transaction, below the run's own, which the first one brings about.

        Raises Cancelled when another process has taken the run over.
        """
        run = self._held(session)
        seq = session.seq
        if run.progress["seen"] == seq - 1:  # nobody else has written since we last did
            session.runs.record(run.id, self.phase, {**run.progress, "seen": seq})
        root = run.operation
        if root is None:
            root = session.begin("maintain", ACTOR, self.cycle)
            session.runs.hang_on(run.id, root)
        return session.begin(action, ACTOR, cause, parent=root)

    def mark(self, session: Session, done: Mapping[str, Any]) -> None:
        """Keep how far this phase came, in the transaction of the work itself; never the words of a note.

        ``counts`` in it (of this process's part alone) are part of the report when another process goes on.
        """
        run = self._held(session)
        counts = total(self.progress.get("counts", {}), done.get("counts", {}))
        phases = {**run.progress["phases"], self.phase: {**done, "counts": counts}}
        session.runs.record(run.id, self.phase, {**run.progress, "phases": phases})

    def finish(self, session: Session, counts: Mapping[str, int]) -> None:
        """This phase has nothing left to do; the cycle says so for it."""
        self.mark(session, {"finished": True, "counts": counts, "at": time_text(session.now)})

    def keep(self, session: Session) -> None:
        """Say that this phase is still at work, where it writes nothing of its own for long. Raises Cancelled."""
        self._held(session)

    def tell(self, done: int, of: int) -> None:
        """Let whoever waits know how far this phase is."""
        if self.listener is not None:
            self.listener(self.phase, done, of)

    def taken_back(self, session: Session, action: str, keys: Sequence[int]) -> set[int]:
        """Those of the notes to which maintenance did this once and somebody undid it: leave them alone."""
        return session.operations.taken_back(action, ACTOR, keys)

    def _held(self, session: Session) -> Run:
        if self.run is None or self.dry_run:
            raise AssertionError("a dry run writes nothing")
        if not session.runs.keep(self.run, self.owner, seconds=LEASE_SECONDS):
            raise Cancelled("another process goes on with this maintenance", hint="amem health shows which")
        return session.runs.get(self.run)


def unchanged(session: Session, notes: Iterable[MemoryNote]) -> bool:
    """Whether these notes are still as they were read."""
    read = {note.id: note.version for note in notes}
    held = session.notes.get_many(list(read), history=False, usage=False)
    return read == {id: note.version for id, note in held.items()}


def total(*counts: Mapping[str, int]) -> dict[str, int]:
    """Counts added up, name by name."""
    names: Iterable[str] = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}

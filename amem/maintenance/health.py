"""The health of a collection: whether its notes still say what is so, hang together, and are looked after.

`amem.maintenance.doctor` asks whether things work, and mends them; this asks how the notes are, and only reads.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from amem.maintenance.cycle import CYCLES
from amem.maintenance.due import due, upcoming
from amem.maintenance.report import COUNTS
from amem.maintenance.shift import total
from amem.note import Status
from amem.storage import tables
from amem.storage.disagreements import leaning, open_disagreements
from amem.storage.rows import read_moment, read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from sqlalchemy import ColumnElement

    from amem.storage import Session
    from amem.storage.runs import Run

WEEKS = 8


@dataclass(frozen=True, slots=True)
class PhaseDone:
    """What one phase of a run did, and when it was through; `finished` is None while it is not, or where it failed."""

    name: str
    counts: Mapping[str, int]
    finished: datetime | None


@dataclass(frozen=True, slots=True)
class Maintained:
    """One run of maintenance; `counts` holds what was done at all, `finished` is None while it is not.

    `phases` are those it came to, in order, `problems` what kept some of them from their work; `undone` tells that all
    it did was taken back.
    """

    cycle: str
    began: datetime
    finished: datetime | None
    operation: int | None
    counts: Mapping[str, int]
    phase: str
    owner: str | None
    phases: tuple[PhaseDone, ...] = ()
    problems: tuple[str, ...] = ()
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Health:
    """How a collection is. Notes are counted that are not deleted; `layers` and `kinds` count the active ones.

    `stale` are active notes that lean on something no longer so, `stale_share` is their share of the active ones;
    `orphans` are active notes without a link either way; `conflicts` pairs of active notes in conflict that nobody has
    decided on; `lost_successors` notes superseded by one that was deleted; `unembedded` notes that only their words
    find, and `index` says whether the vectors fit the present model; `language` says so where the model cannot read
    most notes, and is empty otherwise. `growth` counts the notes that arrived in each of the last eight weeks, oldest
    first. `bytes` is None in memory. `last` is the last finished run, `open` one that is not; `due` the cycle that is
    due now, `next` when each will be.
    """

    notes: int
    statuses: Mapping[str, int]
    layers: Mapping[str, int]
    kinds: Mapping[str, int]
    stale: int
    stale_share: float
    orphans: int
    dangling_links: int
    conflicts: int
    lost_successors: int
    pending: int
    degraded: int
    reviews: int
    unembedded: int
    index: str
    language: str
    bytes: int | None
    growth: tuple[int, ...]
    last: Maintained | None
    open: Maintained | None
    due: str | None
    next: Mapping[str, datetime]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data; times are ISO 8601 in UTC."""
        return asdict(self, dict_factory=lambda pairs: {name: _ready(value) for name, value in pairs}) | {
            "next": {cycle: time_text(at) for cycle, at in self.next.items()}
        }


def look(session: Session, zone: tzinfo, *, index: str, language: str, bytes: int | None) -> Health:
    """Look at a collection; `index`, `language` and `bytes` are what whoever opened it knows of it."""
    statuses, layers, kinds = _census(session)
    active = statuses.get(Status.ACTIVE, 0)
    stale = len({flag.note for flag in leaning(session)})
    waiting = Counter(state for _, state in session.notes.unfinished())
    last, running = session.runs.last(CYCLES), session.runs.open()
    return Health(
        notes=sum(statuses.values()),
        statuses=statuses,
        layers=layers,
        kinds=kinds,
        stale=stale,
        stale_share=stale / active if active else 0.0,
        orphans=_orphans(session),
        dangling_links=session.links.dangling(),
        conflicts=len(open_disagreements(session)),
        lost_successors=_lost_successors(session),
        pending=waiting["pending"],
        degraded=waiting["degraded"],
        reviews=len(session.reviews.open()),
        unembedded=len(session.vectors.missing()),
        index=index,
        language=language,
        bytes=bytes,
        growth=_growth(session),
        last=None if last is None else _maintained(session, last),
        open=None if running is None else _maintained(session, running),
        due=due(session, zone),
        next=upcoming(session, zone),
    )


def _census(session: Session) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Notes by status, and active ones by layer and by kind, most first."""
    notes = tables.notes
    columns = (notes.c.status, notes.c.layer, notes.c.kind)
    statement = select(*columns, func.count()).where(notes.c.status != str(Status.DELETED)).group_by(*columns)
    statuses: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for status, layer, kind, number in session.connection.execute(statement):
        statuses[status] += number
        if status == Status.ACTIVE:
            layers[layer] += number
            kinds[kind] += number
    return dict(statuses.most_common()), dict(layers.most_common()), dict(kinds.most_common())


def _orphans(session: Session) -> int:
    notes, links = tables.notes, tables.links
    linked = [select(1).where(end == notes.c.id).exists() for end in (links.c.source, links.c.target)]
    return _number(session, notes.c.status == str(Status.ACTIVE), ~linked[0], ~linked[1])


def _lost_successors(session: Session) -> int:
    notes, successor = tables.notes, tables.notes.alias()
    there = select(1).where(successor.c.id == notes.c.superseded_by, successor.c.status != str(Status.DELETED))
    named = (notes.c.status == str(Status.SUPERSEDED), notes.c.superseded_by.is_not(None))
    return _number(session, *named, ~there.exists())


def _number(session: Session, *conditions: ColumnElement[bool]) -> int:
    counted = select(func.count()).select_from(tables.notes).where(*conditions)
    return int(session.connection.execute(counted).scalar_one())


def _growth(session: Session) -> tuple[int, ...]:
    notes = tables.notes
    since = session.now - timedelta(weeks=WEEKS)
    # Counted by day in the database: what arrived may be most of a large collection.
    day = func.substr(notes.c.recorded_at, 1, 10)
    statement = (
        select(func.min(notes.c.recorded_at), func.count())
        .where(notes.c.status != str(Status.DELETED), notes.c.recorded_at > time_text(since))
        .group_by(day)
    )
    weeks = [0] * WEEKS
    for first, number in session.connection.execute(statement):
        ago = (session.now - read_moment(first)) // timedelta(weeks=1)
        weeks[-1 - min(max(ago, 0), WEEKS - 1)] += number
    return tuple(weeks)


def _maintained(session: Session, run: Run) -> Maintained:
    phases = run.progress["phases"]
    counted = total(*(phase.get("counts", {}) for phase in phases.values()))
    return Maintained(
        cycle=run.cycle,
        began=run.started_at,
        finished=run.finished_at,
        operation=run.operation,
        counts={name: counted[name] for name in COUNTS if counted.get(name)},
        phase=run.phase,
        owner=run.owner,
        phases=tuple(
            PhaseDone(name, {each: n for each, n in done.get("counts", {}).items() if n}, read_time(done.get("at")))
            for name, done in phases.items()
        ),
        problems=tuple(run.progress.get("problems", ())),
        undone=run.operation is not None and any(each.undone for each in session.operations.of([run.operation])),
    )


def _ready(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    return list(value) if isinstance(value, tuple) else value

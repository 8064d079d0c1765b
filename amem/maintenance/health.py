"""The health of a collection: counts, growth, the last run and the next, as values and as lines for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from typing import TYPE_CHECKING, Any

from amem.collection_folders import folder_size
from amem.errors import EmbedderMismatch
from amem.labels import counted
from amem.labels import size as file_size
from amem.maintenance.cycle import CYCLES, due, upcoming
from amem.maintenance.phase import COUNTS, total
from amem.note import Status
from amem.storage.rows import read_moment, read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.collection import Collection
    from amem.storage.jobs import Run
    from amem.storage.store import Session


# The health of a collection: whether its notes still say what is so, hang together, and are looked after.
#
# `amem.maintenance.doctor` asks whether things work, and mends them; this asks how the notes are, and only reads.

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


def look(collection: Collection, language: str) -> Health:
    """Look at a collection; `language` says what is wrong where the model cannot read the notes."""
    try:
        collection.vectorizer.check()
    except EmbedderMismatch as error:
        index = str(error)
    else:
        index = "in step"
    size = None if collection.folder is None else folder_size(collection.folder)
    with collection.store.read() as session:
        return _health(session, collection.zone, index, language, size)


def _health(session: Session, zone: tzinfo, index: str, language: str, bytes: int | None) -> Health:
    statuses, layers, kinds = _census(session)
    active = statuses.get(Status.ACTIVE, 0)
    stale = len({flag.note for flag in session.flags.leaning()})
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
        conflicts=len(session.flags.open_disagreements()),
        lost_successors=len(session.notes.behind_lost()),
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
    sql = "SELECT status, layer, kind, count(*) FROM notes WHERE status <> 'deleted' GROUP BY status, layer, kind"
    statuses: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for status, layer, kind, number in session.rows(sql):
        statuses[status] += number
        if status == Status.ACTIVE:
            layers[layer] += number
            kinds[kind] += number
    return dict(statuses.most_common()), dict(layers.most_common()), dict(kinds.most_common())


def _orphans(session: Session) -> int:
    linked = (
        "EXISTS (SELECT 1 FROM links WHERE source = notes.id) OR EXISTS (SELECT 1 FROM links WHERE target = notes.id)"
    )
    return int(session.value(f"SELECT count(*) FROM notes WHERE status = 'active' AND NOT ({linked})"))


def _growth(session: Session) -> tuple[int, ...]:
    since = session.now - timedelta(weeks=WEEKS)
    # Counted by day in the database: what arrived may be most of a large collection.
    sql = "SELECT min(recorded_at), count(*) FROM notes WHERE status <> 'deleted' AND recorded_at > :since"
    rows = session.rows(f"{sql} GROUP BY substr(recorded_at, 1, 10)", since=time_text(since))
    weeks = [0] * WEEKS
    for first, number in rows:
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


# How a collection's health and what maintenance did are said to people, whatever shows it: pure functions.

#: What the numbers of a report are called; ``{s}`` where there are several, the verbs by `_DONE` or `_PLANNED`.
_WORDS: Mapping[str, str] = {
    "promoted": "{moved} to long-term memory",
    "demoted": "{moved} back to short-term memory",
    "faded": "{faded} into the archive",
    "conflicts_found": "conflict{s} {be}found",
    "conflicts_resolved": "conflict{s} {be}settled",
    "consolidated": "{be}merged",
    "merges_proposed": "merge{s} {be}proposed{where}",
    "topics_updated": "topic page{s} {be}written",
    "compressed": "{be}summed up and archived",
    "reembedded": "{be}embedded anew",
    "reweighted": "link{s} {be}weighed anew",
}
_DONE = {"moved": "moved", "faded": "faded", "be": "", "where": " (amem review)"}
_PLANNED = {"moved": "would move", "faded": "would fade", "be": "would be ", "where": ""}
_BARS = "▁▂▃▄▅▆▇█"


class Mark(Enum):
    """Whether something is well, wants looking at, or is neither."""

    GOOD = "good"
    WATCH = "watch"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is about, what there is to say, and the command that does something about it, if one does."""

    about: str
    what: str
    mark: Mark = Mark.PLAIN
    command: str = ""


def amount(name: str, number: int, *, planned: bool = False) -> str:
    """A number of the report in words: ``1 topic page written``, `planned` ``1 topic page would be written``."""
    said = _WORDS[name].format(s="" if number == 1 else "s", **(_PLANNED if planned else _DONE))
    return f"{number:,} {said}"


def amounts(counts: Iterable[tuple[str, int]], *, planned: bool = False) -> str:
    """All that was done (or would be), or that nothing was."""
    return ", ".join(amount(name, number, planned=planned) for name, number in counts) or "nothing to do"


def health_lines(found: Health, when: Callable[[datetime], str]) -> Iterator[Line]:
    """How the notes are, line by line; `when` says a time."""
    yield Line("notes", f"{size(found)}; {_counts(found.statuses)}")
    yield Line("layers", _counts(found.layers))
    yield Line("kinds", _counts(found.kinds))
    yield Line("growth", f"{bars(found.growth)}  {found.growth[-1]:,} this week, {sum(found.growth):,} in eight")
    lean = "leans" if found.stale == 1 else "lean"
    leaning = f"{counted(found.stale, 'note')} ({found.stale_share:.1%}) {lean} on what is no longer so"
    yield _checked("stale", found.stale, leaning)
    yield _checked(
        "conflicts", found.conflicts, f"{counted(found.conflicts, 'pair')} of notes in doubt", "amem conflicts"
    )
    if found.lost_successors:
        lost = f"{counted(found.lost_successors, 'note')} superseded by one that was deleted"
        yield _checked("chains", found.lost_successors, lost)
    dangling = f"{counted(found.dangling_links, 'link')} to notes that are not there"
    yield _checked("dangling", found.dangling_links, dangling)
    orphans = found.orphans / max(1, found.statuses.get("active", 0))
    yield Line("orphans", f"{counted(found.orphans, 'note')} ({orphans:.0%}) without a link")
    waiting = [
        f"{number:,} {what}"
        for number, what in (
            (found.pending, "to be analysed"),
            (found.degraded, "whose analysis failed"),
            (found.reviews, "proposed changes to decide"),
        )
        if number
    ]
    yield _checked("waiting", len(waiting), ", ".join(waiting))
    behind = f"{counted(found.unembedded, 'note')} found by their words only" if found.unembedded else ""
    wrong = "" if found.index == "in step" else found.index
    if behind or wrong:
        yield Line("index", "; ".join(filter(None, (wrong, behind))), Mark.WATCH)
    else:
        yield Line("index", "in step", Mark.GOOD)
    if found.language:
        yield Line("language", found.language, Mark.WATCH)
    yield from _maintenance(found, when)


def size(found: Health) -> str:
    """``25 notes, 1.2 MB``."""
    return counted(found.notes, "note") + ("" if found.bytes is None else f", {file_size(found.bytes)}")


def bars(numbers: Sequence[int]) -> str:
    """Numbers as a line of bars, the largest one full height, and nothing as nothing."""
    most = max(numbers, default=0)
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if number else "·" for number in numbers)


def _maintenance(found: Health, when: Callable[[datetime], str]) -> Iterator[Line]:
    if found.open is not None:
        state = "runs" if found.open.owner else "was stopped, and goes on next time"
        yield Line("maintenance", f"{found.open.cycle}, begun {when(found.open.began)}, {state}")
    if found.last is None:
        yield Line("maintained", "never")
    else:
        undo = "" if found.last.operation is None or found.last.undone else f"amem undo {found.last.operation}"
        yield Line("maintained", last_run(found.last, when), command=undo)
    if found.due is not None:
        yield Line("due", f"{found.due} maintenance", Mark.WATCH, f"amem maintain --{found.due}")
    elif found.next:
        soonest = min(found.next, key=lambda cycle: found.next[cycle])
        yield Line("due", f"{soonest} from {when(found.next[soonest])}", Mark.GOOD)


def last_run(run: Maintained, when: Callable[[datetime], str]) -> str:
    """``2026-03-01 03:30, nightly: 3 merged``."""
    at = run.began if run.finished is None else run.finished
    return f"{when(at)}, {run.cycle}: {amounts(run.counts.items())}{' (undone)' if run.undone else ''}"


def _checked(about: str, number: int, what: str, command: str = "") -> Line:
    return Line(about, what, Mark.WATCH, command) if number else Line(about, "none", Mark.GOOD)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', '-')}" for name, number in numbers.items()) or "none"

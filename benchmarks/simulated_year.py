"""A year of use in a minute: do layers settle, does what is used stay, does small talk fade, is anything lost?

    python benchmarks/simulated_year.py [--notes 10000] [--every 1] [--seed 1]

Notes of all kinds arrive over the first nine months; some are recalled every day, some every week, some now and then,
most never; a few are pinned; each month somebody digs up a few that had faded. Each night (`--every` so many days) the
two phases of maintenance that time brings about run as they do in the program. Text is not embedded and no model is
asked: forgetting looks at neither. The clock is ours, the database is real.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from amem import Filter, Settings
from amem.language.predicates import load_predicates
from amem.maintenance.cycle import Cycle
from amem.maintenance.forgetting_phases import fade_phase, layer_phase
from amem.note import Kind, Layer, MemoryNote, Status
from amem.storage.store import Store
from amem.storage.undo import undo
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from amem.maintenance.phase import MaintenanceReport

DAYS, ARRIVING = 365, 270
#: Kinds with their share of the notes (in percent) and their usual importance.
KINDS = {
    Kind.CHITCHAT: (26, 0.15),
    Kind.EPISODE: (20, 0.5),
    Kind.FACT: (19, 0.55),
    Kind.PREFERENCE: (8, 0.6),
    Kind.DECISION: (7, 0.7),
    Kind.QUESTION: (6, 0.35),
    Kind.ERROR: (4, 0.5),
    Kind.CODE: (4, 0.5),
    Kind.CONSTRAINT: (3, 0.8),
    Kind.CONFIG: (2, 0.6),
    Kind.PROCEDURE: (1, 0.6),
}


@dataclass(frozen=True, slots=True)
class Habit:
    """Recalled every so many days (0: never), at most so many times, which is so of `share` percent of the notes."""

    every: int
    times: int
    share: float


HABITS = (
    Habit(1, DAYS, 0.5),  # a favourite of every day
    Habit(7, DAYS, 3.0),
    Habit(30, DAYS, 8.0),
    Habit(120, DAYS, 12.0),
    Habit(2, 10, 6.5),  # for three weeks, and never again
    Habit(0, 0, 70.0),
)
LASTING = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.CONSTRAINT, Kind.CONFIG, Kind.PROCEDURE})
WORDS = {"en": "Note {n}: what was said on day {day}.", "zh": "第 {n} 条：第 {day} 天说过的话。"}
MOST_FLIPS = 2


@dataclass(frozen=True, slots=True)
class Told:
    """One note with its fate: the day it arrives, and how it is recalled."""

    key: int
    note: MemoryNote
    day: int
    habit: Habit

    def used_on(self, day: int) -> bool:
        """Whether somebody wants it that day."""
        since, habit = day - self.day, self.habit
        return 0 < since <= habit.every * habit.times and since % habit.every == 0


@dataclass(slots=True)
class Month:
    """One line of the table; `night` is the longest maintenance, in seconds."""

    name: str
    short: int = 0
    long: int = 0
    archived: int = 0
    done: Counter[str] = field(default_factory=Counter)
    night: float = 0.0


@dataclass(slots=True)
class Year:
    """What came of it; `broken` holds a line for each promise that was not kept."""

    months: list[Month]
    most_flips: int
    flipping: int
    broken: list[str]


class Simulation:
    """A collection, and people who use it; in memory where `folder` is None."""

    def __init__(self, folder: Path | None, notes: int, *, every: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._clock = FrozenClock("2025-01-01T03:00", seed=str(seed))
        self._store = Store(folder, self._clock)
        self._settings = Settings()
        self._every = every
        self._notes = notes
        self._told: list[Told] = []
        self._dug_up: list[int] = []
        self._moved: dict[str, list[datetime]] = defaultdict(list)
        self._broken: list[str] = []
        owners = count()
        self._cycle = Cycle(
            self._store,
            lambda _: [
                layer_phase(self._store, self._settings),
                fade_phase(self._store, self._settings, load_predicates),
            ],
            lambda: f"year:{next(owners)}",
            lambda _: True,
        )

    def run(self) -> Year:
        """Live through it."""
        months: list[Month] = []
        for day in range(DAYS):
            name = f"{self._clock.now():%Y-%m}"
            if not months or months[-1].name != name:
                months.append(Month(name))
            self._arrive(day)
            self._use(day, months[-1])
            if day % self._every == 0:
                self._maintain(months[-1])
                self._look(months[-1])
            self._clock.advance(days=1)
        self._promises()
        flips = {id: _within_a_month(moments) for id, moments in self._moved.items()}
        most = max(flips.values(), default=0)
        if most > MOST_FLIPS:
            self._broken.append(f"a note changed layer {most} times within 30 days")
        self._store.close()
        return Year(months, most, sum(1 for each in flips.values() if each > 1), self._broken)

    def _arrive(self, day: int) -> None:
        """The notes of one day, as many of each kind and habit as there are on average."""
        due = self._notes * min(day + 1, ARRIVING) // ARRIVING
        with self._store.write() as session:
            operation = session.begin("add", "user")
            while len(self._told) < due:
                n = len(self._told)
                kind = self._random.choices(list(KINDS), [share for share, _ in KINDS.values()])[0]
                text = WORDS[self._random.choice(("en", "zh"))].format(n=n, day=day)
                importance = min(1.0, max(0.05, self._random.gauss(KINDS[kind][1], 0.1)))
                note = MemoryNote(
                    text,
                    id=self._clock.new_id(),
                    timestamp=f"{session.now:%Y%m%d%H%M}",
                    at=session.now,
                    kind=kind,
                    importance=importance,
                    pinned=self._random.random() < 0.01,
                )
                reliability = self._random.choice((0.9, 0.9, 0.8, 0.6))
                key = session.notes.insert(note, operation, reliability=reliability, text_hash=None)
                habit = self._random.choices(HABITS, [each.share for each in HABITS])[0]
                self._told.append(Told(key, note, day, habit))

    def _use(self, day: int, month: Month) -> None:
        """What is found today, and on the first two days of a month a few notes that had faded."""
        wanted = {each.key for each in self._told if each.used_on(day)}
        with self._store.write() as session:
            archived = session.notes.keys(Filter(statuses=(Status.ARCHIVED,)))
            if self._clock.now().day == 1:
                self._dug_up = self._random.sample(archived, min(5, len(archived)))
            explicit = self._dug_up if self._clock.now().day <= 2 else []
            session.usage.touch([*(wanted - set(archived)), *explicit])
            month.done["restored"] += len(archived) - session.notes.count(Filter(statuses=(Status.ARCHIVED,)))

    def _maintain(self, month: Month) -> None:
        began = time.perf_counter()
        report = self._maintenance()
        month.night = max(month.night, time.perf_counter() - began)
        self._broken += report.problems
        month.done.update({name: getattr(report, name) for name in ("promoted", "demoted", "faded")})
        for reason in report.reasons:
            if reason.what in ("promoted", "demoted"):
                self._moved[reason.id].append(self._clock.now())

    def _maintenance(self) -> MaintenanceReport:
        return self._cycle.run("nightly", dry_run=False, cancelled=threading.Event())

    def _look(self, month: Month) -> None:
        with self._store.read() as session:
            standings = session.usage.standings()
            month.long = int(standings.long_term.sum())
            month.short = len(standings) - month.long
            month.archived = session.notes.count(Filter(statuses=(Status.ARCHIVED,)))

    def _promises(self) -> None:
        """What must be true at the end."""
        with self._store.read() as session:
            stored = session.notes.bare([each.key for each in self._told])
            standings = session.usage.standings([each.key for each in self._told])
            idle = dict(zip(standings.keys.tolist(), standings.idle(session.now).tolist(), strict=True))
        self._expect("nothing is destroyed", [each for each in self._told if each.key not in stored])
        changed = [each for each in self._told if stored[each.key][0].content != each.note.content]
        self._expect("no text is changed", changed)
        away = {key for key, (note, _) in stored.items() if note.status is Status.ARCHIVED}
        self._expect("pinned notes stay", [each for each in self._told if each.note.pinned and each.key in away])
        self._expect(
            "what lasts stays", [each for each in self._told if each.note.kind in LASTING and each.key in away]
        )
        self._expect(
            "what is recalled stays", [each for each in self._told if idle[each.key] < 60 and each.key in away]
        )
        old = [each for each in self._told if each.note.kind is Kind.CHITCHAT and not each.note.pinned]
        left = [each for each in old if idle[each.key] > 60 + self._every and each.key not in away]
        self._expect("small talk that nobody recalls fades", [each for each in left if not each.habit.every])
        favourites = [each for each in self._told if each.habit.every == 1 and each.note.importance >= 0.4]
        short = [each for each in favourites if stored[each.key][0].layer is Layer.SHORT_TERM]
        self._expect("what matters and is recalled every day is in long-term memory", short)
        self._expect("undo restores every note", self._wrong_after_undo())

    def _wrong_after_undo(self) -> list[Told]:
        """Two months later, after a maintenance that is taken back: the notes that are not as they were."""
        keys = [each.key for each in self._told]
        with self._store.read() as session:
            before = session.notes.bare(keys)
        self._clock.advance(days=60)
        report = self._maintenance()
        assert report.operation is not None
        with self._store.write() as session:
            undo(session, "user", report.operation)
            after = session.notes.bare(keys)
        return [
            each
            for each in self._told
            if replace(after[each.key][0], version=0) != replace(before[each.key][0], version=0)
        ]

    def _expect(self, what: str, breaches: list[Told]) -> None:
        if breaches:
            self._broken.append(f"{what}: not so of {len(breaches)} notes, such as {breaches[0].note.content}")


def _within_a_month(moments: list[datetime]) -> int:
    """The most of these that lie within any 30 days."""
    month = timedelta(days=30)
    return max(sum(1 for each in moments if first <= each < first + month) for first in moments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1, help="days between two maintenances")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        year = Simulation(Path(folder), given.notes, every=given.every, seed=given.seed).run()
    print(
        f"{'':<10}{'short-term':>12}{'long-term':>11}{'archived':>10}{'promoted':>10}{'demoted':>9}{'faded':>7}", end=""
    )
    print(f"{'restored':>10}{'night, s':>10}")
    for month in year.months:
        done = month.done
        print(
            f"{month.name:<10}{month.short:>12,}{month.long:>11,}{month.archived:>10,}{done['promoted']:>10,}", end=""
        )
        print(f"{done['demoted']:>9,}{done['faded']:>7,}{done['restored']:>10,}{month.night:>10.2f}")
    print(f"layer changes of one note within 30 days: {year.most_flips} at most; {year.flipping} notes changed twice")
    print(f"{given.notes:,} notes, a year in {time.perf_counter() - began:.0f} s")
    for line in year.broken or ["every promise was kept"]:
        print(line)


if __name__ == "__main__":
    main()

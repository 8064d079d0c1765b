"""How long a maintenance takes at 10,000 notes: the first one, one with nothing changed, one after 100 changes.

    python benchmarks/maintenance.py [--notes 10000] [--embedder minilm|hash|table] [--keep FOLDER] [--json FILE]

Without a language model. The notes are invented as people write them (see `_invented.py`), a quarter of them Chinese,
and remembered as always: analysed by the rules, linked, weighed against each other. Embedded with the real MiniLM, or
with hashed words where only the rest is to be timed. Also timed: what time alone moves in two months, and the weekly
and the monthly pass then. With `--keep` the filled collection is made once in that folder, and copied from there;
`--embedder table` with a folder that `scale.py --home` filled measures 100,000 notes with made-up vectors.

Each run is given in seconds by the clock and in seconds of the processor, which other work on the machine leaves as
they are; of a run with nothing changed the slowest of five.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from _invented import PER_DAY, invented
from _scale_corpus import TableEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from _invented import Invented

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder

CHANGES = 100


class Clock:
    """The machine's clock, so many days on."""

    def __init__(self) -> None:
        from amem.clock import SystemClock

        self._clock, self.days = SystemClock(), 0

    def now(self) -> datetime:
        return self._clock.now() + timedelta(days=self.days)

    def new_id(self) -> str:
        return self._clock.new_id()


@dataclass(frozen=True, slots=True)
class Row:
    """One run: seconds by the clock and of the processor, in all and by phase, and what it did."""

    run: str
    seconds: float
    cpu: float
    phases: dict[str, float]
    did: dict[str, int]


def fill(folder: Path, notes: int, embedder: Embedder) -> None:
    """Remember so many notes in an empty folder."""
    with opened(folder, embedder, Clock()) as memory:
        written = islice(invented(notes, date.today() - timedelta(days=notes // PER_DAY + 1)), notes)
        memory.add_notes([_as_item(each) for each in written], progress=_told)


def opened(folder: Path, embedder: Embedder, clock: Clock) -> AgenticMemorySystem:
    """The collection in a folder."""
    from amem import AgenticMemorySystem, load_settings

    return AgenticMemorySystem(settings=load_settings(folder, llm_backend="offline"), embedder=embedder, clock=clock)


def change(memory: AgenticMemorySystem, fresh: Iterator[Invented]) -> None:
    """Half of the changes are new notes, half old ones that somebody writes a sentence to."""
    memory.add_notes([_as_item(each) for each in islice(fresh, CHANGES // 2)])
    for note in memory.list(limit=CHANGES // 2, offset=CHANGES * 3):
        more = " Asked again, and it is still so." if note.content.isascii() else "后来又确认了一次。"
        memory.update(note.id, content=note.content + more)


def measure(folder: Path, embedder: Embedder) -> list[Row]:
    """A row for each run on a filled collection."""
    rows, clock = [], Clock()
    embedder.embed(["loads the model"])
    fresh = invented(1, date.today())
    with opened(folder, embedder, clock) as memory:

        def run(what: str, cycle: str = "nightly", *, times: int = 1) -> None:
            rows.append(max((_timed(memory, what, cycle) for _ in range(times)), key=lambda row: row.cpu))
            print(rows[-1], file=sys.stderr, flush=True)

        run("first, every note is new")
        run("nothing changed (slowest of 5)", times=5)
        change(memory, fresh)
        run(f"after {CHANGES} changes")
        run("nothing changed again")
        clock.days = 60
        run("two months later", "weekly")
        run("the month's", "monthly")
        run("nothing changed again")
    return rows


def _timed(memory: AgenticMemorySystem, what: str, cycle: str) -> Row:
    began: dict[str, float] = {}

    def hear(phase: str, done: int, of: int) -> None:
        began.setdefault(phase, process_time())

    start, cpu = monotonic(), process_time()
    report = memory.maintain(cycle=cycle, progress=hear)
    seconds, end = monotonic() - start, process_time()
    ends = [*began.values(), end][1:]
    phases = {phase: round(until - since, 2) for (phase, since), until in zip(began.items(), ends, strict=True)}
    return Row(what, round(seconds, 2), round(end - cpu, 2), phases, dict(report.counts()))


def _as_item(note: Invented) -> dict[str, Any]:
    return {"content": note.text, "time": note.at}


def _told(done: int, of: int) -> None:
    if done % 1024 == 0:
        print(f"{done} of {of} notes", file=sys.stderr, flush=True)


def _collection(asked: argparse.Namespace, folder: Path, make: Callable[[Path], None]) -> Path:
    """A filled collection to be maintained, in a folder of its own."""
    if asked.keep is None:
        make(folder)
        return folder
    if not asked.keep.exists():
        make(asked.keep)
    return Path(shutil.copytree(asked.keep, folder, dirs_exist_ok=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--embedder", choices=("minilm", "hash", "table"), default="minilm")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()

    from amem.embedding import make_embedder
    from amem.settings import Settings
    from amem.testing import HashEmbedder

    makers: dict[str, Callable[[], Embedder]] = {
        "hash": lambda: HashEmbedder(384),
        "table": TableEmbedder,
        "minilm": lambda: make_embedder(Settings()),
    }
    embedder = makers[asked.embedder]()
    with tempfile.TemporaryDirectory() as folder:
        home = _collection(asked, Path(folder), lambda empty: fill(empty, asked.notes, embedder))
        rows = measure(home, embedder)
    load = os.getloadavg()[0]
    print(f"maintenance at {asked.notes:,} notes, {embedder.name}, no language model; load {load:.1f}\n")
    print("| run | seconds | of the processor | did |\n| --- | --- | --- | --- |")
    for row in rows:
        done = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in row.did.items())
        print(f"| {row.run} | {row.seconds:.2f} | {row.cpu:.2f} | {done} |")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()

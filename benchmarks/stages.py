"""What each stage of a collection's life costs the processor, in which room, with how many statements and rows.

    python benchmarks/stages.py [--sizes 1000,10000] [--words 12]

A stage is one thing that a caller does: open (with a first search), `add_note`, `add_notes`, import, `search`, `list`,
`maintain`. For each, the mean per note or call: milliseconds of processor, without what embedding takes; SQL
statements, begins and ends of transactions among them, many rows written by one `executemany` as one; rows that were
read; and the share of each room of amem, from samples of the main thread every millisecond. A room's share is of its
own code and of what that calls outside amem, such as SQLite. Later changes are held against this table. Sampling and a
machine under load add to the milliseconds, so compare those of one hour; counts change little from run to run (those of
`maintain` by some percent). The first size pays for what is imported late, most of it at open.

Notes are the invented sentences that the maintenance benchmark takes, `--words` or a few more in each; vectors come
from their words' hashes.
"""

from __future__ import annotations

import argparse
import json
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from _invented import invented

import amem
from amem import AgenticMemorySystem, NewNote, load_settings
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

STAGES = ("add_notes", "add_note", "import", "open", "search", "list", "maintain")
CALLS, WARM = 200, 20
_HOME = str(Path(amem.__file__).parent)


class Cost:
    """What was counted while a stage ran, over all its calls or notes."""

    def __init__(self) -> None:
        self.times = 0
        self.seconds = 0.0
        self.statements = self.rows = 0
        self.rooms: Counter[str] = Counter()

    def line(self, stage: str) -> str:
        """The stage's row of the table."""
        samples = sum(self.rooms.values()) or 1
        rooms = ", ".join(f"{room} {count / samples:.0%}" for room, count in self.rooms.most_common(6))
        counts = f"{self.statements / self.times:>12.1f}{self.rows / self.times:>9.1f}"
        return f"{stage:<12}{self.seconds / self.times * 1000:>9.2f}{counts}  {rooms}"


class Embedder(HashEmbedder):
    """Counts the processor seconds that embedding took, so that a stage is not charged for them."""

    taken = 0.0

    def embed(self, texts: Sequence[str]) -> Any:
        start = time.thread_time()
        try:
            return super().embed(texts)
        finally:
            self.taken += time.thread_time() - start


class Meter:
    """Counts statements and rows of connections opened while it is `installed`, and samples the main thread."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cost: Cost | None = None
        meter = self

        class Cursor(sqlite3.Cursor):
            def fetchall(self) -> list[Any]:
                rows = super().fetchall()
                meter.read(len(rows))
                return rows

            def fetchone(self) -> Any:
                row = super().fetchone()
                meter.read(row is not None)
                return row

            def __next__(self) -> Any:
                row = super().__next__()
                meter.read(1)
                return row

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                meter.ran()
                return self.cursor(Cursor).execute(sql, *values)

            def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
                meter.ran()
                return super().executemany(sql, rows)

        self._connection = Connection

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Count on every connection that is opened within the block."""
        connect, handler = sqlite3.connect, signal.signal(signal.SIGPROF, self._sample)
        try:
            with patch("sqlite3.connect", lambda *where, **how: connect(*where, factory=self._connection, **how)):
                yield
        finally:
            signal.signal(signal.SIGPROF, handler)

    @contextmanager
    def during(self, cost: Cost, times: int = 1) -> Iterator[None]:
        """Add what the block takes, which does its work so many `times`."""
        self._cost = cost
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        start, taken = time.process_time(), self._embedder.taken
        try:
            yield
        finally:
            cost.seconds += time.process_time() - start - (self._embedder.taken - taken)
            signal.setitimer(signal.ITIMER_PROF, 0)
            cost.times += times
            self._cost = None

    def ran(self) -> None:
        """Count a statement."""
        if self._cost is not None:
            self._cost.statements += 1

    def read(self, rows: int) -> None:
        """Count rows that were read."""
        if self._cost is not None:
            self._cost.rows += rows

    def _sample(self, _: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith(_HOME):
            frame = frame.f_back
        if self._cost is not None and frame is not None:
            place = Path(frame.f_code.co_filename).relative_to(_HOME)
            room = place.parts[0] if len(place.parts) > 1 else place.stem
            if room != "testing":
                self._cost.rooms[room] += 1


def notes(seed: int, count: int, words: int) -> list[NewNote]:
    """So many notes, each of as many invented sentences as make that many words, at the first one's time."""
    said = invented(seed, date(2023, 1, 1))
    found = []
    for first in said:
        text = first.text
        while len(text.split()) < words:
            text += f" {next(said).text}"
        found.append(NewNote(text, first.at))
        if len(found) == count:
            break
    return found


def measure(size: int, words: int, home: Path) -> dict[str, Cost]:
    """Every stage on a collection of so many notes."""
    embedder = Embedder()
    meter = Meter(embedder)
    with meter.installed():
        return _measure(meter, embedder, size, words, home)


def _measure(meter: Meter, embedder: Embedder, size: int, words: int, home: Path) -> dict[str, Cost]:
    found = {stage: Cost() for stage in STAGES}
    settings = load_settings(home, llm_backend="offline")
    items = notes(size, size + 2 * CALLS + WARM, words)
    stored, single, brought = items[:size], items[size : size + CALLS + WARM], items[size + CALLS + WARM :]
    memory = AgenticMemorySystem(settings=settings, embedder=embedder)
    with memory, meter.during(found["add_notes"], size):
        memory.add_notes(stored)
    with meter.during(found["open"]):
        memory = AgenticMemorySystem(settings=settings, embedder=embedder)
        memory.search("warm")
    with memory:
        for number, item in enumerate(single):
            with meter.during(found["add_note"] if number >= WARM else Cost()):
                memory.add_note(item.content, time=item.time)
        file = home / "brought.jsonl"
        file.write_text(
            "\n".join(json.dumps({"content": each.content, "timestamp": str(each.time)}) for each in brought)
        )
        with meter.during(found["import"], len(brought)):
            Importer(memory, cause="stages").run(read_path(file, settings))
        for number, item in enumerate(single):
            with meter.during(found["search"] if number >= WARM else Cost()):
                memory.search(item.content, 10, touch=False)
        for _ in range(WARM):
            with meter.during(found["list"]):
                memory.list()
        with meter.during(found["maintain"]):
            memory.maintain()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--words", type=int, default=12)
    given = parser.parse_args()
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="amem-bench-") as home:
            found = measure(size, given.words, Path(home))
        print(f"{size:,} notes\n{'':<12}{'ms':>9}{'statements':>12}{'rows':>9}  share of each room")
        print("\n".join(cost.line(stage) for stage, cost in found.items()), flush=True)


if __name__ == "__main__":
    main()

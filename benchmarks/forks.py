"""Copy, fork, diff and merge a large collection, with the time each takes: ``python benchmarks/forks.py [NOTES]``."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crowd import make_crowd

from amem import AgenticMemorySystem
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

#: So many notes each side adds and changes.
NEWS = 500


@contextmanager
def timed(what: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    print(f"{what:<34}{time.perf_counter() - begun:>8.2f} s", flush=True)


def main(notes: int) -> None:
    """Build the collection, then time each step."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with timed(f"build {notes:,} notes"):
            make_crowd(home, notes, dimension=384)
        name = next(each.parent.name for each in home.glob("*/amem.db"))
        with AgenticMemorySystem(directory=home, collection=name, embedder=HashEmbedder(384)) as memory:
            with timed("copy"):
                memory.copy("copied")
            with timed("fork"):
                fork = memory.fork("draft")
            with fork:
                known = [note.id for note in memory.list(limit=NEWS)]
                for number, id in enumerate(known):
                    fork.update(id, tags=[f"fork{number}"])
                    memory.update(id, context=f"context {number}")
                fork.add_notes([f"A new thought of the fork, number {number}" for number in range(NEWS)])
                with timed("diff"):
                    memory.diff(fork)
                with timed("merge, tried"):
                    memory.merge(fork, dry_run=True)
                with timed(f"merge of {NEWS} new, {NEWS} changed"):
                    report = memory.merge(fork)
                print(f"added {len(report.added)}, changed {len(report.changed)}, conflicts {len(report.conflicts)}")
                with timed("undo"):
                    memory.undo(report.operation)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)

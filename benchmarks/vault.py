"""How long a vault takes: notes exported, synced for the first time, synced again unchanged, and after some edits.

    python benchmarks/vault.py [--notes 10000]

Prints wall clock and processor seconds. Notes are added with words hashed to vectors, and neither analysed nor held
against each other, which is not what is measured; every tenth links to another.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem
from amem.analysis import Analysis
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = ("ledger", "harbour", "invoice", "kettle", "window", "bicycle", "orchard", "signal", "lantern", "meadow")


def text(number: int) -> str:
    """A note of three short paragraphs."""
    words = [_WORDS[(number * step) % len(_WORDS)] for step in (1, 5, 7, 11)]
    said = f"Note {number} on the {words[0]} and the {words[1]}"
    return f"{said}\n\nThe {words[2]} of {number} stands by the {words[3]}.\n\n- one\n- two\n- {number}"


def timed(what: str, act: Callable[[], object]) -> None:
    """Run and print a row of the table."""
    clock, processor = time.perf_counter(), time.process_time()
    act()
    print(f"| {what} | {time.perf_counter() - clock:.1f} | {time.process_time() - processor:.1f} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    count = parser.parse_args().notes
    analyst = ScriptedAnalyst(lambda draft: Analysis(tags=("bench",)))
    os.environ |= {"AMEM_NEIGHBOURS": "0", "AMEM_CONFLICT_NEIGHBOURS": "0"}
    with tempfile.TemporaryDirectory() as base:
        home, folder, exported = Path(base, "home"), Path(base, "vault"), Path(base, "exported")
        with AgenticMemorySystem(
            directory=home, embedder=HashEmbedder(), analyst=analyst, evo_threshold=10**9
        ) as memory:
            print(f"{count:,} notes\n\n| | seconds | processor |\n| --- | ---: | ---: |", flush=True)
            receipts = memory.add_notes([text(number) for number in range(count)])
            for one, other in zip(receipts[::10], receipts[5::10], strict=False):
                memory.link(one.id, other.id, "supports", "benchmark")
            timed("`amem export --markdown`", lambda: memory.vault(exported).export())
            timed("exported again", lambda: memory.vault(exported).export())
            timed("first `amem vault sync`", lambda: memory.vault(folder).sync())
            timed("synced again, nothing changed", lambda: memory.vault(folder).sync())
            time.sleep(2.1)  # what is younger than a tick of the clock is read again
            timed("synced again", lambda: memory.vault(folder).sync())
            for path in sorted(folder.glob("*.md"))[:100]:
                path.write_text(path.read_text().replace("- two", "- two and a half"))
            timed("100 files edited", lambda: memory.vault(folder).sync())
            timed("and synced again", lambda: memory.vault(folder).sync())


if __name__ == "__main__":
    main()

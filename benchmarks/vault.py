"""How long a vault takes: notes exported, synced for the first time, synced again unchanged, and after some edits.

    python benchmarks/vault.py [--notes 10000]
    python benchmarks/vault.py --files 1000

Prints wall clock and processor seconds. With `--files` a folder of so many Markdown files that amem did not write is
taken in with the real embedder and the rules, beside the embedder alone: every other file has front matter, every third
links to another. Of the first sync it says what adding the notes takes, and what is the vault's own. Else notes are
added with words hashed to vectors, and neither analysed nor held against each other, which is not what is measured;
every tenth links to another.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _invented import invented

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis
from amem.embedding import make_embedder
from amem.protocols import TokenEmbedder
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
    done = Timed(act)
    done()
    row(what, done.clock, done.processor)


def row(what: str, clock: float, processor: float) -> None:
    """Print a row of the table."""
    print(f"| {what} | {clock:.1f} | {processor:.1f} |", flush=True)


class Timed:
    """A callable with the seconds that its calls took."""

    def __init__(self, act: Callable[..., object]) -> None:
        self._act = act
        self.clock = self.processor = 0.0

    def __call__(self, *given: Any, **named: Any) -> Any:
        clock, processor = time.perf_counter(), time.process_time()
        try:
            return self._act(*given, **named)
        finally:
            self.clock += time.perf_counter() - clock
            self.processor += time.process_time() - processor


def brought(count: int) -> None:
    """A folder of other people's files, each a note as people write them, synced for the first time."""
    with tempfile.TemporaryDirectory() as base:
        settings = load_settings(Path(base, "home"), llm_backend="offline")
        embedder = make_embedder(settings)
        said = [f"# Note {at}\n\n{note.text}" for at, note in enumerate(islice(invented(3, date(2024, 1, 1)), count))]
        folder = Path(base, "files")
        folder.mkdir()
        for number, each in enumerate(said):
            front = f"---\ntags: [project, area-{number % 7}]\ncreated: 2024-03-0{1 + number % 9}\n---\n" * (number % 2)
            link = "" if number % 3 else f"\n\nSee [[{number * 7 % count}]]."
            (folder / f"{number}.md").write_text(f"{front}{each}{link}\n", encoding="utf-8")
        embed = embedder.embed_tokens if isinstance(embedder, TokenEmbedder) else embedder.embed
        embed(["warm"])
        with AgenticMemorySystem(settings=load_settings(Path(base, "warm"), llm_backend="offline")) as memory:
            memory.add_notes(said[:50])  # loads the rules and the dictionary of Chinese words
        print(f"{count:,} files\n\n| | seconds | processor |\n| --- | ---: | ---: |", flush=True)
        timed("embedder alone", lambda: [embed(said[at : at + 64]) for at in range(0, count, 64)])
        with AgenticMemorySystem(settings=settings, embedder=embedder) as memory:
            adding = Timed(memory.add_notes)
            memory.add_notes = adding  # type: ignore[method-assign]  # timed where the sync calls it
            whole = Timed(memory.vault(folder).sync)
            whole()
            for what, clock, processor in (
                ("first `amem vault sync`", whole.clock, whole.processor),
                ("of it adding the notes", adding.clock, adding.processor),
                ("of it the vault's own", whole.clock - adding.clock, whole.processor - adding.processor),
            ):
                row(what, clock, processor)
            timed("synced again, nothing changed", lambda: memory.vault(folder).sync())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--files", type=int)
    given = parser.parse_args()
    if given.files:
        brought(given.files)
        return
    count = given.notes
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

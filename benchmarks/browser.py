"""How quick the terminal browser is with 100,000 notes, beside its limits and a naive browser in the same run.

    python benchmarks/browser.py [--size 100000] [--json FILE]
    python benchmarks/browser.py --home DIR              # keep the collection there, or go on with it
    python benchmarks/browser.py --home DIR --profile    # where the time goes, instead of a table

The real app runs in a process of its own, in a terminal that takes keys and frames but has no screen: a time is that
from a key to the first frame, written out in full, that shows what the key brings about. Keys come as fast as a key
that is held down, letters as a quick typist types them. The notes are a crowd (``crowd.py``): English and
Chinese, vectors of 384 dimensions, no embedder loaded. The peer reads all notes at the start and holds them as rows of
Textual's own DataTable. On a busy machine look at the times of the processor.
Every figure comes from this machine, now.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from _browser_figures import DIMENSION, KEYS, WORDS, opened

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What each figure may be at 100,000 notes.
LIMITS: Mapping[str, float] = {
    "first paint of the list, ms": 1000,
    "arrow, held down: key to repaint, p95 ms": 50,
    "page down: key to repaint, p95 ms": 50,
    "first and last note: key to repaint, p95 ms": 50,
    "filter as one types: key to list repainted, p95 ms": 150,
    "RSS after all that, without embedder, MB": 400,
    "graph of 40 notes: read, laid out, drawn, p95 ms": 100,
}


def build(home: Path, size: int) -> None:
    """The collection, unless it is there already."""
    from crowd import make_crowd

    if not (home / "memories").exists():
        make_crowd(home, size, dimension=DIMENSION)


def in_a_process_of_its_own(part: str, home: Path, given: argparse.Namespace) -> dict[str, float]:
    """The figures of one part, so that nothing is warm but the disk."""
    command = [sys.executable, __file__, "--part", part, "--home", str(home), "--keys", str(given.keys)]
    command += ["--words", given.words]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def table(figures: Mapping[str, float], peer: Mapping[str, float]) -> str:
    """The figures beside their limits and those of the naive browser."""
    lines = [f"{'':<66}{'amem':>10}{'limit':>10}{'naive':>12}"]
    for name, value in figures.items():
        limit = f"{LIMITS[name]:,.0f}" if name in LIMITS else ""
        other = f"{peer[name]:,.1f}" if name in peer else ""
        over = "  over the limit" if value > LIMITS.get(name, float("inf")) else ""
        lines.append(f"{name:<66}{value:>10,.1f}{limit:>10}{other:>12}{over}")
    return "\n".join(lines)


def _part(given: argparse.Namespace) -> None:
    words = given.words.split(",")
    if given.part == "naive":
        from _browser_peers import naive

        print(json.dumps(naive(given.home, max(5, given.keys // 5), words[0])))
    elif given.part == "profile":
        profiler = cProfile.Profile()
        profiler.runcall(opened, given.home, given.keys, words)
        pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(40).sort_stats("cumulative").print_stats(
            60
        )
    else:
        print(json.dumps(opened(given.home, given.keys, words)))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--home", type=Path, help="build the collection here, or go on with it (default: nowhere)")
    parser.add_argument("--keys", type=int, default=KEYS, help=f"how often a key is pressed (default: {KEYS})")
    parser.add_argument("--words", default=",".join(WORDS), help=f"what is typed (default: {','.join(WORDS)})")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-peer", action="store_true", help="leave out the naive browser")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of a table")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        _part(given)
        return
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-bench-")))
        build(home, given.size)
        if given.profile:
            command = [sys.executable, __file__, "--part", "profile", "--home", str(home), "--keys", str(given.keys)]
            subprocess.run(command, check=True)
            return
        figures = in_a_process_of_its_own("amem", home, given)
        peer = {} if given.no_peer else in_a_process_of_its_own("naive", home, given)
    print(table(figures, peer))
    if given.json is not None:
        given.json.write_text(json.dumps({"size": given.size, "amem": figures, "naive": peer}, indent=2), "utf-8")


if __name__ == "__main__":
    main()

"""How fast one collection writes, searches and opens at 1k, 10k and 100k notes, beside naive peers in the same run.

    python benchmarks/scale.py [--sizes 1000,10000,100000] [--json FILE]
    python benchmarks/scale.py --sizes 100000 --home DIR --searches    # go on with what was built there: searches only
    python benchmarks/scale.py --sizes 100000 --home DIR --profile     # where the time of a search goes
    python benchmarks/scale.py --sizes 10000,100000 --home DIR --searches --grown-from 10000   # 100k out of the 10k

Without model and without embedding: vectors come from a table, the offline analyst reads the notes. The notes are
invented: 400 subjects with words of their own over a common vocabulary with natural (Zipf) frequencies, vectors
gathered around each subject as embeddings of text are. "Chats" are the same as turns of conversations, so that a turn's
neighbours count. The peers are what one would write without amem: rank-bm25 rebuilt after a change, and a Chroma
collection with default settings. Every figure comes from this machine, now.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _scale_corpus import Corpus, TableEmbedder
from _scale_growth import grow
from _scale_peers import naive_bm25, naive_chroma, p50, timed
from _scale_searches import REPEAT, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem import NewNote

KINDS = ("notes", "chats")
#: What of searching chats is told; the rest is as with notes.
_OF_CHATS = ("search", "explain", "exact", "product")


def measure(
    size: int, folder: Path, *, searches_only: bool, small: Path | None = None, repeat: int = REPEAT
) -> dict[str, Any]:
    """All figures at one size; with `small` the collections are grown from those there."""
    found: dict[str, Any] = {"notes": size}
    for kind in KINDS:
        if small is not None and not (folder / kind / "built").exists():
            grow(small / kind, folder / kind, size)
            (folder / kind / "built").touch()
        built = build(size, folder / kind, kind)
        found |= built if kind == "notes" and not searches_only else {}
        figures = json.loads(in_a_process_of_its_own(folder / kind, size, "--repeat", str(repeat)))
        if kind == "chats":
            figures = {f"chats: {name}": each for name, each in figures.items() if name.startswith(_OF_CHATS)}
        found |= figures
    if not searches_only:
        notes = [each.content for each in Corpus(size).notes(size)]
        found |= naive_bm25(notes, Corpus(size + 2))
        with tempfile.TemporaryDirectory(prefix="amem-bench-") as naive:
            found |= naive_chroma(notes, Corpus(size + 2), TableEmbedder(), Path(naive))
    return found


def build(size: int, folder: Path, kind: str) -> dict[str, Any]:
    """The collection, and what writing it cost; nothing where it has been built before."""
    from amem import AgenticMemorySystem

    if (folder / "built").exists():
        return {}
    corpus, embedder = Corpus(size), TableEmbedder()
    items: Sequence[NewNote] = corpus.turns(size) if kind == "chats" else corpus.notes(size)
    with AgenticMemorySystem(directory=folder, llm_backend="offline", embedder=embedder) as memory:
        start = time.perf_counter()
        memory.add_notes(items)
        bulk = (time.perf_counter() - start - embedder.seconds) / size * 1000
        fresh = iter([corpus.note() for _ in range(60)])
        memory.add(next(fresh))
        one = p50(timed(lambda: memory.add(next(fresh)), 50))
    (folder / "built").touch()
    return {"bulk add, ms a note": bulk, "add one, p50 ms": one}


def in_a_process_of_its_own(folder: Path, seed: int, *more: str) -> str:
    """What `opened` prints there, so that nothing is warm but the disk."""
    command = [sys.executable, __file__, "--open", str(folder), "--seed", str(seed), *more]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def table(columns: Sequence[dict[str, Any]]) -> str:
    """The figures as text, one column for each size."""
    lines = []
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = "".join(
            f"{column[name]:>12,.{0 if name == 'notes' else 2}f}" if name in column else f"{'':>12}"
            for column in columns
        )
        lines.append(f"{name:<74}{cells}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--home", type=Path, help="build the collections here, or go on with them (default: nowhere)")
    parser.add_argument("--searches", action="store_true", help="time searches only, without writing and peers")
    parser.add_argument("--grown-from", type=int, help="fill larger collections with copies of those of this size")
    parser.add_argument("--profile", action="store_true", help="where the time of a search goes, instead of a table")
    parser.add_argument(
        "--repeat", type=int, default=REPEAT, help="how many searches of each kind (default: %(default)s)"
    )
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.open is not None:
        found = opened(given.open, given.seed, profiled=given.profile, repeat=given.repeat)
        print(found if isinstance(found, str) else json.dumps(found))
        return
    columns = []
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-bench-")))
        for size in [int(each) for each in given.sizes.split(",")]:
            if given.profile:
                for kind in KINDS:
                    build(size, home / str(size) / kind, kind)
                    print(f"{size:,} {kind}\n{in_a_process_of_its_own(home / str(size) / kind, size, '--profile')}")
                continue
            small = home / str(given.grown_from) if given.grown_from and size > given.grown_from else None
            columns.append(
                measure(size, home / str(size), searches_only=given.searches, small=small, repeat=given.repeat)
            )
            print(f"{size:,} done", file=sys.stderr)
    if columns:
        print(table(columns))
    if given.json is not None:
        given.json.write_text(json.dumps(columns, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()

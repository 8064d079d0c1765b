"""How fast the dense leg answers: exact and on Chroma, against sorting everything with numpy in the same run.

    python benchmarks/dense.py [--sizes 1000 10000 100000] [--no-chroma]

Vectors of 384 numbers in clusters of twenty, as notes about the same things lie. All times are milliseconds, p50.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from amem.index import DenseLeg, VectorDelta
from amem.index.vector_rows import Described

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DIMENSION = 384


class Feed:
    """A store that hands out one matrix, and rows added to it later; ids are looked up in SQLite, as in amem."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors, self.upto = [vectors], 1
        self.ids = sqlite3.connect(":memory:", check_same_thread=False)
        self.ids.execute("CREATE TABLE notes (key INTEGER PRIMARY KEY, id TEXT UNIQUE)")
        self.ids.executemany(
            "INSERT INTO notes VALUES (?, ?)", ((key, _id(key)) for key in range(1, len(vectors) + 99))
        )

    def add(self, vector: NDArray[np.float32]) -> None:
        self.vectors.append(vector[None])
        self.upto += 1

    def counter(self) -> int:
        return self.upto

    def delta(self, after: int) -> VectorDelta:
        before = sum(len(part) for part in self.vectors[:after])
        vectors = np.concatenate([*self.vectors[after:], np.empty((0, DIMENSION), dtype=np.float32)])
        keys = np.arange(before + 1, before + 1 + len(vectors))
        return VectorDelta(self.upto, "benchmark", keys, np.zeros(len(keys), dtype=np.uint8), keys, vectors)

    def touched(self, after: int) -> tuple[int, NDArray[np.int64]]:
        return self.upto, self.delta(after).state_keys

    def described(self, keys: Sequence[int]) -> dict[int, Described]:
        lists = {"keywords": ["boats", "the river", "paint"], "tags": ["art", "sea"]}
        texts = {
            "kind": "fact",
            "status": "active",
            "context": "A note about boats",
            "time": "2026-01-01T00:00:00+00:00",
        }
        return {key: Described(_id(key), f"note {key} about boats on the river", lists | texts) for key in keys}

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        marks = ",".join("?" * len(ids))
        return dict(self.ids.execute(f"SELECT id, key FROM notes WHERE id IN ({marks})", list(ids)))


def _id(key: int) -> str:
    return f"{key:08x}-0000-4000-8000-000000000000"


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((5_000, DIMENSION), dtype=np.float32)
    noise = random.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors = centres[random.integers(max(1, min(5_000, count // 20)), size=count)] + 0.6 * noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def p50(call: Callable[[int], object], times: int) -> float:
    call(0)
    taken = []
    for turn in range(times):
        start = time.perf_counter()
        call(turn)
        taken.append(time.perf_counter() - start)
    return sorted(taken)[times // 2] * 1e3


def measure(count: int, *, chroma: bool) -> list[tuple[str, float]]:
    vectors, questions = clustered(count, 1), clustered(64, 2)
    feed, rows = Feed(vectors), []
    rng = np.random.default_rng(3)
    some = rng.choice(count, size=count // 2, replace=False) + 1
    with tempfile.TemporaryDirectory() as name:
        leg = DenseLeg(feed, folder=Path(name), base="exact")
        start = time.perf_counter()
        leg.refresh()
        rows.append(("first load, and cache written", (time.perf_counter() - start) * 1e3))
        leg.flush()
        leg.close()

        def cold(_: int) -> None:
            again = DenseLeg(feed, folder=Path(name), base="exact")
            again.search(questions[0], 10)
            again.close()

        rows.append(("open from the cache, to the first answer", p50(cold, 5)))
        rows.append(("numpy, argsort of all, k=80", p50(lambda at: np.argsort(-(vectors @ questions[at]))[:80], 15)))
        for k in (10, 80):
            rows.append((f"exact, k={k}", p50(lambda at, k=k: leg.search(questions[at], k), 40)))
        rows.append(
            ("exact, k=80, among half of the notes", p50(lambda at: leg.search(questions[at], 80, allowed=some), 15))
        )
        rows.append(("search_many, 64 questions, k=10, each", p50(lambda _: leg.search_many(questions, 10), 5) / 64))

        def add(at: int) -> None:
            feed.add(questions[at])
            leg.refresh()

        rows.append(("refresh after one new note", p50(add, 40)))
        rows.append(("refresh when nothing changed", p50(lambda _: leg.refresh(), 40)))
        if chroma:
            rows += on_chroma(feed, Path(name), questions)
    return rows


def on_chroma(feed: Feed, folder: Path, questions: NDArray[np.float32]) -> list[tuple[str, float]]:
    leg, exact = DenseLeg(feed, folder=folder, base="chroma"), DenseLeg(feed, folder=None)
    start = time.perf_counter()
    if not leg.wait_for_chroma(3_600):
        raise SystemExit(leg.status()["chroma"])
    rows = [("Chroma built (s)", time.perf_counter() - start)]
    for k in (10, 80):
        rows.append((f"Chroma, k={k}", p50(lambda at, k=k: leg.search(questions[at], k), 40)))
        both = [(set(leg.search(q, k)[0].tolist()), set(exact.search(q, k)[0].tolist())) for q in questions]
        rows.append(
            (f"Chroma, k={k}, recall (%)", 100 * sum(len(a & b) for a, b in both) / sum(len(b) for _, b in both))
        )
    leg.close()
    leg = DenseLeg(feed, folder=folder, base="chroma")
    start = time.perf_counter()
    leg.wait_for_chroma(3_600)
    rows.append(("Chroma opened again, in the background (s)", time.perf_counter() - start))
    leg.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--no-chroma", action="store_true")
    arguments = parser.parse_args()
    columns = [measure(size, chroma=not arguments.no_chroma) for size in arguments.sizes]
    table = Table("ms, p50", *(f"{size:,}" for size in arguments.sizes))
    for at, (name, _) in enumerate(columns[0]):
        table.add_row(name, *(f"{column[at][1]:.2f}" for column in columns))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

"""A million vectors: amem's dense leg beside plain Chroma, usearch, sqlite-vec, faiss and numpy, on the same vectors.

    pip install usearch sqlite-vec faiss-cpu
    python benchmarks/million.py [--size 1000000] [--of amem numpy faiss ...] [--keep DIR]

384 numbers each, in 5,000 clusters, as notes about the same things lie. Each contender builds its files in a process of
its own and is opened in another, which says how much memory that takes. Times are of the processor (a busy machine
changes them less), the recall is of the true ten nearest; a contender that is not installed says so and is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

DIMENSION, CLUSTERS, K = 384, 5_000, 10
QUESTIONS, ADDED = 60, 20
_CHUNK = 50_000


class Contender(Protocol):
    """What is measured; `folder` is its own."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        """Take in all vectors, numbered from 1, and write the files."""
        ...

    def open(self, folder: Path, vectors: Matrix) -> None:
        """Open the files. Only what has none of its own may read the vectors."""
        ...

    def search(self, question: Matrix) -> list[int]:
        """The numbers of the ten nearest."""
        ...

    def add(self, number: int, vector: Matrix) -> None:
        """Take in one more, so that the next search finds it."""
        ...


class Numpy:
    """All cosines in float32, from the file of vectors."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        np.save(folder / "vectors.npy", vectors)

    def open(self, folder: Path, vectors: Matrix) -> None:
        self._rows = np.load(folder / "vectors.npy")
        self._added: list[Matrix] = []

    def search(self, question: Matrix) -> list[int]:
        scores = np.einsum("ij,j->i", self._rows, question)
        best = np.argpartition(-scores, K)[:K]
        return [int(row) + 1 for row in best[np.argsort(-scores[best])]]

    def add(self, number: int, vector: Matrix) -> None:
        self._added.append(vector)


class Amem:
    """amem's dense leg as it opens by itself, without Chroma."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        leg = self._leg(folder, vectors)
        leg.refresh()
        leg.close()

    def open(self, folder: Path, vectors: Matrix) -> None:
        self._opened = self._leg(folder, vectors)

    def search(self, question: Matrix) -> list[int]:
        return [int(key) for key in self._opened.search(question, K)[0]]

    def add(self, number: int, vector: Matrix) -> None:
        self._feed.add(vector)
        self._opened.refresh()

    def _leg(self, folder: Path, vectors: Matrix) -> Any:
        from dense import Feed

        from amem.index import DenseLeg

        self._feed = Feed(vectors)
        return DenseLeg(self._feed, folder=folder, base="exact")


class Chroma:
    """A persistent collection with its defaults, vectors alone."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        held = self._collection(folder)
        for start in range(0, len(vectors), 5_000):
            some = vectors[start : start + 5_000]
            held.add(ids=[str(start + at + 1) for at in range(len(some))], embeddings=np.asarray(some))

    def open(self, folder: Path, vectors: Matrix) -> None:
        self._held = self._collection(folder)

    def search(self, question: Matrix) -> list[int]:
        return [int(id) for id in self._held.query(query_embeddings=[question], n_results=K)["ids"][0]]

    def add(self, number: int, vector: Matrix) -> None:
        self._held.add(ids=[str(number)], embeddings=[vector])

    def _collection(self, folder: Path) -> Any:
        import chromadb

        client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
        return client.get_or_create_collection("plain", configuration={"hnsw": {"space": "cosine"}})


class Usearch:
    """A graph (HNSW) over vectors in bytes."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        index = self._index()
        for start in range(0, len(vectors), _CHUNK):
            some = np.asarray(vectors[start : start + _CHUNK])
            index.add(np.arange(start + 1, start + 1 + len(some)), some)
        index.save(str(folder / "index.usearch"))

    def open(self, folder: Path, vectors: Matrix) -> None:
        self._held = self._index()
        self._held.load(str(folder / "index.usearch"))

    def search(self, question: Matrix) -> list[int]:
        return [int(key) for key in self._held.search(question, K).keys]

    def add(self, number: int, vector: Matrix) -> None:
        self._held.add(number, vector)

    def _index(self) -> Any:
        from usearch.index import Index

        return Index(ndim=DIMENSION, metric="cos", dtype="i8")


class SqliteVec:
    """A virtual table of SQLite that compares all."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        held = self._connect(folder)
        held.execute(f"CREATE VIRTUAL TABLE notes USING vec0(vector float[{DIMENSION}] distance_metric=cosine)")
        for start in range(0, len(vectors), _CHUNK):
            some = vectors[start : start + _CHUNK]
            rows = ((start + at + 1, row.tobytes()) for at, row in enumerate(some))
            held.executemany("INSERT INTO notes (rowid, vector) VALUES (?, ?)", rows)
            held.commit()
        held.close()

    def open(self, folder: Path, vectors: Matrix) -> None:
        self._held = self._connect(folder)

    def search(self, question: Matrix) -> list[int]:
        sql = f"SELECT rowid FROM notes WHERE vector MATCH ? AND k = {K} ORDER BY distance"
        return [row[0] for row in self._held.execute(sql, (question.tobytes(),))]

    def add(self, number: int, vector: Matrix) -> None:
        self._held.execute("INSERT INTO notes (rowid, vector) VALUES (?, ?)", (number, vector.tobytes()))
        self._held.commit()

    def _connect(self, folder: Path) -> Any:
        import sqlite3

        import sqlite_vec

        held = sqlite3.connect(folder / "vectors.db")
        held.enable_load_extension(True)
        sqlite_vec.load(held)
        return held


class Faiss:
    """Cells (IVF) of float32; a search looks into 16 of them."""

    def build(self, folder: Path, vectors: Matrix) -> None:
        import faiss

        cells = max(64, int(4 * len(vectors) ** 0.5) // 4)
        index = faiss.index_factory(DIMENSION, f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
        index.train(np.asarray(vectors[: 40 * cells]))
        for start in range(0, len(vectors), _CHUNK):
            some = np.asarray(vectors[start : start + _CHUNK])
            index.add_with_ids(some, np.arange(start + 1, start + 1 + len(some)))
        faiss.write_index(index, str(folder / "index.faiss"))

    def open(self, folder: Path, vectors: Matrix) -> None:
        import faiss

        self._held = faiss.read_index(str(folder / "index.faiss"))
        self._held.nprobe = 16

    def search(self, question: Matrix) -> list[int]:
        return [int(key) for key in self._held.search(question[None], K)[1][0]]

    def add(self, number: int, vector: Matrix) -> None:
        self._held.add_with_ids(vector[None], np.array([number]))


CONTENDERS: dict[str, type[Contender]] = {
    "amem": Amem,
    "numpy": Numpy,
    "sqlite-vec": SqliteVec,
    "faiss": Faiss,
    "usearch": Usearch,
    "chroma": Chroma,
}


def clustered(count: int, seed: int) -> Iterator[Matrix]:
    """Vectors of length 1 around the same centres, a chunk at a time."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, DIMENSION), dtype=np.float32)
    for start in range(0, count, _CHUNK):
        some = min(_CHUNK, count - start)
        noise = random.standard_normal((some, DIMENSION), dtype=np.float32)
        vectors = centres[random.integers(CLUSTERS, size=some)] + 0.6 * noise
        yield vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def prepare(path: Path, count: int) -> None:
    """Write the vectors, the questions and each question's ten nearest."""
    vectors = np.lib.format.open_memmap(path / "all.npy", "w+", np.float32, (count, DIMENSION))
    questions = next(clustered(QUESTIONS, 2))
    scores = np.empty((QUESTIONS, count), dtype=np.float32)
    start = 0
    for some in clustered(count, 1):
        vectors[start : start + len(some)] = some
        scores[:, start : start + len(some)] = questions @ some.T
        start += len(some)
    vectors.flush()
    near = np.argsort(-scores, axis=1)[:, :K] + 1
    np.savez(path / "asked.npz", questions=questions, near=near)


def resident(kind: str) -> int:
    """Bytes of memory of this process: its own (RssAnon), or of files that it maps (RssFile)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{kind}:"))


def once(path: Path, name: str, step: str) -> None:
    """Build or ask in this process; prints what that took as JSON."""
    vectors, folder = np.load(path / "all.npy", mmap_mode="r"), path / name
    contender = CONTENDERS[name]()
    began, clock = time.process_time(), time.perf_counter()
    if step == "build":
        folder.mkdir()
        contender.build(folder, vectors)
        told: dict[str, float] = {
            "build, s": time.process_time() - began,
            "build, clock s": time.perf_counter() - clock,
        }
        told["disk, MB"] = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 1e6
        print(json.dumps(told))
        return
    asked = np.load(path / "asked.npz")
    questions, near = asked["questions"], asked["near"]
    before = {kind: resident(kind) for kind in ("RssAnon", "RssFile")}
    began = time.process_time()
    contender.open(folder, vectors)
    contender.search(questions[0])
    told = {"open to first answer, ms": (time.process_time() - began) * 1000}
    found, taken = [], []
    for question in questions:
        began = time.process_time()
        found.append(contender.search(question))
        taken.append(time.process_time() - began)
    told["search, p50 ms"] = float(np.median(taken)) * 1000
    told["recall of ten"] = sum(len({*a} & {*b.tolist()}) for a, b in zip(found, near, strict=True)) / near.size
    told["memory, MB"], told["mapped files, MB"] = ((resident(kind) - held) / 1e6 for kind, held in before.items())
    taken = []
    for at, vector in enumerate(next(clustered(ADDED, 3))):
        began = time.process_time()
        contender.add(len(vectors) + 1 + at, vector)
        taken.append(time.process_time() - began)
    told["add one, p50 ms"] = float(np.median(taken)) * 1000
    print(json.dumps(told))


def main() -> None:
    """Measure each contender and print the table."""
    parser = argparse.ArgumentParser(description="A million vectors, by amem and by others.")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--of", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    parser.add_argument("--keep", type=Path, help="use and keep the vectors in this folder")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        once(options.keep, *options.once)
        return
    path = options.keep or Path(tempfile.mkdtemp())
    path.mkdir(exist_ok=True, parents=True)
    try:
        if not (path / "asked.npz").is_file():
            prepare(path, options.size)
        for name in options.of:
            measured: dict[str, float] = {}
            for step in ("build", "ask"):
                command = [sys.executable, __file__, "--keep", str(path), "--once", name, step]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{name}: {step} failed: {done.stderr.strip().splitlines()[-1]}")
                    break
                measured |= json.loads(done.stdout.splitlines()[-1])
            else:
                print(
                    f"{name} ({options.size:,})",
                    *(f"{what} {value:,.2f}" for what, value in measured.items()),
                    sep="; ",
                )
            sys.stdout.flush()
            shutil.rmtree(path / name, ignore_errors=True)
    finally:
        if options.keep is None:
            shutil.rmtree(path)


if __name__ == "__main__":
    main()

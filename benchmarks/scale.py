"""How fast one collection writes, searches and opens at 1k, 10k and 100k notes, beside naive peers in the same run.

    python benchmarks/scale.py [--sizes 1000,10000,100000] [--json FILE]

Without model and without embedding: vectors come from a table, the offline analyst reads the notes. The notes are
invented: 400 subjects with words of their own over a common vocabulary with natural (Zipf) frequencies, vectors
gathered around each subject as embeddings of text are. The peers are what one would write without amem: rank-bm25
rebuilt after a change, and a Chroma collection with default settings. Every figure comes from this machine, now.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DIMENSION, SUBJECTS, WORDS = 384, 400, 30
FIRST = ("Ana", "Bruno", "Carla", "Deniz", "Emre", "Femi", "Goran", "Hana", "Ines", "Jonas", "Kenji", "Lena")


class TableEmbedder:
    """Vectors gathered around the subject a text is about; takes microseconds, so that the rest is what is timed."""

    name = "benchmark-table"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._centres = np.random.default_rng(7).standard_normal((SUBJECTS, DIMENSION)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.stack([self._row(text) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _row(self, text: str) -> NDArray[np.float32]:
        subject = next((int(word[3:]) for word in text.split() if word.startswith("sub") and word[3:].isdigit()), 0)
        noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION).astype(np.float32)
        return self._centres[subject] + 0.7 * noise


class Corpus:
    """Invented notes and questions about them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._common = [_word(number) for number in range(20_000)]
        self._weights = [1 / (rank + 2) for rank in range(20_000)]

    def note(self) -> str:
        subject = self._random.randrange(SUBJECTS)
        own = [_word(100_000 + subject * 40 + self._random.randrange(40)) for _ in range(6)]
        rest = self._random.choices(self._common, self._weights, k=WORDS - 8)
        words = own + rest
        self._random.shuffle(words)
        return f"{self._random.choice(FIRST)} noted that sub{subject} {' '.join(words)}."

    def question(self) -> str:
        subject = self._random.randrange(SUBJECTS)
        own = [_word(100_000 + subject * 40 + self._random.randrange(40)) for _ in range(2)]
        common = self._random.choices(self._common, self._weights, k=4)
        return f"what did {self._random.choice(FIRST)} say about sub{subject} {' '.join(own + common)}?"


def _word(number: int) -> str:
    syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "za", "chi", "dra", "fel", "gor", "hun", "jas"]
    text = ""
    number += 256
    while number:
        text += syllables[number % 16]
        number //= 16
    return text


def timed(function: Callable[[], object], repeat: int) -> list[float]:
    """Milliseconds of each of `repeat` calls."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        found.append((time.perf_counter() - start) * 1000)
    return found


def p50(times: Sequence[float]) -> float:
    return statistics.median(times)


def p95(times: Sequence[float]) -> float:
    return sorted(times)[max(0, int(len(times) * 0.95) - 1)]


def measure(size: int, folder: Path) -> dict[str, Any]:
    """All figures at one size."""
    from amem import AgenticMemorySystem

    corpus = Corpus(size)
    notes = [corpus.note() for _ in range(size)]
    embedder = TableEmbedder()
    options: dict[str, Any] = {"directory": folder, "llm_backend": "offline", "embedder": embedder}
    found: dict[str, Any] = {"notes": size}

    start = time.perf_counter()
    with AgenticMemorySystem(**options) as memory:
        memory.add_notes(notes)
        whole = time.perf_counter() - start
        found["bulk add, ms a note"] = (whole - _embedding_seconds(embedder, notes)) / size * 1000
        fresh = iter([corpus.note() for _ in range(60)])
        memory.add(next(fresh))
        found["add one, p50 ms"] = p50(timed(lambda: memory.add(next(fresh)), 50))

    found |= json.loads(
        subprocess.run(
            [sys.executable, __file__, "--open", str(folder), "--seed", str(size)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    found |= naive_bm25(notes, corpus)
    found |= naive_chroma(notes, corpus, embedder, folder / "naive")
    return found


def _embedding_seconds(embedder: TableEmbedder, notes: Sequence[str]) -> float:
    """What the table of vectors itself costs, which is not amem's to answer for."""
    start = time.perf_counter()
    embedder.embed(notes[:1000])
    return (time.perf_counter() - start) * len(notes) / min(1000, len(notes))


def opened(folder: Path, seed: int) -> dict[str, Any]:
    """In a fresh process: time to the first answer, then searches and memory."""
    from amem import AgenticMemorySystem

    corpus = Corpus(seed + 1)
    embedder = TableEmbedder()
    start = time.perf_counter()
    with AgenticMemorySystem(directory=folder, llm_backend="offline", embedder=embedder) as memory:
        memory.search(corpus.question(), 10, touch=False)
        first = (time.perf_counter() - start) * 1000
        embedding = p50(timed(lambda: embedder.embed([corpus.question()]), 20))

        def ask(agentic: bool) -> list[float]:
            find = memory.search_agentic if agentic else memory.search
            return [each - embedding for each in timed(lambda: find(corpus.question(), 10, touch=False), 150)]

        plain, agentic = ask(False), ask(True)
        rss = peak_memory()
    return {
        "open to first answer, ms": first,
        "search k=10, p50 ms": p50(plain),
        "search k=10, p95 ms": p95(plain),
        "search with links, p50 ms": p50(agentic),
        "search with links, p95 ms": p95(agentic),
        "RSS, MB": rss,
    }


def peak_memory() -> float:
    """This process's own peak resident memory, MB; getrusage would count what the parent had when it forked."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024


def naive_bm25(notes: Sequence[str], corpus: Corpus) -> dict[str, Any]:
    """rank-bm25 over split words: what a change and a question cost."""
    from rank_bm25 import BM25Okapi

    split = [note.lower().split() for note in notes]
    build = timed(lambda: BM25Okapi(split), 1)[0]
    index = BM25Okapi(split)
    ask = timed(lambda: np.argsort(index.get_scores(corpus.question().lower().split()))[-10:], 10)
    return {"rank-bm25: add one (rebuild), ms": build, "rank-bm25: search, p50 ms": p50(ask)}


def naive_chroma(notes: Sequence[str], corpus: Corpus, embedder: TableEmbedder, folder: Path) -> dict[str, Any]:
    """A persistent Chroma collection with its defaults: what adding and asking cost."""
    import chromadb

    client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("naive", configuration={"hnsw": {"space": "cosine"}})
    start = time.perf_counter()
    for at in range(0, len(notes), 1000):
        some = list(notes[at : at + 1000])
        collection.add(
            ids=[str(at + each) for each in range(len(some))], documents=some, embeddings=embedder.embed(some)
        )
    bulk = (time.perf_counter() - start) / len(notes) * 1000
    number = iter(range(10**9, 10**9 + 100))

    def add() -> None:
        text = corpus.note()
        collection.add(ids=[str(next(number))], documents=[text], embeddings=embedder.embed([text]))

    one = p50(timed(add, 30))
    ask = timed(lambda: collection.query(query_embeddings=embedder.embed([corpus.question()]), n_results=10), 50)
    return {"Chroma: bulk add, ms a note": bulk, "Chroma: add one, p50 ms": one, "Chroma: search, p50 ms": p50(ask)}


def table(columns: Sequence[dict[str, Any]]) -> str:
    """The figures as text, one column for each size."""
    lines = []
    for name in columns[0]:
        cells = "".join(f"{column[name]:>12,.{0 if name == 'notes' else 2}f}" for column in columns)
        lines.append(f"{name:<36}{cells}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.open is not None:
        print(json.dumps(opened(given.open, given.seed)))
        return
    columns = []
    for size in [int(each) for each in given.sizes.split(",")]:
        folder = Path(tempfile.mkdtemp(prefix="amem-bench-"))
        try:
            columns.append(measure(size, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{size:,} done", file=sys.stderr)
    print(table(columns))
    if given.json is not None:
        given.json.write_text(json.dumps(columns, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()

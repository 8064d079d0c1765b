"""What one would write without amem: rank-bm25 rebuilt after a change, and Chroma with its defaults."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from _ranking_scores import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from _scale_corpus import Corpus, TableEmbedder


def timed(function: Callable[[], object], repeat: int) -> list[float]:
    """Milliseconds of each of `repeat` calls."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        found.append((time.perf_counter() - start) * 1000)
    return found


def p50(times: Sequence[float]) -> float:
    """The median."""
    return percentile(times, 0.5)


def naive_bm25(notes: Sequence[str], corpus: Corpus) -> dict[str, Any]:
    """rank-bm25 over split words: what a change and a question cost."""
    from rank_bm25 import BM25Okapi

    split = [note.lower().split() for note in notes]
    build = timed(lambda: BM25Okapi(split), 1)[0]
    index = BM25Okapi(split)
    ask = timed(lambda: np.argsort(index.get_scores(corpus.question().lower().split()))[-10:], 10)
    return {"rank-bm25: add one (rebuild), ms": build, "rank-bm25: search, p50 ms": p50(ask)}


def naive_chroma(notes: Sequence[str], corpus: Corpus, embedder: TableEmbedder, folder: Path) -> dict[str, Any]:
    """A persistent Chroma collection with its defaults: what adding and asking cost, the table of vectors included."""
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

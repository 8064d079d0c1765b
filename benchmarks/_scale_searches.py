"""What one question costs an open collection, in every way of asking, and where the time of it goes."""

from __future__ import annotations

import cProfile
import io
import pstats
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from _ranking_scores import percentile
from _scale_corpus import Corpus, TableEmbedder

from amem.query import Query
from amem.retrieval.ranking import LEGS
from amem.retrieval.words import LateLeg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from amem import AgenticMemorySystem

REPEAT, WARM, K = 150, 10, 10
#: As many as a leg finds.
CANDIDATES = 80


class Counting(sqlite3.Connection):
    """A connection that counts what all of them run."""

    statements = 0

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        Counting.statements += 1
        return super().execute(sql, *values)


class Searches:
    """Puts questions to one open collection; every figure is without what embedding the question takes."""

    def __init__(self, memory: AgenticMemorySystem, corpus: Corpus, embedder: TableEmbedder) -> None:
        self._memory = memory
        self._corpus = corpus
        self._embedder = embedder

    def plain(self, question: str) -> None:
        """The ten best notes."""
        self._memory.search(question, K, touch=False)

    def linked(self, question: str) -> None:
        """With what they are linked to."""
        self._memory.search_agentic(question, K, touch=False)

    def explained(self, question: str) -> None:
        """With links, and every hit's reasons read: in words for people, and as JSON."""
        for hit in self._memory.search_agentic(question, K, touch=False):
            hit.explanation.words()
            hit.to_dict()

    def explain(self, question: str) -> None:
        """Why one note is where it is."""
        self._memory.explain(question, self._some)

    def scanned(self, question: str) -> None:
        """The exact scan of all vectors that a search without an approximate index cannot do without."""
        self._memory.parts.dense.rows.search(self._embedder.embed([question])[0], CANDIDATES)

    def compared(self, question: str) -> None:
        """One product of all vectors as they are, in float32, and no best of them: what numpy takes at least."""
        np.einsum("ij,j->i", self._memory.parts.dense.rows.matrix, self._embedder.embed([question])[0])

    def all(self, repeat: int) -> dict[str, Any]:
        """p50 and p95 of each, ms, and how many statements."""
        self._some = self._memory.search(self._corpus.question(), 1, touch=False)[0].id
        asked: dict[str, tuple[Callable[[str], None], bool]] = {
            "search": (self.plain, False),
            "search with links": (self.linked, False),
            "search with links, reasons read": (self.explained, False),
            "search in a named month": (self.plain, True),
            "search with links, reasons read, named month": (self.explained, True),
            "explain one note": (self.explain, False),
            "exact scan": (self.scanned, False),
            "product in float32": (self.compared, False),
        }
        found: dict[str, Any] = {}
        for name, (ask, month) in asked.items():
            ran = Counting.statements
            times = self.times(ask, self._corpus.questions(repeat + WARM, month=month))[WARM:]
            found[f"{name}, statements"] = (Counting.statements - ran) / (repeat + WARM)
            clock, processor = [each[0] for each in times], [each[1] for each in times]
            found |= {f"{name}, p50 ms": percentile(clock, 0.5), f"{name}, p95 ms": percentile(clock, 0.95)}
            found |= {f"{name}, p50 ms of processor": percentile(processor, 0.5)}
        return found | self.late(repeat)

    def late(self, repeat: int) -> dict[str, Any]:
        """What late interaction costs: each question is asked with it and without, turn about which comes first."""
        rest = tuple(leg for leg in LEGS if leg != LateLeg.name)
        found: dict[tuple[str, ...], list[float]] = {LEGS: [], rest: []}
        for number, question in enumerate(self._corpus.questions(repeat + WARM)):
            for legs in (LEGS, rest) if number % 2 else (rest, LEGS):
                query = Query(question, K, legs=legs, touch=False)
                ((_, processor),) = self.times(lambda _, query=query: self._memory.ask(query), [question])
                found[legs].append(processor)
        with_it, without = (each[WARM:] for each in found.values())
        return {
            "search with late interaction, p50 ms of processor": percentile(with_it, 0.5),
            "search without late interaction, p50 ms of processor": percentile(without, 0.5),
            "search with late interaction, times without": percentile(with_it, 0.5) / percentile(without, 0.5),
        }

    def times(self, ask: Callable[[str], None], questions: Iterable[str]) -> list[tuple[float, float]]:
        """Milliseconds of each question, by the clock and of the processor, which a busy machine hardly changes."""
        found = []
        for question in questions:
            embedded = self._embedder.seconds, self._embedder.processor
            start = time.perf_counter(), time.process_time()
            ask(question)
            clock = time.perf_counter() - start[0] - (self._embedder.seconds - embedded[0])
            processor = time.process_time() - start[1] - (self._embedder.processor - embedded[1])
            found.append((clock * 1000, processor * 1000))
        return found

    def profile(self, lines: int = 30) -> str:
        """Where the time of searches with links goes, by functions' own time and with what they call."""
        questions = list(self._corpus.questions(REPEAT))
        self.times(self.explained, questions[:WARM])
        profiler = cProfile.Profile()
        profiler.enable()
        for question in questions:
            self.explained(question)
        profiler.disable()
        out = io.StringIO()
        stats = pstats.Stats(profiler, stream=out).strip_dirs()
        stats.sort_stats("tottime").print_stats(lines)
        stats.sort_stats("cumulative").print_stats(2 * lines)
        return out.getvalue()


def opened(folder: Path, seed: int, *, profiled: bool = False, repeat: int = REPEAT) -> dict[str, Any] | str:
    """In a fresh process: time to the first answer, then `repeat` searches of each kind; or a profile of them."""
    from amem import AgenticMemorySystem

    corpus = Corpus(seed + 1)
    embedder = TableEmbedder()
    start = time.perf_counter()
    connect = sqlite3.connect
    counting = patch("sqlite3.connect", lambda *where, **how: connect(*where, factory=Counting, **how))
    with counting, AgenticMemorySystem(directory=folder, llm_backend="offline", embedder=embedder) as memory:
        memory.search(corpus.question(), K, touch=False)
        first = (time.perf_counter() - start) * 1000
        searches = Searches(memory, corpus, embedder)
        if profiled:
            return searches.profile()
        return {"open to first answer, ms": first} | searches.all(repeat) | kept(folder) | {"RSS, MB": peak_memory()}


def kept(folder: Path) -> dict[str, Any]:
    """Bytes a note takes on the disk, and those of the vectors of its words."""
    (file,) = folder.glob("*/amem.db")
    with closing(sqlite3.connect(file)) as db:
        (notes,) = db.execute("SELECT count(*) FROM notes").fetchone()
        (words,) = db.execute("SELECT sum(length(packed)) FROM words").fetchone()
        (pages,), (size,) = db.execute("PRAGMA page_count").fetchone(), db.execute("PRAGMA page_size").fetchone()
    return {"database, bytes a note": pages * size / notes, "word vectors, bytes a note": (words or 0) / notes}


def peak_memory() -> float:
    """This process's own peak resident memory, MB; getrusage would count what the parent had when it forked."""
    from pathlib import Path

    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024

"""What of a note to embed: its content, A-Mem's content + context + keywords + tags, or both.

    python benchmarks/embedding_recipes.py [--locomo FILE --conversations ID,ID] [--tables]

One import for each collection, with links and analysis as they come; then every question is asked with the same fusion
over each kind of vector. With two vectors a note counts by the nearer one (max) or by their mean cosine. The questions
are those of ``tests/data/recall`` and ``tests/data/answers/development``, and of a LoCoMo file where one is given.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _kept_vectors import KeptVectors
from _locomo_collection import collection, tell
from _locomo_file import Question, read_conversations
from _question_sets import SETS
from _ranking_scores import difference, hit, reciprocal_rank
from _retrieval_configurations import DEFAULT, Configuration
from _retrieval_runs import ask_amem, turns_of
from _retrieval_table import Table, ahead
from _scores import SINGLE_HOP

from amem import AgenticMemorySystem, load_settings
from amem.collection import Vectorizer, embedded_text
from amem.embedding import make_embedder
from amem.note import Status
from amem.query import Filter
from amem.retrieval.recall import Recall
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from amem import Hit
    from amem.note import MemoryNote
    from amem.settings import Settings

    Vectors = NDArray[np.float32]

ANSWERS = Path(__file__).parents[1] / "tests" / "data" / "answers" / "development"
CONTENT = "content"
K = 20
#: As the dense leg does: what is usual stands in for the notes that a small collection has not got.
USUAL, UNSEEN = 0.1, 8


@dataclass(frozen=True, slots=True)
class Asked:
    """A collection with its questions; `made_from` says which evidence a hit counts as."""

    name: str
    memory: AgenticMemorySystem
    questions: Sequence[Question]
    made_from: Callable[[Hit], Collection[str]]


class Index:
    """The dense leg over several vectors a note, whose cosines `join` makes one."""

    def __init__(self, memory: AgenticMemorySystem, matrices: Sequence[dict[int, Vectors]], join: Any) -> None:
        self._leg, self._join = memory.parts.dense, join
        self.keys = np.array(sorted(matrices[0]), dtype=np.int64)
        self._matrices = [np.stack([matrix[key] for key in self.keys.tolist()]) for matrix in matrices]
        with memory.parts.store.read() as session:
            self._active = np.isin(self.keys, session.notes.keys(Filter(statuses=(Status.ACTIVE,))))

    def refresh(self, seen: int | None = None) -> None:
        self._leg.refresh(seen)

    def vectors(self, keys: NDArray[np.int64]) -> Vectors:
        return self._leg.vectors(keys)

    def search(self, vector: Vectors, k: int, *, allowed: NDArray[np.int64] | None = None) -> Any:
        scores = self._scores(vector)
        scores[~(self._active if allowed is None else np.isin(self.keys, allowed))] = -np.inf
        best = np.argsort(-scores, kind="stable")[:k]
        best = best[scores[best] > -np.inf]
        return self.keys[best], scores[best]

    def cosines(self, vector: Vectors, keys: NDArray[np.int64]) -> Vectors:
        of = dict(zip(self.keys.tolist(), self._scores(vector).tolist(), strict=True))
        return np.array([of.get(int(key), np.nan) for key in keys], dtype=np.float32)

    def typical(self, vector: Vectors) -> tuple[float, float]:
        scores = self._scores(vector)[self._active].astype(np.float64)
        count = len(scores) + UNSEEN
        mean = (scores.sum() + UNSEEN * USUAL) / count
        squares = np.square(scores - mean).sum() + UNSEEN * (USUAL**2 + (USUAL - mean) ** 2)
        return float(mean), float(np.sqrt(squares / count))

    def _scores(self, vector: Vectors) -> Vectors:
        joined: Vectors = self._join(np.stack([matrix @ vector for matrix in self._matrices]), axis=0)
        return joined.astype(np.float32)


def collections(given: argparse.Namespace, settings: Settings, vectors: KeptVectors) -> Iterator[Asked]:
    """Every collection, open; who takes one closes it."""
    for each in SETS:
        yield Asked(each.name, each.collection(settings, vectors), each.questions(), each.made_from)
    for folder in sorted(ANSWERS.iterdir()):
        yield notebook(folder, settings, vectors)
    if given.locomo is not None:
        for conversation in read_conversations(given.locomo):
            if given.conversations is None or conversation.id in given.conversations.split(","):
                questions = [question for question in conversation.questions if question.evidence]
                memory = collection(conversation, settings, vectors)
                yield Asked("LoCoMo", memory, questions, partial(turns_of, conversation=conversation))


def notebook(folder: Path, settings: Settings, vectors: KeptVectors) -> Asked:
    """One notebook of the answer sets, with the questions that its notes answer."""
    notes = [json.loads(line) for line in (folder / "notes.jsonl").read_text("utf-8").splitlines()]
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    memory = AgenticMemorySystem(
        settings=settings.replaced(timezone="UTC"),
        collection=folder.name,
        embedder=vectors,
        clock=FrozenClock(max(each["asked_at"] for each in asked), seed=folder.name),
        background=False,
    )
    said = [
        {"content": each["text"], "time": each["at"], "id": f"{folder.name}-{each['id']}"}
        | ({"speaker": each["speaker"]} if each["speaker"] else {})
        for each in notes
    ]
    memory.add_notes(said)
    questions = [
        Question(number, each["text"], SINGLE_HOP, "", "", tuple(f"{folder.name}-{id}" for id in each["answers"]))
        for number, each in enumerate(asked)
        if each["answers"]
    ]
    return Asked("answers", memory, questions, lambda hit: {hit.id})


def ranks_of(asked: Asked, vectors: KeptVectors) -> dict[str, list[tuple[float, float, float]]]:
    """Hit@1, Hit@5 and reciprocal rank of each question, by what is embedded."""
    memory = asked.memory
    with memory.parts.store.read() as session:
        keys = session.notes.keys_of(session.notes.ids())
    notes = [(keys[id], note) for id, note in memory.memories.items()]

    def embedded(recipe: Callable[[MemoryNote], str]) -> dict[int, Vectors]:
        rows = vectors.embed([recipe(note) for _, note in notes])
        return {key: row for (key, _), row in zip(notes, rows, strict=True)}

    content = embedded(lambda note: embedded_text(note, "content"))
    paper = embedded(lambda note: embedded_text(note, "paper"))
    ways: dict[str, tuple[Sequence[dict[int, Vectors]], Any]] = {
        CONTENT: ([content], np.max),
        "paper": ([paper], np.max),
        "both, max": ([content, paper], np.max),
        "both, mean": ([content, paper], np.mean),
    }
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, (matrices, join) in ways.items():
        index = Index(memory, matrices, join)
        kept = Vectorizer(memory.parts.store, vectors, memory.settings.embed_recipe)
        memory.parts.recall = Recall(replace(memory.parts.collection, dense=index, vectorizer=kept))
        query = Configuration(DEFAULT)
        outcomes = ask_amem(memory, asked.name, asked.questions, query, K, vectors, asked.made_from)
        found[name] = [(hit(each.places, 1), hit(each.places, 5), reciprocal_rank(each.places)) for each in outcomes]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="a LoCoMo conversation file with questions")
    parser.add_argument("--conversations", help="only these ids of it, with commas between")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    given = parser.parse_args()
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    with tempfile.TemporaryDirectory(prefix="amem-recipes-") as home:
        settings = load_settings(home, llm_backend="offline", dense_base="exact")
        vectors = KeptVectors(make_embedder(settings))
        for asked in collections(given, settings, vectors):
            with asked.memory:
                for name, outcomes in ranks_of(asked, vectors).items():
                    found.setdefault(asked.name, {}).setdefault(name, []).extend(outcomes)
            tell(f"{asked.name}: {len(asked.questions)} questions asked")
    head = [column for name in found for column in (f"{name} Hit@1", "Hit@5", "MRR")]
    table = Table(["", *head], markdown=given.tables)
    for way in found["zh"]:
        rows = [np.array(ways[way]) for ways in found.values()]
        table.add(way, *(f"{value:.3f}" for row in rows for value in row.mean(axis=0)))
    print(table.text())
    for name, ways in found.items():
        for way in list(ways)[1:]:
            ahead_by = difference([row[2] for row in ways[way]], [row[2] for row in ways[CONTENT]])
            print(f"{name} ({len(ways[way])} questions): MRR of {way} is ahead of content's by {ahead(ahead_by)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The weights of the search legs, learnt from labelled questions, with each collection left out in turn.

    python benchmarks/fusion_fit.py [LOCOMO_FILE] [--home DIR] [--tables]

Every question is asked once, and what each leg gave to each candidate is recorded; other weights then cost no search.
The questions are those of LOCOMO_FILE, each conversation in a collection of its own and all in one, the tuned halves
of ``tests/data/recall``, and the development half of ``tests/data/answers``. Two ways to learn: a search, one weight
after the other over `STEPS`, for the greatest Recall@10 plus MRR; and a pairwise logistic regression of answers
against what stands around them. Each is asked about collections that it has not seen, a conversation in both its forms,
beside the defaults of ``amem.settings`` and weights of 1. Each kind of question counts alike, however many there are.

What links and replies lift a note by is kept as a part of the best note's score: a good guess, not a search. The
defaults are in `amem.settings`; this script prints weights and changes nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _answer_sets import collections
from _kept_vectors import KeptVectors
from _locomo_collection import collection, opened, tell
from _locomo_file import read_conversations
from _question_sets import SETS
from _ranking_scores import SEED, difference, hit, recall, reciprocal_rank
from _retrieval_runs import turns_of
from _retrieval_table import Table, ahead, percent

from amem import load_settings
from amem.embedding import make_embedder
from amem.query import Query
from amem.retrieval.ranking import LEGS
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from amem import AgenticMemorySystem, Hit

    Floats = NDArray[np.float64]
    Weights = tuple[float, ...]

#: More than any question has candidates.
EVERY = 1000
#: What a weight may be, beside that of `dense`, which is 1: only their ratios order notes.
STEPS = (0.0, 0.1, 0.15, 0.25, 0.4, 0.65, 1.0, 1.3, 1.65, 2.2, 3.0, 4.5)
STARTS = 12
#: Candidates an answer is held against by the regression, and its ridge, ascents and step.
AROUND, RIDGE, ASCENTS, STEP = 30, 1e-3, 400, 2.0
DEFAULTS: Weights = tuple(Settings.model_fields[f"{leg}_weight"].default for leg in LEGS)
MEASURES = ("R@5", "R@10", "MRR")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One question as it was searched for. `shares`, shape (candidates, legs), times weights is a score, and `lifted`
    what is added to it, as a part of the best; best first. `wanted` are the rows of each piece of evidence.

    `every` says whether all of the evidence is wanted, or any piece answers. `left_out` names what is left out with it.
    """

    kind: str
    left_out: str
    every: bool
    shares: Floats
    lifted: Floats
    wanted: tuple[tuple[int, ...], ...]


def recorded(
    memory: AgenticMemorySystem, text: str, evidence: Sequence[str], made_from: Callable[[Hit], Collection[str]]
) -> tuple[Floats, Floats, tuple[tuple[int, ...], ...]]:
    """Shares, lifts and evidence of a question; `made_from` says which evidence a hit counts as."""
    hits = memory.ask(Query(text, EVERY, rerank=False, touch=False))
    shares = np.zeros((len(hits), len(LEGS)))
    for row, each in enumerate(hits):
        for leg in each.explanation.legs:
            if leg.leg in LEGS:
                at = LEGS.index(leg.leg)
                shares[row, at] = leg.share / DEFAULTS[at]
    own = shares @ np.array(DEFAULTS)
    lifted = np.maximum(0.0, np.array([each.score for each in hits]) - own) / max(own.max(initial=0.0), 1e-9)
    counts_as = [made_from(each) for each in hits]
    wanted = tuple(tuple(row for row, refs in enumerate(counts_as) if ref in refs) for ref in evidence)
    return shares, np.where(lifted > 1e-9, lifted, 0.0), wanted


def conversations(file: Path, settings: Settings, vectors: KeptVectors) -> Iterator[Recorded]:
    """The questions of a LoCoMo file that name evidence, each conversation by itself and all in one collection."""
    every = read_conversations(file)
    for kind, joint in (("LoCoMo, apart", False), ("LoCoMo, joint", True)):
        for each in every:
            collection(each, settings, vectors, joint=joint).close()
        vectors.save()
        for each in every:
            with opened(each, settings, vectors, joint=joint) as memory:
                for question in each.questions:
                    if question.evidence:
                        found = recorded(
                            memory, question.text, question.evidence, lambda hit, of=each: turns_of(hit, of)
                        )
                        yield Recorded(kind, each.id, True, *found)
            tell(f"{kind}: {each.id} asked")


def question_sets(settings: Settings, vectors: KeptVectors) -> Iterator[Recorded]:
    """The tuned halves of the question sets."""
    for each in SETS:
        each.collection(settings, vectors).close()
        with each.opened(settings, vectors) as memory:
            for question in each.questions("tuned"):
                yield Recorded(
                    "question sets",
                    each.name,
                    False,
                    *recorded(memory, question.text, question.evidence, each.made_from),
                )
        tell(f"question set {each.name} asked")


def notebooks(vectors: KeptVectors) -> Iterator[Recorded]:
    """The development questions about notebooks and few notes that have an answer."""
    for each in collections("development"):
        with each.opened(vectors) as memory:
            for asked in each.questions:
                if asked.answers:
                    found = recorded(memory, asked.text, asked.answers, lambda hit: {hit.id})
                    yield Recorded("notebooks", asked.collection, False, *found)
    tell("notebooks asked")


class Questions:
    """All that was recorded, scored under any weights."""

    def __init__(self, every: Sequence[Recorded]) -> None:
        self.every = every
        deepest = max(len(each.shares) for each in every)
        self._shares = np.zeros((len(every), deepest, len(LEGS)))
        self._lifted = np.zeros((len(every), deepest))
        self._none = np.ones((len(every), deepest), dtype=bool)
        for place, each in enumerate(every):
            self._shares[place, : len(each.shares)] = each.shares
            self._lifted[place, : len(each.lifted)] = each.lifted
            self._none[place, : len(each.shares)] = False
        asked = [(place, row) for place, each in enumerate(every) for rows in each.wanted for row in rows]
        self._asked = np.array(asked, dtype=np.int64).reshape(-1, 2)
        self._known: dict[Weights, Floats] = {}

    def measured(self, weights: Weights) -> Floats:
        """R@5, R@10 and the reciprocal rank of each question, shape (questions, 3)."""
        if weights not in self._known:
            self._known[weights] = self._measured(weights)
        return self._known[weights]

    def _measured(self, weights: Weights) -> Floats:
        own = self._shares @ np.array(weights)
        scores = np.round(own + self._lifted * own.max(axis=1, keepdims=True), 9)
        scores[self._none] = -1.0
        place, row = self._asked.T
        ours = scores[place, row][:, None]
        before = np.arange(scores.shape[1]) < row[:, None]
        ranks = iter((1 + ((scores[place] > ours) | ((scores[place] == ours) & before)).sum(axis=1)).tolist())
        found = []
        for each in self.every:
            places = [min((next(ranks) for _ in rows), default=None) for rows in each.wanted]
            counted = recall if each.every else hit
            found.append((counted(places, 5), counted(places, 10), reciprocal_rank(places)))
        return np.array(found)

    def pairs(self, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """How much more each leg says for an answer than for what else the best are, and what each pair counts for."""
        rows, counts = [], []
        for each, taken in zip(self.every, chosen.tolist(), strict=True):
            right = sorted({row for rows in each.wanted for row in rows})
            wrong = [row for row in range(min(AROUND, len(each.shares))) if row not in right]
            if taken and right and wrong:
                apart = each.shares[right][:, None, :] - each.shares[wrong][None, :, :]
                rows.append(apart.reshape(-1, len(LEGS)))
                counts.append(np.full(len(rows[-1]), 1 / len(rows[-1])))
        return np.concatenate(rows), np.concatenate(counts)


def balanced(questions: Questions, chosen: NDArray[np.bool_]) -> Floats:
    """What each question counts for, 0 where it is not `chosen`: every kind alike."""
    kinds = np.array([each.kind for each in questions.every])
    counts = np.zeros(len(kinds))
    for kind in dict.fromkeys(kinds.tolist()):
        some = chosen & (kinds == kind)
        counts[some] = 1 / max(some.sum(), 1)
    return counts / counts.sum()


def searched(questions: Questions, chosen: NDArray[np.bool_]) -> Weights:
    """The best end of `STARTS` searches, the first from 1 each, the others from anywhere.

    Each sets one weight after the other to the step with the greatest R@10 plus MRR, until none changes.
    """
    counts = balanced(questions, chosen)

    def worth(weights: Weights) -> float:
        return float(counts @ questions.measured(weights)[:, 1:].sum(axis=1))

    dice = np.random.default_rng(SEED)
    ends: list[Weights] = []
    for start in range(STARTS):
        anywhere = dice.choice(STEPS, len(LEGS) - 1).tolist()
        best: Weights = (1.0, *anywhere) if start else (1.0,) * len(LEGS)
        before = None
        while best != before:
            before = best
            for at in range(1, len(LEGS)):
                best = max([best, *((*best[:at], step, *best[at + 1 :]) for step in STEPS)], key=worth)
        ends.append(best)
    return max(ends, key=worth)


def regressed(questions: Questions, chosen: NDArray[np.bool_]) -> Weights:
    """Pairwise logistic regression with weights of 0 at least, by ascents along the gradient; `dense` made 1."""
    kinds = np.array([each.kind for each in questions.every])
    parts = [questions.pairs(chosen & (kinds == kind)) for kind in dict.fromkeys(kinds[chosen].tolist())]
    rows = np.concatenate([each for each, _ in parts])
    counts = np.concatenate([each / each.sum() / len(parts) for _, each in parts])
    weights = np.full(len(LEGS), 10.0)
    for _ in range(ASCENTS):
        missed = 1.0 / (1.0 + np.exp(np.clip(rows @ weights, -30, 30)))
        gradient = (counts * missed) @ rows - RIDGE / 10 * weights
        weights = np.maximum(0.0, weights + STEP * 50 * gradient)
    return tuple(np.round(weights / max(weights[0], 1e-9), 3).tolist())


LEARNERS: dict[str, Callable[[Questions, NDArray[np.bool_]], Weights]] = {
    "searched": searched,
    "pairwise logistic": regressed,
}


def report(questions: Questions, *, markdown: bool) -> str:
    """Every way of weighting by kind of question, what is gained on the defaults, and the weights that were learnt."""
    left_out = np.array([each.left_out for each in questions.every])
    ways = {"defaults": questions.measured(DEFAULTS), "1 each": questions.measured((1.0,) * len(LEGS))}
    learnt = Table(["weights", *LEGS], markdown=markdown)
    learnt.add("defaults", *(f"{each:g}" for each in DEFAULTS))
    for name, learn in LEARNERS.items():
        on_all = learn(questions, np.ones(len(left_out), dtype=bool))
        held, folds = np.zeros_like(ways["defaults"]), []
        for out in dict.fromkeys(left_out.tolist()):
            there = left_out == out
            folds.append(learn(questions, ~there))
            held[there] = questions.measured(folds[-1])[there]
            tell(f"{name} without {out}: {folds[-1]}")
        ways[f"{name}, left out"] = held
        ways[f"{name}, on all"] = questions.measured(on_all)
        learnt.add(name, *(f"{each:g}" for each in on_all))
        low, high = np.min(folds, axis=0), np.max(folds, axis=0)
        learnt.add("  with one left out", *(f"{a:g}-{b:g}" for a, b in zip(low, high, strict=True)))
    kinds = np.array([each.kind for each in questions.every])
    parts = [learnt.text()]
    for kind in dict.fromkeys(kinds.tolist()):
        some = kinds == kind
        table = Table(
            [f"{kind}, {some.sum()}", *MEASURES, *(f"{each} ahead of the defaults" for each in MEASURES)],
            markdown=markdown,
        )
        for name, measured in ways.items():
            means = measured[some].mean(axis=0)
            cells = [percent(means[0]), percent(means[1]), f"{means[2]:.3f}"]
            for at in range(len(MEASURES)):
                gained = difference(measured[some, at], ways["defaults"][some, at])
                cells.append("" if name == "defaults" else ahead(gained))
            table.add(name, *cells)
        parts.append(table.text())
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a LoCoMo file (default: the sets of the tests alone)")
    parser.add_argument("--home", type=Path, help="keep notes and vectors here, and go on from them (default: nowhere)")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-fusion-")))
        settings = load_settings(home, llm_backend="offline")
        vectors = KeptVectors(make_embedder(settings), home / "vectors.npz")
        every = [*question_sets(settings, vectors), *notebooks(vectors)]
        if given.file is not None:
            every += conversations(given.file, settings, vectors)
        vectors.save()
    print(report(Questions(every), markdown=given.tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())

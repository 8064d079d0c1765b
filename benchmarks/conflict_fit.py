"""Fit the trees of the heuristic judge (amem/conflict/judge.json) to labelled pairs of notes.

    python benchmarks/conflict_fit.py [--locomo PATH] [--write]

Learned from: the open pairs of ``tuned``, ``fresh``, ``kinds``, ``negations``, ``lookalikes``, ``everyday``,
``twins``, ``wordings``, and every pair that a judge sees while real notebooks are written (the development collections
of ``tests/data/answers``, the demo's year, the story of ``tests/data/story``, the Chinese notes of
``tests/data/recall``, the journal, and LoCoMo's development turns where the file is there). Of the notebooks' pairs
those in ``neighbours.jsonl`` were labelled by hand; every other one counts as harmless, which is how often two near
notes do not conflict. Which two statements of a pair count is chosen by the trees themselves, in rounds: in a conflict
the likeliest pair with an overturned statement, else the likeliest one.

Prints, by five-fold cross-validation, precision and recall of pairs and the share of sensible doubts in notebooks, for
several thresholds; ``--write`` fits to everything and writes the file. Needs scikit-learn (sentence-transformers has
it), which amem itself does not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _answer_sets import collections
from _pairs import FOLDER, Bench, Pair, Remembered, read_pairs
from sklearn.ensemble import GradientBoostingClassifier

from amem import AgenticMemorySystem
from amem.conflict.candidates import Claim
from amem.conflict.compare import compared
from amem.conflict.judges import Judges
from amem.embedding import make_embedder
from amem.interop.demo_data import demo_folder
from amem.settings import load_settings
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.protocols import Embedder

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "amem" / "conflict" / "judge.json"
OVERTURNED = ("supersedes", "contradicts")
FOLDS, ROUNDS = 5, 3
#: Characters of its notes by which ``neighbours.jsonl`` names a pair.
BEGINNING = 48
#: Labelled pairs that may be learned from, without those held out.
LABELLED = ("tuned", "fresh", "kinds", "negations", "lookalikes", "everyday", "twins")
PAIRS = (*LABELLED, "wordings")
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@dataclass(slots=True)
class Example:
    """A pair of notes as the judge is shown it. `label`: 1 conflict, 0 none, -1 unclear (left out).

    `rows` are features of its pairs of statements, `allowed` whether the earlier one is one that fell. `slot`: the slot
    rule decides it before the trees are asked.
    """

    source: str
    key: str
    label: int
    rows: np.ndarray
    allowed: np.ndarray
    slot: bool
    names: list[str] = field(default_factory=list)

    @property
    def group(self) -> str:
        return self.source if self.source in PAIRS else "notebooks"

    @property
    def fold(self) -> int:
        return zlib.crc32(self.key.encode()) % FOLDS


class Recorder:
    """Keeps every pair of claims that the judges are shown, by wrapping their method while it is in use."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str, str], tuple[Claim, Claim, float, bool]] = {}
        self.source = ""
        self._judge_all = Judges.judge_all

    def __enter__(self) -> Recorder:
        def judge_all(judges: Judges, pairs: Sequence[tuple[Claim, Claim, float]]) -> Any:
            for earlier, later, cosine in pairs:
                slot = judges.rules_first(earlier, later, cosine) is not None
                self.seen.setdefault((self.source, earlier.id, later.id), (earlier, later, cosine, slot))
            return self._judge_all(judges, pairs)

        Judges.judge_all = judge_all  # type: ignore[method-assign]  # overheard, and put back on leaving
        return self

    def __exit__(self, *_: object) -> None:
        Judges.judge_all = self._judge_all  # type: ignore[method-assign]  # as it was


def examples(embedder: Embedder, locomo: Path | None) -> list[Example]:
    """All labelled pairs, then all pairs of the notebooks."""
    found = []
    with Recorder() as recorder:
        for half in LABELLED:
            pairs = read_pairs(half)
            bench = Bench(Remembered(embedder, [said.text for pair in pairs for said in (pair.earlier, pair.later)]))
            for pair in pairs:
                recorder.source, recorder.seen = half, {}
                bench.judge(pair)
                found += [of_pair(half, pair, *shown) for shown in recorder.seen.values()]
            bench.close()
        found += wordings()
        recorder.seen = {}
        labels = _labels()
        for source, notes in notebooks(locomo):
            recorder.source = source
            with AgenticMemorySystem(
                llm_backend="offline", embedder=embedder, clock=FrozenClock("2027-01-01T12:00")
            ) as memory:
                for note in notes:
                    memory.add(**note)
        found += [of_notes(source, labels, *shown) for (source, _, _), shown in recorder.seen.items()]
    return found


def wordings() -> list[Example]:
    """Short pairs of ``wordings.jsonl``, as the tests tell them: half a year apart, or at once by two people."""
    may, found = datetime(2026, 5, 1, tzinfo=UTC), []
    for row in _rows(FOLDER / "wordings.jsonl"):
        one, other = row.get("speakers", (None, None))
        then = may + (timedelta(minutes=20) if row.get("at_once") else timedelta(days=200))
        earlier = Claim("a", row["earlier"], may, may, 1, one)
        later = Claim("b", row["later"], then, then, 2, other)
        told = list(compared(earlier, later, 0.7))
        key = row["earlier"] + row["later"]
        found.append(_example("wordings", key, int(row["conflict"]), told, [True] * len(told), slot=False))
    return found


def of_pair(half: str, pair: Pair, earlier: Claim, later: Claim, cosine: float, slot: bool) -> Example:
    """A labelled pair; a statement that fell is one that shares half its words with a quoted one."""
    told = list(compared(earlier, later, cosine))
    fell = pair.overturned
    allowed = [not fell or any(_overlaps(old.text, each) for each in fell) for old, _, _ in told]
    return _example(half, pair.earlier.text, int(pair.label in OVERTURNED), told, allowed, slot)


def of_notes(
    source: str, labels: dict[tuple[str, str], int], earlier: Claim, later: Claim, cosine: float, slot: bool
) -> Example:
    """Two notes of a notebook, harmless unless labelled otherwise."""
    label = labels.get((earlier.content[:BEGINNING], later.content[:BEGINNING]), 0)
    told = list(compared(earlier, later, cosine))
    return _example(source, f"{source} {later.content}", label, told, [True] * len(told), slot)


def _example(source: str, key: str, label: int, told: list[Any], allowed: list[bool], slot: bool) -> Example:
    rows = np.array([list(features.values()) for _, _, features in told])
    names = list(told[0][2]) if told else []
    return Example(source, key, label, rows, np.array(allowed, dtype=bool), slot, names)


def _overlaps(text: str, quote: str) -> bool:
    short, long = sorted((text.strip(" .。"), quote.strip(" .。")), key=len)
    return short in long


def _labels() -> dict[tuple[str, str], int]:
    kinds = {"conflict": 1, "none": 0, "unclear": -1}
    return {(row["earlier"], row["later"]): kinds[row["label"]] for row in _rows(FOLDER / "neighbours.jsonl")}


def notebooks(locomo: Path | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Collections of notes as people write them: name, and the arguments of each ``add``."""
    for each in collections("development"):
        notes = ({"content": note["text"], "time": note["at"], "speaker": note.get("speaker")} for note in each.notes)
        yield each.name, [{key: value for key, value in note.items() if value} for note in notes]
    data = ROOT / "tests" / "data"
    for name, path in (("demo", demo_folder() / "year.jsonl"), ("zh", data / "recall" / "zh_notes.jsonl")):
        yield name, [{"content": row["content"], "time": row["time"]} for row in _rows(path)]
    for language in ("en", "zh"):
        rows = _rows(data / "story" / f"{language}.jsonl")
        told = [{"content": row["content"], "time": row["at"]} for row in rows if row["role"] == "user"]
        yield f"story {language}", told
    for path in sorted((data / "journal").glob("*.md")):
        text = re.sub(r"^#.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        said = [" ".join(each.split()) for each in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", text)]
        start = datetime(2026, 3, 1, tzinfo=UTC)
        times = ((start + timedelta(hours=6 * at)).isoformat() for at in range(len(said)))
        yield path.stem, [{"content": each, "time": at} for each, at in zip(said, times, strict=True) if len(each) > 8]
    if locomo is not None:
        for sample in json.loads(locomo.read_text("utf-8"))[:2]:
            yield sample["sample_id"], list(_turns(sample["conversation"]))


def _turns(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in (name for name in conversation if re.fullmatch(r"session_\d+", name)):
        at = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y")
        for place, turn in enumerate(conversation[name]):
            time = (at + timedelta(minutes=place)).isoformat()
            yield {"content": turn["text"], "time": time, "speaker": turn["speaker"]}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def fit(train: Sequence[Example]) -> GradientBoostingClassifier:
    """Trees fitted in rounds: each chooses anew which statements of a pair count."""
    model: GradientBoostingClassifier | None = None
    for _ in range(ROUNDS):
        rows, labels = [], []
        for each in train:
            if each.label < 0 or not len(each.rows):
                continue
            scores = _first_guess(each) if model is None else model.predict_proba(each.rows)[:, 1]
            if each.label and each.allowed.any():
                rows.append(each.rows[np.argmax(np.where(each.allowed, scores, -1))])
                labels.append(1)
                if (~each.allowed).any():
                    rows.append(each.rows[np.argmax(np.where(each.allowed, -1, scores))])
                    labels.append(0)
            elif not each.label:
                rows.append(each.rows[np.argmax(scores)])
                labels.append(0)
        model = GradientBoostingClassifier(
            n_estimators=130, max_leaf_nodes=8, max_depth=None, learning_rate=0.07, min_samples_leaf=10, subsample=0.6,
            max_features=0.25, random_state=1,
        )  # fmt: skip
        model.fit(np.array(rows), np.array(labels))
    assert model is not None
    return model


def _first_guess(each: Example) -> np.ndarray:
    return each.rows[:, each.names.index("shared with sentence")] + each.rows[:, each.names.index("explicit")]


def best(model: GradientBoostingClassifier, each: Example) -> float:
    """The probability of a conflict between the two notes of an example."""
    return float(model.predict_proba(each.rows)[:, 1].max()) if len(each.rows) else 0.0


def cross_validate(every: Sequence[Example]) -> None:
    """Print precision and recall on pairs and in notebooks, each example judged by trees that have not seen it."""
    scores: dict[int, float] = {}
    for fold in range(FOLDS):
        model = fit([each for each in every if each.fold != fold])
        scores |= {id(each): best(model, each) for each in every if each.fold == fold}
    for least in THRESHOLDS:
        told = []
        for name in (*PAIRS, "notebooks"):
            group = [each for each in every if each.label >= 0 and each.group == name]
            spoken = [each for each in group if each.slot or scores[id(each)] >= least]
            right, wanted = sum(each.label for each in spoken), sum(each.label for each in group)
            doubts = [each.label for each in spoken if not each.slot]
            shares = f"precision {right}/{len(spoken)}, recall {right / wanted:.3f}"
            told.append(f"{name}: {shares}, by the trees {sum(doubts)}/{len(doubts)}")
        print(f"{least:.1f}  " + "; ".join(told))


def write(model: GradientBoostingClassifier, every: Sequence[Example]) -> None:
    """Write the trees as the judge reads them."""
    names = next(each.names for each in every if each.names)
    rate = model.learning_rate
    trees = []
    for (tree,) in model.estimators_:
        t = tree.tree_
        nodes = zip(
            t.feature.tolist(), t.threshold.tolist(), t.children_left.tolist(), t.children_right.tolist(), strict=True
        )
        leaves = (round(rate * float(value), 4) for value in t.value[:, 0, 0])
        trees.append(
            [
                [leaf] if left < 0 else [feature, round(threshold, 4), left, right]
                for (feature, threshold, left, right), leaf in zip(nodes, leaves, strict=True)
            ]
        )
    prior = float(model.init_.class_prior_[1])
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
    start = round(float(np.log(prior / (1 - prior))), 4)
    MODEL.write_text(
        f'{{"from": "benchmarks/conflict_fit.py, {len(every)} pairs", "start": {start},\n'
        f'"features": {json.dumps(names)},\n"trees": [\n{lines}\n]}}\n',
        "utf-8",
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="locomo_dev.json, where it is there")
    parser.add_argument("--write", action="store_true", help="fit to everything and write the file")
    given = parser.parse_args(argv)
    every = examples(make_embedder(load_settings()), given.locomo)
    cross_validate(every)
    if given.write:
        write(fit(every), every)
    return 0


if __name__ == "__main__":
    sys.exit(main())

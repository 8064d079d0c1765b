"""Whether what memory holds is denied, and whether what it does not hold is invented, on labelled questions.

    python benchmarks/answering.py [--part development|held_out] [--as-it-is] [--ablation] [--fit] [--tables]
        [--times | --updates] [--errors] [--home DIR]

Every question of ``tests/data/answers``, about notebooks and about a few notes, is asked of its collection without a
model. *Denied*: memory holds the answer, and it was said to hold none. *Invented*: memory holds none, and what was
found was called a strong support. *Right*: strong support, and the surest note is one that answers. *Said*: what the
answer says holds the words it should.

On development data each collection is judged by a calibration that was fitted on all others (``--as-it-is``: by the
one in ``amem.retrieval.confidence``). Of ``held_out`` only totals are printed. ``--fit`` prints that table anew.

``--times`` asks the notebooks of ``tests/data/answers/times`` instead: what was so or happened at a time, lists and
plans. *Right*: of a fact, it is said as certain, and in no right answer stands what was so at another time; of a list,
just the notes that belong to it are cited; of what memory lacks, nothing is said as certain. *Cited* is the share of
the notes of an answer that it cites, *stray* the share of the cited that are none of it, *false* what is said as
certain and is wrong. ``--errors`` lists the development questions that are not answered right.

``--updates`` asks the notebooks of ``tests/data/answers/updates``, in which a later note changes what an earlier one
said (``update``) or tells something else of the same thing (``stands``). *Right*: the later note is cited, or the
answer that stands is said. *First*: it is cited first. *Stale*: only what was changed is said, as certain.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _answer_sets import SIZES, TIMES, UPDATES, Asked, collections
from _kept_vectors import KeptVectors
from _retrieval_table import Table

from amem import load_settings
from amem.embedding import make_embedder
from amem.retrieval.confidence import NAMES, Calibration, Signs, Support, Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem import Hit

K = 8
#: The share of unanswerable questions that may be called certain where the threshold is chosen, in either size of
#: collections: left out by collection, less than the tenth that is aimed at. What is surely not denied there may be in
#: others: a margin for that.
INVENTED, MARGIN = 0.11, 0.4
#: The share of right notes that may be left out of what is shown as the nearest.
LOST = 0.08
#: Signs that speak against a note; all others speak for it.
AGAINST = frozenset(("strangers", "lacks"))
_RIDGE = 5.0
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question as it was answered: the signs of each hit and whether it is right; `said` that the text is."""

    asked: Asked
    hits: tuple[tuple[Signs, bool], ...]
    foreign: bool
    support: Support
    right: bool
    said: bool


def ask(part: str, home: Path) -> list[Outcome]:
    """Every question of a part, asked of its collection."""
    embedder = KeptVectors(make_embedder(load_settings(home, llm_backend="offline")), home / "vectors.npz")
    found = []
    for each in collections(part):
        with each.opened(embedder) as memory:
            for asked in each.questions:
                answer = memory.answer(asked.text, K)
                cited = [each.note for each in answer.citations]
                found.append(
                    Outcome(
                        asked,
                        tuple((_signs(hit), hit.id in asked.answers) for hit in answer.hits),
                        any(hit.explanation.reading and hit.explanation.reading.foreign for hit in answer.hits),
                        answer.support,
                        bool(cited) and cited[0] in asked.answers,
                        any(said.casefold() in answer.text.casefold() for said in asked.says),
                    )
                )
        embedder.save()
    return found


def _signs(hit: Hit) -> Signs:
    assert hit.explanation.signs is not None
    return hit.explanation.signs


def fit(outcomes: Sequence[Outcome], without: str = "") -> Calibration:
    """A logistic regression over all hits, one sign left out, and the thresholds that keep to what may go wrong."""
    rows = [row for each in outcomes for row in each.hits]
    names, labels = [each for each in NAMES if each != without], np.array([true for _, true in rows], dtype=np.float64)
    while True:
        matrix = np.array([[getattr(signs, name) for name in names] for signs, _ in rows], dtype=np.float64)
        bias, *weights = map(float, logistic(matrix, labels))
        # What speaks for a note must not count against it because of a few odd questions.
        wrong = [name for name, weight in zip(names, weights, strict=True) if (weight < 0) != (name in AGAINST)]
        if not wrong:
            break
        names = [name for name in names if name not in wrong]
    none = Thresholds(0.0, 1.0, 0.0)
    bare = Calibration(bias, dict(zip(names, weights, strict=True)), none, none)
    return replace(bare, read=thresholds(bare, outcomes, True), unread=thresholds(bare, outcomes, False))


def thresholds(model: Calibration, outcomes: Sequence[Outcome], read: bool) -> Thresholds:
    """The thresholds that keep to what may go wrong, for hits that the embedding model reads, or does not."""
    tops = [
        (max(model.confidence(signs) for signs, _ in each.hits if signs.read is read), each)
        for each in outcomes
        if any(signs.read is read for signs, _ in each.hits)
    ]
    # Where some notes cannot be looked through, nothing is denied however low this is.
    held = [top for top, each in tops if each.asked.answers and not each.foreign]
    strong = 0.0
    for size in SIZES:
        empty = sorted((top for top, each in tops if not each.asked.answers and each.asked.size == size), reverse=True)
        if empty:
            strong = max(strong, float(np.nextafter(empty[int(INVENTED * len(empty))], 1.0)))
    if not strong or not held:
        return Thresholds(0.0, 1.0, 0.0)
    bare = replace(model, **{"read" if read else "unread": Thresholds(min(strong, MARGIN * min(held)), strong, 0.0)})
    near = sorted(
        bare.nearness(signs)
        for each in outcomes
        if (surest := nearest(bare, each)) is not None and surest[1] and (signs := surest[0]).read is read
    )
    return Thresholds(min(strong, MARGIN * min(held)), strong, near[int(LOST * len(near))] if near else 0.0)


def nearest(model: Calibration, outcome: Outcome) -> tuple[Signs, bool] | None:
    """The surest hit of a question that is not answered as certain, and whether it is right."""
    support, _ = judge(model, outcome)
    if support is not Support.WEAK:
        return None
    return max(outcome.hits, key=lambda hit: model.confidence(hit[0]), default=None)


def judge(model: Calibration, outcome: Outcome) -> tuple[Support, bool]:
    """How well the hits support an answer, and whether the surest of them is right."""
    surest = max(((model.confidence(signs), true) for signs, true in outcome.hits), default=(0.0, False))
    found = {model.support(model.confidence(signs), signs) for signs, _ in outcome.hits}
    if outcome.foreign:
        found.add(Support.WEAK)
    best = next((each for each in (Support.STRONG, Support.WEAK) if each in found), Support.NONE)
    return best, surest[1]


def logistic(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights, the bias first, by Newton's method with a ridge on standardised columns."""
    mean, spread = matrix.mean(axis=0), matrix.std(axis=0)
    spread[spread == 0] = 1.0
    scaled = np.column_stack([np.ones(len(matrix)), (matrix - mean) / spread])
    ridge = np.eye(scaled.shape[1]) * _RIDGE
    ridge[0, 0] = 0.0
    weights = np.zeros(scaled.shape[1])
    for _ in range(_ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-(scaled @ weights)))
        gradient = scaled.T @ (labels - chance) - ridge @ weights
        curve = (scaled * (chance * (1.0 - chance))[:, None]).T @ scaled + ridge
        weights += np.linalg.solve(curve, gradient)
    plain = weights[1:] / spread
    return np.concatenate([[weights[0] - plain @ mean], plain])


def left_out(outcomes: Sequence[Outcome], without: str = "") -> Iterable[tuple[Outcome, Support, bool]]:
    """Each question judged by what was fitted on the other collections, one sign left out."""
    for name in dict.fromkeys(each.asked.collection for each in outcomes):
        model = fit([each for each in outcomes if each.asked.collection != name], without)
        for each in outcomes:
            if each.asked.collection == name:
                yield (each, *judge(model, each))


def ablation(outcomes: Sequence[Outcome], *, markdown: bool) -> str:
    """What is denied, right and invented without each of the signs, for each size of collections."""
    columns = [f"{size}: {figure}" for size in SIZES for figure in ("denied", "right", "invented")]
    table = Table(["without", *columns], markdown=markdown)
    for name in ("", *NAMES):
        verdicts = list(left_out(outcomes, name))
        shares = []
        for size in SIZES:
            held, empty, strong = _counted([each for each in verdicts if each[0].asked.size == size])
            shares.append(_share(sum(each[1] is Support.NONE for each in held), held))
            shares.append(_share(sum(right for _, _, right in strong), held))
            shares.append(_share(sum(each[1] is Support.STRONG for each in empty), empty))
        table.add(name or "none of them", *shares)
    return table.text()


def as_it_is(outcomes: Sequence[Outcome]) -> Iterable[tuple[Outcome, Support, bool]]:
    """Each question as amem judged it."""
    return ((each, each.support, each.right) for each in outcomes)


Verdicts = Sequence[tuple[Outcome, Support, bool]]


def report(verdicts: Verdicts, *, totals: bool, markdown: bool) -> str:
    """A row for all, and unless only `totals` are wanted one for each language, kind and collection."""
    table = Table(["", "answerable", "denied", "right", "said", "unanswerable", "invented", "none"], markdown=markdown)
    for size in SIZES:
        _row(table, size, [each for each in verdicts if each[0].asked.size == size])
    if not totals:
        by: tuple[Callable[[Asked], str], ...] = (_languages, lambda each: each.kind, lambda each: each.collection)
        for key in by:
            for name in sorted({key(each.asked) for each, _, _ in verdicts}):
                _row(table, name, [each for each in verdicts if key(each[0].asked) == name])
    return table.text()


def _counted(verdicts: Verdicts) -> tuple[Verdicts, Verdicts, Verdicts]:
    """The answerable ones, the others, and of the answerable ones those with strong support."""
    held = [each for each in verdicts if each[0].asked.answers]
    empty = [each for each in verdicts if not each[0].asked.answers]
    return held, empty, [each for each in held if each[1] is Support.STRONG]


def _row(table: Table, name: str, verdicts: Verdicts) -> None:
    held, empty, strong = _counted(verdicts)
    table.add(
        name,
        str(len(held)),
        _share(sum(each[1] is Support.NONE for each in held), held),
        _share(sum(right for _, _, right in strong), held),
        _share(sum(each.said for each, _, _ in held), held),
        str(len(empty)),
        _share(sum(each[1] is Support.STRONG for each in empty), empty),
        _share(sum(each[1] is Support.NONE for each in empty), empty),
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """A question of time as it was answered: its text, the cited notes, and whether it was said as certain."""

    asked: Asked
    text: str
    order: tuple[str, ...]
    certain: bool | None

    @property
    def cited(self) -> frozenset[str]:
        return frozenset(self.order)

    @property
    def right(self) -> bool:
        """Whether this answers what was asked."""
        if not self.asked.answers:
            return self.certain is (False if self.asked.kind == "far" else self.certain) and not self.false
        if self.asked.says:
            return self.certain is True and self._says
        return self.certain is True and set(self.asked.answers) <= self.cited and not self.stray

    @property
    def stray(self) -> frozenset[str]:
        """The cited notes that are none of the answer."""
        return self.cited - {*self.asked.answers, *self.asked.also}

    @property
    def false(self) -> bool:
        """Whether something wrong is said as certain."""
        if not self.certain:
            return False
        return not self._says if self.asked.says else not self.asked.answers or bool(self.stray)

    @property
    def _says(self) -> bool:
        text = self.text.casefold()
        held = [any(each.casefold() in text for each in found) for found in (self.asked.says, self.asked.not_says)]
        return held == [True, False]


def ask_notebooks(part: str, homes: Mapping[str, Path]) -> list[Timed]:
    """Every question of a part of `homes`, asked of its notebook."""
    embedder = make_embedder(load_settings(llm_backend="offline"))
    found = []
    for each in collections(part, homes):
        with each.opened(embedder) as memory:
            for asked in each.questions:
                answer = memory.answer(asked.text)
                cited = tuple(each.note for each in answer.citations)
                found.append(Timed(asked, answer.text, cited, answer.in_memory))
    return found


def times_report(found: Sequence[Timed], *, totals: bool, markdown: bool) -> str:
    """A row for all, and unless only `totals` are wanted one for each kind, language and notebook."""
    table = Table(["", "questions", "right", "cited", "stray", "false", "denied"], markdown=markdown)
    by: tuple[Callable[[Asked], str], ...] = (lambda each: each.kind, _languages, lambda each: each.collection)
    groups = [("all", list(found))]
    for key in () if totals else by:
        names = sorted({key(each.asked) for each in found})
        groups += [(name, [each for each in found if key(each.asked) == name]) for name in names]
    for name, each_of in groups:
        held = [each for each in each_of if each.asked.answers]
        wanted = [(note, each) for each in held for note in each.asked.answers]
        cited = [(note, each) for each in held for note in each.cited]
        table.add(
            name,
            str(len(each_of)),
            _share(sum(each.right for each in each_of), each_of),
            _share(sum(note in each.cited for note, each in wanted), wanted),
            _share(sum(note in each.stray for note, each in cited), cited),
            _share(sum(each.false for each in each_of), each_of),
            _share(sum(each.certain is False for each in held), held),
        )
    return table.text()


def updates_report(found: Sequence[Timed], *, totals: bool, markdown: bool) -> str:
    """A row for all, and unless only `totals` are wanted one for each kind and notebook."""
    table = Table(["", "questions", "right", "first", "stale", "stray"], markdown=markdown)
    groups = [(kind, [each for each in found if each.asked.kind == kind]) for kind in ("update", "stands")]
    for name in () if totals else sorted({each.asked.collection for each in found}):
        groups += [
            (f"{name}, {kind}", [each for each in of if each.asked.collection == name]) for kind, of in groups[:2]
        ]
    for name, each_of in groups:
        table.add(
            name,
            str(len(each_of)),
            _share(sum(answered(each) for each in each_of), each_of),
            _share(sum(each.order[:1] == each.asked.answers for each in each_of), each_of),
            _share(sum(bool(each.certain) and not answered(each) for each in each_of), each_of),
            _share(sum(bool(each.stray) for each in each_of), each_of),
        )
    return table.text()


def answered(each: Timed) -> bool:
    """Whether an answer of an updates notebook names the note that holds, and says what it should."""
    said = not each.asked.says or any(word.casefold() in each.text.casefold() for word in each.asked.says)
    return said and set(each.asked.answers) <= each.cited


def _share(count: int, of: Sequence[object]) -> str:
    return f"{count / len(of):.1%}" if of else "-"


def _languages(asked: Asked) -> str:
    if not asked.note_language or asked.note_language == asked.language:
        return asked.language
    return f"{asked.language} asked, {asked.note_language} noted"


def written(model: Calibration) -> str:
    """A calibration as it stands in ``amem.retrieval.confidence``."""
    weights = [f'        "{name}": {weight:.2f},' for name, weight in model.weights.items() if abs(weight) >= 0.005]
    at = [
        f"    Thresholds({each.weak:.4f}, {each.strong:.4f}, {each.near:.4f})," for each in (model.read, model.unread)
    ]
    return "\n".join(["Calibration(", f"    {model.bias:.2f},", "    {", *weights, "    },", *at, ")"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("development", "held_out"), default="development")
    parser.add_argument("--fit", action="store_true", help="print the calibration fitted on all development questions")
    parser.add_argument("--ablation", action="store_true", help="also print what each sign is good for")
    parser.add_argument("--as-it-is", action="store_true", help="judge development questions by amem's calibration")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    parser.add_argument("--home", type=Path, help="keep vectors here (default: nowhere)")
    parser.add_argument("--times", action="store_true", help="ask about times, lists and plans instead")
    parser.add_argument("--updates", action="store_true", help="ask notebooks that later notes update instead")
    parser.add_argument(
        "--errors", action="store_true", help="with --times or --updates: list what is not answered right"
    )
    given = parser.parse_args(arguments)
    if given.times or given.updates:
        held_out = given.part == "held_out"
        timed = ask_notebooks(given.part, TIMES if given.times else UPDATES)
        report_of, right = (times_report, Timed.right.fget) if given.times else (updates_report, answered)
        print(report_of(timed, totals=held_out, markdown=given.tables))
        for each in () if held_out or not given.errors else timed:
            if not right(each):
                print(f"\n{each.asked.collection} {each.asked.kind}: {each.asked.text}\n  {each.certain} {each.text}")
        return 0
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-answers-")))
        outcomes = ask(given.part, home)
    held_out = given.part == "held_out"
    verdicts = list(as_it_is(outcomes) if held_out or given.as_it_is else left_out(outcomes))
    print(report(verdicts, totals=held_out, markdown=given.tables))
    if given.ablation and not held_out:
        print(f"\n{ablation(outcomes, markdown=given.tables)}")
    if given.fit and not held_out:
        print(f"\nCALIBRATION = {written(fit(outcomes))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

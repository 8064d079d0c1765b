"""How well rules alone tell what a later note does to an earlier one: replaced, contradicted, repeated, or nothing.

    python benchmarks/conflict_pairs.py [--half tuned|unseen|fresh|kinds|...|fresh-held|...|both] [--errors] [--json]

Labelled pairs (tests/data/conflicts) are told to a collection of their own through the public API, with the offline
rules and the real MiniLM, once in order and once with the later note first: notes have their times, so the outcome
has to be the same. The target is that of the unseen half for "replaced or contradicted", where either label counts as
found: precision 0.90, recall 0.75. Worst is a note that was hidden wrongly, which is counted by itself, and so is a
note that was hidden though one of its statements stands. The table by statement tells how many of the statements that
fell were found (marked, hidden with their note, or put before a person by name), how many of these were ended at once,
and how many that stand were ended wrongly. ``tuned-before`` and ``unseen-before`` are the halves as they
were until 2026-11-23, for comparison with older figures; ``both`` leaves them out. ``--errors`` lists the pairs that
come out wrong, of ``tuned``, ``fresh``, ``kinds``, ``negations``, ``lookalikes``, ``everyday``, ``twins`` alone, so
that nobody tunes on the others. The table by judge gives precision and share of all overturned pairs for each judge
that spoke.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from _pairs import BEFORE, HALVES, LABELS, SPLIT, Bench, Outcome, Pair, Remembered, read_pairs
from rich.console import Console
from rich.table import Table

from amem.embedding import make_embedder
from amem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.protocols import Embedder

#: Either of these says that the earlier note does not stand unharmed.
OVERTURNED = frozenset({"supersedes", "contradicts"})
CHOICES = (*HALVES, *SPLIT, "lookalikes", *BEFORE, "both")
#: What may be looked at while rules are tuned.
OPEN = ("tuned", "fresh", "kinds", "negations", "lookalikes", "everyday", "twins")


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what became of it, told in order and told with the later note first."""

    pair: Pair
    outcome: Outcome
    reversed: Outcome

    @property
    def depends_on_arrival(self) -> bool:
        """True when the pair comes out otherwise with the later note told first."""
        return (self.outcome.label, self.outcome.hidden) != (self.reversed.label, self.reversed.hidden)

    @property
    def hidden_wrongly(self) -> bool:
        """True when a note left default search that still stands: the worst that can happen."""
        return bool(self.outcome.hidden) and (self.outcome.hidden != "earlier" or self.pair.label not in OVERTURNED)

    @property
    def hidden_though_disputed(self) -> bool:
        """True when one of two notes that contradict each other was hidden, where both ought to stay."""
        return self.outcome.hidden == "earlier" and self.pair.label == "contradicts"

    @property
    def hidden_though_a_statement_stands(self) -> bool:
        """True when the earlier note was hidden whole, though the file quotes a statement of it that stands."""
        return self.outcome.hidden in ("earlier", "both") and bool(self.pair.stands)


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and their harmonic mean, 0..1; None where nothing was found, or nothing was there to find."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    found: int


def score(judged: Iterable[Judged], labels: frozenset[str]) -> Score:
    """How well any of `labels` was told from the rest."""
    wanted = found = both = 0
    for each in judged:
        is_so, was_said = each.pair.label in labels, each.outcome.label in labels
        wanted, found, both = wanted + is_so, found + was_said, both + (is_so and was_said)
    f1 = 2 * both / (wanted + found) if wanted + found else None
    return Score(both / found if found else None, both / wanted if wanted else None, f1, wanted, found)


@dataclass(frozen=True, slots=True)
class Statements:
    """What became of single statements: of the `overturned` ones how many were `ended` (marked, or hidden with their
    note) and how many `found`, which counts those that a person is asked about as well; of all others how many were
    ended `wrongly`, a note that is hidden though nothing of it fell counting as one."""

    overturned: int
    ended: int
    found: int
    wrongly: int

    @property
    def precision(self) -> float | None:
        """Share of the ended statements that had ended, 0..1."""
        return self.ended / (self.ended + self.wrongly) if self.ended + self.wrongly else None

    def to_dict(self) -> dict[str, Any]:
        """With precision and both recalls, JSON-ready."""
        shares = {"precision": self.precision, "recall": None, "recall, ended": None}
        if self.overturned:
            shares |= {"recall": self.found / self.overturned, "recall, ended": self.ended / self.overturned}
        return asdict(self) | shares


def statements(judged: Iterable[Judged]) -> Statements:
    """The statements of these pairs, counted."""
    total = ended = found = wrongly = 0
    for each in judged:
        pair, outcome = each.pair, each.outcome
        hidden, text = outcome.hidden in ("earlier", "both"), pair.earlier.text
        for quote in pair.overturned:
            total += 1
            is_ended = hidden or _hit(text, quote, outcome.ended)
            ended += is_ended
            found += is_ended or (outcome.label in OVERTURNED and _hit(text, quote, outcome.named))
        wrongly += sum(hidden or _hit(text, quote, outcome.ended) for quote in pair.stands)
        wrongly += bool(outcome.ended_later) + (outcome.hidden in ("later", "both"))
        if not pair.overturned:
            wrongly += hidden or len(outcome.ended)
        elif pair.label == "contradicts":
            wrongly += hidden
    return Statements(total, ended, found, wrongly)


def _hit(text: str, quote: str, others: Iterable[str]) -> bool:
    """Whether one of the other quotes covers at least half of this one."""
    start = text.index(quote)
    own = set(range(start, start + len(quote)))
    return any(
        len(own & set(range(at, at + len(each)))) * 2 >= len(own) for each in others if (at := text.find(each)) >= 0
    )


def judge_all(pairs: Sequence[Pair], embedder: Embedder) -> list[Judged]:
    """Every pair, told both ways."""
    texts = [said.text for pair in pairs for said in (pair.earlier, pair.later)]
    with closing(Bench(Remembered(embedder, texts))) as bench:
        return [Judged(pair, bench.judge(pair), bench.judge(pair, later_first=True)) for pair in pairs]


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """All figures of one half as JSON-ready values."""
    languages = sorted({each.pair.lang for each in judged})
    categories = list(dict.fromkeys(each.pair.category for each in judged))
    return {
        "pairs": len(judged),
        "replaced or contradicted": asdict(score(judged, OVERTURNED)),
        "hidden wrongly": sum(each.hidden_wrongly for each in judged),
        "hidden though disputed": sum(each.hidden_though_disputed for each in judged),
        "hidden though a statement stands": sum(each.hidden_though_a_statement_stands for each in judged),
        "otherwise when told in reverse": sum(each.depends_on_arrival for each in judged),
        "statements": {
            "all": statements(judged).to_dict(),
            **{name: statements(each for each in judged if each.pair.lang == name).to_dict() for name in languages},
            "several statements": statements(each for each in judged if each.pair.category == "statement").to_dict(),
        },
        "judges": {name: _of_judge(judged, name) for name in sorted({each.outcome.judge for each in judged} - {""})},
        "labels": {label: asdict(score(judged, frozenset({label}))) for label in LABELS},
        "languages": {name: _group([each for each in judged if each.pair.lang == name]) for name in languages},
        "categories": {name: _group([each for each in judged if each.pair.category == name]) for name in categories},
    }


def _of_judge(judged: Sequence[Judged], name: str) -> dict[str, Any]:
    """How many pairs one judge called replaced or contradicted, and precision and recall of that."""
    spoken = [each for each in judged if each.outcome.judge == name]
    right = sum(each.pair.label in OVERTURNED for each in spoken)
    wanted = sum(each.pair.label in OVERTURNED for each in judged)
    return {
        "spoken": len(spoken),
        "precision": right / len(spoken),
        "recall": right / wanted if wanted else None,
        "hidden wrongly": sum(each.hidden_wrongly for each in spoken),
    }


def _group(judged: Sequence[Judged]) -> dict[str, Any]:
    return {
        "pairs": len(judged),
        "right": sum(each.pair.label == each.outcome.label for each in judged),
        "replaced or contradicted": asdict(score(judged, OVERTURNED)),
        "hidden wrongly": sum(each.hidden_wrongly for each in judged),
    }


def show(half: str, figures: dict[str, Any], console: Console) -> None:
    """Three tables: by label, by category and language; and what was hidden."""
    scores = Table(title=f"{half}: {figures['pairs']} pairs", title_justify="left")
    _columns(scores, "label", "precision", "recall", "F1", "pairs", "found")
    for label, values in [
        ("replaced or contradicted", figures["replaced or contradicted"]),
        *figures["labels"].items(),
    ]:
        scores.add_row(label, *(_share(values[name]) for name in ("precision", "recall", "f1")), *_counts(values))
    console.print(scores)
    groups = Table()
    _columns(groups, "of these", "pairs", "right", "precision", "recall", "hidden")
    for name, values in [*figures["languages"].items(), *figures["categories"].items()]:
        joint = values["replaced or contradicted"]
        shares = (_share(values["right"] / values["pairs"]), _share(joint["precision"]), _share(joint["recall"]))
        groups.add_row(name, str(values["pairs"]), *shares, str(values["hidden wrongly"]))
    console.print(groups)
    single = Table()
    _columns(single, "by statement", "overturned", "precision", "found", "ended", "wrongly")
    for name, values in figures["statements"].items():
        shares = (_share(values[key]) for key in ("precision", "recall", "recall, ended"))
        single.add_row(name, str(values["overturned"]), *shares, str(values["wrongly"]))
    console.print(single)
    judges = Table()
    _columns(judges, "by judge", "spoken", "precision", "recall", "hidden")
    for name, values in figures["judges"].items():
        shares = (_share(values[key]) for key in ("precision", "recall"))
        judges.add_row(name, str(values["spoken"]), *shares, str(values["hidden wrongly"]))
    console.print(judges)
    for name, value in figures.items():
        if name.startswith(("hidden", "otherwise")):
            console.print(f"{name}: {value}")
    console.print()


def _columns(table: Table, first: str, *others: str) -> None:
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _counts(values: dict[str, Any]) -> tuple[str, str]:
    return str(values["support"]), str(values["found"])


def show_errors(judged: Sequence[Judged], console: Console) -> None:
    """The pairs whose label is wrong or depends on which was told first, those hidden wrongly first of all."""
    wrong = [
        each
        for each in judged
        if each.pair.label != each.outcome.label or each.depends_on_arrival or _statement_errors(each)
    ]
    for each in sorted(wrong, key=lambda each: not each.hidden_wrongly):
        pair, outcome = each.pair, each.outcome
        flag = "  HIDDEN WRONGLY" if each.hidden_wrongly else ""
        console.print(f"{pair.id}: {pair.label}, came out as {outcome.label}{flag}", markup=False, style="bold")
        for said in (pair.earlier, pair.later):
            who = f"{said.speaker}: " if said.speaker else ""
            console.print(f"    {said.at[:10]}  {who}{said.text}", markup=False, highlight=False)
        console.print(f"    {outcome.reason or 'no link'}", markup=False, highlight=False)
        if said_wrongly := _statement_errors(each):
            console.print(f"    {said_wrongly}", markup=False, highlight=False)
        if each.depends_on_arrival:
            console.print(f"    told in reverse: {each.reversed.label}, {each.reversed.reason}", markup=False)
    counted = Counter(f"{each.pair.label} -> {each.outcome.label}" for each in wrong)
    console.print(", ".join(f"{count} {name}" for name, count in counted.most_common()), highlight=False)


def _statement_errors(each: Judged) -> str:
    """What came out wrong of its statements, in words; '' where nothing did."""
    of_it = statements([each])
    if of_it.found == of_it.overturned and not of_it.wrongly:
        return ""
    return (
        f"{of_it.found} of {of_it.overturned} found, {of_it.wrongly} ended wrongly;"
        f" ended: {', '.join(each.outcome.ended) or '-'}; named: {', '.join(each.outcome.named) or '-'}"
    )


def main(argv: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=CHOICES, default="both")
    parser.add_argument("--errors", action="store_true", help=f"list the pairs that come out wrong ({', '.join(OPEN)})")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args(argv)
    if given.errors and given.half not in OPEN:
        parser.error(f"--errors lists pairs that rules may be tuned on: add --half with one of {', '.join(OPEN)}")
    halves = HALVES if given.half == "both" else (given.half,)
    embedder = embedder or make_embedder(load_settings())
    judged = {half: judge_all(read_pairs(half), embedder) for half in halves}
    figures = {half: summary(each) for half, each in judged.items()}
    if given.json:
        json.dump(figures, sys.stdout, ensure_ascii=False, indent=2)
        print()
        return 0
    console = Console(soft_wrap=True)
    for half, values in figures.items():
        show(half, values, console)
    if given.errors:
        show_errors(judged[given.half], console)
    return 0


if __name__ == "__main__":
    sys.exit(main())

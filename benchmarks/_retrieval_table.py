"""The table of a retrieval run, for a terminal of 110 columns or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _ranking_scores import Interval, difference, hit, interval, ndcg, percentile, recall, reciprocal_rank
from _scores import CATEGORIES

from amem.retrieval.question import asks_for_several

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _retrieval_runs import Outcome

#: The depth that configurations are compared at.
AT = 10
_WIDTH = 46


@dataclass(frozen=True, slots=True)
class Scored:
    """A configuration's scores, in percent but for MRR and nDCG, over some questions."""

    n: int
    recall: Mapping[int, float]
    at: Interval
    hit: Mapping[int, float]
    mrr: float
    ndcg: float


def recalls(outcomes: Sequence[Outcome], k: int = AT) -> list[float]:
    """Recall@k of each question."""
    return [recall(each.places, k) for each in outcomes]


def scored(outcomes: Sequence[Outcome], ks: Sequence[int]) -> Scored:
    """All scores over these questions."""

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values)) if values else float("nan")

    return Scored(
        n=len(outcomes),
        recall={k: mean(recalls(outcomes, k)) for k in ks},
        at=interval(recalls(outcomes)),
        hit={k: mean([hit(each.places, k) for each in outcomes]) for k in ks},
        mrr=mean([reciprocal_rank(each.places) for each in outcomes]),
        ndcg=mean([ndcg(each.places, AT) for each in outcomes]),
    )


def by_category(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each category that has any, and all of them."""
    of = {name: [each for each in outcomes if each.question.category == number] for number, name in CATEGORIES.items()}
    return {name: some for name, some in of.items() if some} | {"all": list(outcomes)}


class Table:
    """Rows of cells under a head, aligned; the first column to the left."""

    def __init__(self, head: Sequence[str], *, markdown: bool) -> None:
        self._markdown = markdown
        self._rows: list[Sequence[str]] = [head]

    def add(self, *cells: str) -> None:
        """One row more."""
        self._rows.append(cells)

    def text(self) -> str:
        """The whole table."""
        if self._markdown:
            lines = ["| " + " | ".join(row) + " |" for row in self._rows]
            lines.insert(1, "| " + " | ".join("---" for _ in self._rows[0]) + " |")
            return "\n".join(lines)
        widths = [max(len(row[column]) for row in self._rows) for column in range(len(self._rows[0]))]
        return "\n".join(
            (
                f"{row[0]:<{widths[0]}}"
                + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            )
            for row in self._rows
        )


def categories_table(outcomes: Sequence[Outcome], ks: Sequence[int], *, markdown: bool) -> str:
    """One configuration, a row for each category."""
    head = ["", "n", *(f"R@{k}" for k in ks), f"95 % of R@{AT}", *(f"Hit@{k}" for k in ks), "MRR", f"nDCG@{AT}"]
    table = Table(head, markdown=markdown)
    for name, some in by_category(outcomes).items():
        of = scored(some, ks)
        table.add(
            name,
            str(of.n),
            *(percent(of.recall[k]) for k in ks),
            between(of.at),
            *(percent(of.hit[k]) for k in ks),
            f"{of.mrr:.3f}",
            f"{of.ndcg:.3f}",
        )
    return table.text()


def configurations_table(
    runs: Mapping[str, Sequence[Outcome]], ks: Sequence[int], reference: str, *, markdown: bool
) -> str:
    """A row for each configuration, with how far the reference is ahead of it, question by question."""
    head = ["", *(f"R@{k}" for k in ks), "MRR", "nDCG", f"behind, R@{AT}", "p50 ms", "p95 ms"]
    table = Table(head, markdown=markdown)
    best = recalls(runs[reference])
    for name, outcomes in runs.items():
        of = scored(outcomes, ks)
        behind = "" if name == reference else ahead(difference(best, recalls(outcomes)))
        times = [each.ms for each in outcomes if each.ms is not None]
        clock = [f"{percentile(times, share):.1f}" if times else "" for share in (0.5, 0.95)]
        recall_cells = [percent(of.recall[k]) for k in ks]
        table.add(name, *recall_cells, f"{of.mrr:.3f}", f"{of.ndcg:.3f}", behind, *clock)
    return table.text()


def configurations_by_category(runs: Mapping[str, Sequence[Outcome]], *, markdown: bool) -> str:
    """Recall@10 of each configuration in each category."""
    names = list(by_category(next(iter(runs.values()))))
    table = Table([f"R@{AT}", *names], markdown=markdown)
    for name, outcomes in runs.items():
        table.add(name, *(percent(scored(some, [AT]).recall[AT]) for some in by_category(outcomes).values()))
    return table.text()


def several_table(runs: Mapping[str, Sequence[Outcome]], few: int, several: int, *, markdown: bool) -> str:
    """Evidence found among few, among several, and among several spread over sessions, where several are asked for.

    The runs are those of `for_several`. `ask` reads several notes for a question that `asks_for_several`, few for
    others. The last column is by how much spreading is ahead, paired by question.
    """
    plain, spread = runs.values()
    pairs = list(zip(plain, spread, strict=True))
    hop = [pair for pair in pairs if CATEGORIES[pair[0].question.category] == "multi-hop"]
    read_so = [pair for pair in hop if asks_for_several(pair[0].question.text)]
    asked = [pair for pair in pairs if asks_for_several(pair[0].question.text)]
    others = [pair for pair in hop if pair not in read_so]
    head = [
        "",
        "n",
        f"among {few}",
        f"among {several}",
        f"{several} by session",
        "as ask chooses",
        "by session, ahead",
    ]
    table = Table(head, markdown=markdown)
    rows = {
        "multi-hop, read so": read_so,
        "multi-hop, others": others,
        "multi-hop": hop,
        "read so": asked,
        "all": pairs,
    }
    for name, some in rows.items():
        if not some:
            continue
        ungrouped, grouped = [one for one, _ in some], [two for _, two in some]
        at_few, at_several = recalls(ungrouped, few), recalls(ungrouped, several)
        by_session = recalls(grouped, several)
        wide = [asks_for_several(each.question.text) for each in ungrouped]
        chosen = [more if take else less for take, more, less in zip(wide, at_several, at_few, strict=True)]
        means = (float(np.mean(each)) for each in (at_few, at_several, by_session, chosen))
        table.add(name, str(len(some)), *map(percent, means), ahead(difference(by_session, at_several)))
    return table.text()


def percent(value: float) -> str:
    """0.8249 -> 82.5."""
    return f"{100 * value:.1f}"


def between(of: Interval) -> str:
    """80.1-84.9, in percent."""
    return f"{100 * of.low:.1f}-{100 * of.high:.1f}"


def ahead(of: Interval) -> str:
    """+3.2 (+1.1 to +5.2), in points."""
    return f"{100 * of.mean:+.1f} ({100 * of.low:+.1f} to {100 * of.high:+.1f})"

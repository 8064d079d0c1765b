"""How much of a tuning is luck: settings tuned on all conversations against settings tuned on the others alone.

Whatever is tuned fits what it was tuned on. Leaving one conversation out, tuning on the rest and asking about the one
left out tells what a tuning is worth where nobody has tuned; the difference to tuning on everything is what does not
survive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _ranking_scores import Interval, difference, interval, recall, reciprocal_rank
from _retrieval_configurations import Configuration
from _retrieval_table import Table, ahead, between, percent

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _retrieval_runs import Outcome
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The settings with the most to say, each at what it is and on either side of that.
GRID = ("late_weight=1,1.3,1.6", "speaker_weight=0.15,0.25,0.4", "window_decay=0.75,0.85")


#: The ways of tuning, as people read them.
WAYS = {
    "untuned (the defaults)": "untuned",
    "tuned on all, asked on all": "on_all",
    "tuned on the others, asked on the left out": "left_out",
    "does not survive: tuned on all minus left out": "lost",
    "tuning is worth: left out minus the defaults": "gained",
}
#: What is told of each way of tuning; a tuning is judged by `objective`.
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "R@5": lambda each: recall(each.places, 5),
    "R@10": lambda each: recall(each.places, 10),
    "MRR": lambda each: reciprocal_rank(each.places),
}


@dataclass(frozen=True, slots=True)
class Survival:
    """A measure by way of tuning. Paired by question, `lost` is all minus left out, `gained` left out minus untuned."""

    untuned: Interval
    on_all: Interval
    left_out: Interval
    lost: Interval
    gained: Interval


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was `chosen` where, and what came of it by the names of `MEASURES`."""

    chosen: Mapping[str, str]
    survival: Mapping[str, Survival]


def grid(named: Sequence[str]) -> list[Configuration]:
    """Every combination of ``setting=value,value``. Raises InvalidInput for what is not written so."""
    axes = []
    for each in named or GRID:
        name, _, values = each.partition("=")
        try:
            axes.append([(name.strip(), float(value)) for value in values.split(",")])
        except ValueError as error:
            raise InvalidInput(f"cannot read {each!r}", hint="write setting=0.5,1,2") from error
    return [
        Configuration(", ".join(f"{name}={value:g}" for name, value in point), settings=dict(point))
        for point in itertools.product(*axes)
    ]


def objective(outcomes: Sequence[Outcome]) -> Floats:
    """What a tuning is judged by, for each question: Recall@10 plus reciprocal rank, 0..2."""
    return _measured(outcomes, "R@10") + _measured(outcomes, "MRR")


def survival(tried: Mapping[str, Sequence[Outcome]], untuned: Sequence[Outcome]) -> Tuning:
    """Tune on all conversations and with each left out; of equals the first that was tried."""
    conversation = np.array([each.conversation for each in untuned])
    scores = {name: objective(outcomes) for name, outcomes in tried.items()}
    on_all = max(scores, key=lambda name: scores[name].mean())
    chosen = {"all": on_all}
    winner = np.empty(len(conversation), dtype=object)
    for left_out in dict.fromkeys(conversation.tolist()):
        there = conversation == left_out
        best = max(scores, key=lambda name: scores[name][~there].mean())
        chosen[f"all but {left_out}"] = best
        winner[there] = best
    held_out = [tried[name][row] for row, name in enumerate(winner.tolist())]
    found = {}
    for measure in MEASURES:
        ours, asked, left = (_measured(each, measure) for each in (untuned, tried[on_all], held_out))
        found[measure] = Survival(
            untuned=interval(ours),
            on_all=interval(asked),
            left_out=interval(left),
            lost=difference(asked, left),
            gained=difference(left, ours),
        )
    return Tuning(chosen, found)


def _measured(outcomes: Sequence[Outcome], measure: str) -> Floats:
    return np.array([MEASURES[measure](each) for each in outcomes], dtype=np.float64)


def survival_table(of: Tuning, *, markdown: bool) -> str:
    """What was reached, what is left of it, and which settings won where; all in percent."""
    table = Table(["", *(cell for measure in MEASURES for cell in (measure, "95 %"))], markdown=markdown)
    paired = Table(["paired by question, in points", *MEASURES], markdown=markdown)
    for name, way in WAYS.items():
        told = [getattr(each, way) for each in of.survival.values()]
        if way in ("lost", "gained"):
            paired.add(name, *(ahead(each) for each in told))
        else:
            table.add(name, *(cell for each in told for cell in (percent(each.mean), between(each))))
    chosen = Table(["tuned on", "won"], markdown=markdown)
    for where, name in of.chosen.items():
        chosen.add(where, name)
    return "\n\n".join([table.text(), paired.text(), chosen.text()])

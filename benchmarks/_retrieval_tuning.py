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
from _ranking_scores import Interval, difference, interval
from _retrieval_configurations import Configuration
from _retrieval_table import AT, Table, ahead, between, percent, recalls

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _retrieval_runs import Outcome

#: The settings with the most to say, each at what it is and on either side of that.
GRID = ("dense_weight=0.7,1,1.4", "speaker_weight=0,0.15,0.3", "window_decay=0.5,0.7,0.9")


@dataclass(frozen=True, slots=True)
class Survival:
    """Recall@10 by way of tuning; `lost` is all minus left out, `gained` left out minus untuned, paired by question."""

    untuned: Interval
    on_all: Interval
    left_out: Interval
    lost: Interval
    gained: Interval
    chosen: Mapping[str, str]


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


def survival(tried: Mapping[str, Sequence[Outcome]], untuned: Sequence[Outcome]) -> Survival:
    """Tune by Recall@10, on all conversations and with each left out; of equals the first that was tried."""
    conversation = np.array([each.conversation for each in untuned])
    scores = {name: np.array(recalls(outcomes)) for name, outcomes in tried.items()}
    on_all = max(scores, key=lambda name: scores[name].mean())
    chosen = {"all": on_all}
    held_out = np.zeros(len(conversation))
    for left_out in dict.fromkeys(conversation.tolist()):
        there = conversation == left_out
        best = max(scores, key=lambda name: scores[name][~there].mean())
        chosen[f"all but {left_out}"] = best
        held_out[there] = scores[best][there]
    return Survival(
        untuned=interval(recalls(untuned)),
        on_all=interval(scores[on_all]),
        left_out=interval(held_out),
        lost=difference(scores[on_all], held_out),
        gained=difference(held_out, recalls(untuned)),
        chosen=chosen,
    )


def survival_table(of: Survival, *, markdown: bool) -> str:
    """What was reached, what is left of it, and which settings won where."""
    table = Table(["", f"R@{AT}", "95 %"], markdown=markdown)
    table.add("untuned (the defaults)", percent(of.untuned.mean), between(of.untuned))
    table.add("tuned on all, asked on all", percent(of.on_all.mean), between(of.on_all))
    table.add("tuned on the others, asked on the one left out", percent(of.left_out.mean), between(of.left_out))
    chosen = Table(["tuned on", "won"], markdown=markdown)
    for where, name in of.chosen.items():
        chosen.add(where, name)
    return "\n\n".join(
        [
            table.text(),
            f"does not survive, tuned on all minus left out, paired: {ahead(of.lost)} points",
            f"tuning is worth, left out minus the defaults, paired: {ahead(of.gained)} points",
            chosen.text(),
        ]
    )

"""Why: the grounds of what a question found, which often share no word with it.

"Why did we choose SQLite?" finds the decision; what led to it may speak of servers and outages. So for a question
that asks for causes, what the two best notes rest on (see ``amem.retrieval.ancestors``) competes with what was found
directly. A cause answers such a question as well as what it caused, and stands one step behind it.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING

from amem.retrieval.ancestors import DEPTH, resting, surety, walk
from amem.retrieval.expand import Reached, best
from amem.retrieval.explanation import Via

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from amem.note import Link
    from amem.storage import Session

SEEDS = 2
#: What a step back costs, so that a chain of causes is told in its order.
_STEP = 0.95
#: Nobody gives more than a few reasons: where a note rests on more, each gets a part of what three would.
_GROUNDS = 3
_MOST = 80


def causes(
    session: Session,
    direct: Mapping[str, float],
    passing: Callable[[Iterable[str]], set[str]],
    *,
    least: float = 0.0,
) -> dict[str, Reached]:
    """What the best two of `direct` ({id: relevance}) rest on, by id, up to five links back.

    Only notes that `passing` lets through are listed, each when it is worth more than what it is itself and at least
    `least`. The way may lead over others: that a cause was superseded does not undo what caused that.
    """
    found: dict[str, Reached] = {}
    for seed in best(direct, SEEDS):
        ways = walk(session, seed, DEPTH, most=_MOST)
        grounds = Counter(resting(way.path[-1]) for way in ways.values())
        for id, way in ways.items():
            worth = direct[seed]
            for link in way.path:
                worth *= _STEP * surety(link) * sqrt(min(1.0, _GROUNDS / grounds[resting(link)]))
            if worth >= least and worth > max(direct.get(id, 0.0), found[id].relevance if id in found else 0.0):
                found[id] = Reached(worth, _via(way.path))
    allowed = passing(found)
    return {id: way for id, way in found.items() if id in allowed}


def _via(path: tuple[Link, ...]) -> tuple[Via, ...]:
    steps = [Via(resting(link), str(link.type), hop, link.reason) for hop, link in enumerate(path, start=1)]
    return tuple(reversed(steps))

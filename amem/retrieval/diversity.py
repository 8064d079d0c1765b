"""Ten ways of saying one thing must not fill ten places: maximal marginal relevance over the best candidates.

Carbonell & Goldstein, SIGIR 1998: each place goes to the note with the greatest ``lambda * worth - (1 - lambda) *
likeness``, where worth is its score as a share of the best score, and likeness the greatest cosine to a note that has
its place already. The setting `diversity` is ``1 - lambda``. Only the order changes: a note keeps its score, which
says how well it answers by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from amem.labels import short_id
from amem.retrieval.explanation import ordinal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.retrieval.protocols import DenseIndex
    from amem.retrieval.ranking import Ranked

_POOL = 30
#: From this cosine on two notes are said to say the same; below they are only alike.
_REPEATS = 0.8


@dataclass(frozen=True, slots=True)
class Place:
    """Who takes a place: the row it had by score; the row above it that it is most like (-1: none), and how much so."""

    row: int
    like: int
    likeness: float


def pool(k: int) -> int:
    """How many of the best candidates compete for k places: with fewer there is little to choose from."""
    return max(3 * k, _POOL)


def spaced(
    dense: DenseIndex, order: Sequence[Ranked], k: int, diversity: float, least: float | None = None
) -> list[Ranked]:
    """The notes, best first, with the best of them in a more varied order for k places; whoever lost one knows to whom.

    None that scores below `least`, and so is no answer, takes a place from one. Where `diversity` is 0 nothing is
    looked up, and the order is as given.
    """
    competing = sum(least is None or each.score >= least for each in order[: pool(k)])
    head, rest = list(order[:competing]), list(order[competing:])
    if diversity <= 0 or len(head) < 2:
        return [*head, *rest]
    vectors = dense.vectors(np.array([each.key for each in head], dtype=np.int64))
    # By the best: how high scores are is the question's doing, and must not decide how much repetition costs.
    worth = np.array([each.score for each in head]) / (head[0].score or 1.0)
    placed: list[Ranked] = []
    for place, chosen in enumerate(diversified(worth, vectors, diversity)):
        each = head[chosen.row]
        if place > chosen.row and chosen.like >= 0:
            like = "repeats" if chosen.likeness >= _REPEATS else "is like"
            note = f"moved down from {ordinal(chosen.row + 1)} place: {like} {short_id(head[chosen.like].id)}"
            each = replace(each, notes=(*each.notes, f"{note} (cosine {chosen.likeness:.2f})"))
        placed.append(each)
    return placed + rest


def diversified(worth: NDArray[np.float64], vectors: NDArray[np.float32], diversity: float) -> list[Place]:
    """A new order of these notes, of which the first keeps its place.

    `worth` (0..1) is best first; `vectors` are L2-normalised rows, of nan for a note without one, which is like no
    other. `diversity` 0 keeps the order, 1 asks for nothing but difference. Equal values keep their order.
    """
    count = len(worth)
    held = np.nan_to_num(vectors.astype(np.float64), nan=0.0)
    # Rounded, since a sum of products depends in its last digits on how the machine adds it up.
    likeness = np.round(np.clip(held @ held.T, 0.0, 1.0), 6)
    nearest, who = np.zeros(count), np.full(count, -1)
    waiting = np.ones(count, dtype=np.bool_)
    order: list[Place] = []
    for _ in range(count):
        value = np.where(waiting, (1.0 - diversity) * worth - diversity * nearest, -np.inf)
        row = int(np.argmax(np.round(value, 12)))
        order.append(Place(row, int(who[row]), float(nearest[row])))
        waiting[row] = False
        nearer = likeness[row] > nearest
        nearest[nearer], who[nearer] = likeness[row][nearer], row
    return order

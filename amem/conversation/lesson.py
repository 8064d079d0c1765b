"""What is learnt from in one go, and what came of it: plain values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.receipt import Cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.message import Message
    from amem.note import Enrichment
    from amem.receipt import Queued, Receipt


@dataclass(frozen=True, slots=True)
class Lot:
    """Stored messages that are learnt from together, with their sources' ids and ordinals.

    `note` is their episode's, whose job `owner` holds; without one nobody else can be learning from them.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    ordinals: tuple[int, ...]
    conversation: str
    note: str | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What came of one lot. `error` says why the analyst asked for could not do it; then the rules did."""

    analyst: str
    enrichment: Enrichment
    receipts: tuple[Receipt, ...] = ()
    updated: tuple[str, ...] = ()
    queued: tuple[Queued, ...] = ()
    dropped: tuple[str, ...] = ()
    error: str | None = None
    cost: Cost = field(default_factory=Cost)


def sum_of(costs: Sequence[Cost], *, seconds: float) -> Cost:
    """What several things cost together, in so many seconds."""
    rungs: Counter[str] = Counter()
    for cost in costs:
        rungs.update(cost.rungs)
    return Cost(
        sum(cost.calls for cost in costs),
        sum(cost.tokens_in for cost in costs),
        sum(cost.tokens_out for cost in costs),
        sum(cost.embedded for cost in costs),
        seconds,
        dict(rungs),
    )

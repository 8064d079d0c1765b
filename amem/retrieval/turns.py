"""What was said next to a hit: turns of one conversation, up to an hour apart, count as linked.

A turn that asks is half of an exchange. It names the subject; the reply, which tells what is wanted, often does not
("Three weeks!"). So a reply is read with its question in any search: half of what the question is worth more than the
reply counts for the reply. Other neighbours say no more than links do, and come in where links do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.retrieval.expand import Reached
from amem.retrieval.explanation import Via

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.retrieval.gate import Gate
    from amem.retrieval.legs import Asked

#: How much of what a question is worth more than its reply counts for the reply: it is half of the exchange.
_REPLY = 0.5
#: How much of a hit's relevance passes to the turn before or after it: less than by a link, which somebody drew.
_BESIDE = 0.5
_ASKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The turn `key`, said right before or after the one with the key `hit`; `replies` when it answers that."""

    hit: int
    key: int
    after: bool
    replies: bool


def neighbours(asked: Asked, hits: Sequence[int]) -> list[Neighbour]:
    """The turns next to these notes that may answer."""
    session, gate = asked.session, asked.gate
    near = asked.talk.around(hits)
    near = near.where(np.abs(near.steps) == 1)
    rows = list(zip(near.keys.tolist(), near.neighbours.tolist(), near.steps.tolist(), strict=True))
    allowed = set(gate.admit(there for _, there, _ in rows))
    rows = [row for row in rows if row[1] in allowed]
    said = session.notes.columns([key for row in rows for key in row[:2]], ["content", "speaker"]) if rows else {}
    return [
        Neighbour(here, there, step > 0, step > 0 and _answers(said[here], said[there])) for here, there, step in rows
    ]


def replied(
    gate: Gate, near: Iterable[Neighbour], direct: Mapping[int, float], own: Callable[[int], float]
) -> dict[str, Reached]:
    """What replies to a hit that asks, by id; `direct` is the hits' relevance by key, `own` that of any note."""
    found: dict[str, Reached] = {}
    for each in near:
        if each.replies and direct[each.hit] > (itself := own(each.key)):
            _offer(found, gate, each, itself + _REPLY * (direct[each.hit] - itself))
    return found


def next_to(gate: Gate, near: Iterable[Neighbour], direct: Mapping[int, float]) -> dict[str, Reached]:
    """The turns before and after a hit, by id, each when that is worth more than what it is itself."""
    found: dict[str, Reached] = {}
    for each in near:
        if (worth := _BESIDE * direct[each.hit]) > direct.get(each.key, 0.0):
            _offer(found, gate, each, worth)
    return found


def _answers(question: tuple[str, str | None], reply: tuple[str, str | None]) -> bool:
    """Whether the second of two turns may answer the first: that asks, and nobody replies to themselves."""
    (asked, asker), (_, speaker) = question, reply
    return any(mark in asked for mark in _ASKS) and (asker is None or asker != speaker)


def _offer(found: dict[str, Reached], gate: Gate, near: Neighbour, worth: float) -> None:
    id = gate.rows[near.key].id
    if id not in found or worth > found[id].relevance:
        found[id] = Reached(worth, (Via(gate.rows[near.hit].id, "next" if near.after else "previous", 1),))

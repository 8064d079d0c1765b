"""Link expansion: what the best direct hits are linked to, scored on the same scale as the hits themselves.

A neighbour is worth its hit's relevance times, for each link on the way, a factor for the link's type and the link's
confidence, weighed by use. A note is then worth the better of what it is itself and what its best link is worth: many
links of a well-connected note do not add up. Links of one kind share what their note passes on (the fan effect,
Anderson 1974): one of thirty says less of the question than the only one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, TypeVar

from amem.note import LinkType
from amem.retrieval.ancestors import surety
from amem.retrieval.explanation import Via

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from amem.storage import Session
    from amem.storage.links import Tie

Name = TypeVar("Name", str, int)

#: How much of a hit's relevance passes along a link, in either direction: the tighter the tie, the more. What is merely
#: related is mostly alike, which the dense leg has seen; what is a part speaks of the same; the others are about the
#: very claim that the hit makes.
FACTORS: Mapping[LinkType, float] = {
    LinkType.RELATED: 0.6,
    LinkType.PART_OF: 0.7,
    LinkType.CONTRADICTS: 0.8,
    LinkType.SUPERSEDES: 0.8,
    LinkType.SUPPORTS: 0.8,
    LinkType.CAUSED_BY: 0.8,
    LinkType.DERIVED_FROM: 0.8,
}
SEEDS = 10
_HOPS = 2
#: A note with more links of a kind passes less than a tenth on along each, which is never worth looking up.
_FAN = 100


@dataclass(frozen=True, slots=True)
class Reached:
    """A note as links see it: the relevance that came to it, and the way, nearest link first."""

    relevance: float
    via: tuple[Via, ...]


def spread(
    session: Session,
    direct: Mapping[str, float],
    passing: Callable[[Iterable[str]], set[str]],
    *,
    least: float = 0.0,
    seeds: int = SEEDS,
    hops: int = _HOPS,
) -> dict[str, Reached]:
    """What the best `seeds` of `direct` ({id: relevance}) reach within `hops` links, by id.

    Only notes that `passing` lets through are reached or passed on from. A note is listed when its best way is worth
    more than what it is itself, and at least `least`; ways that cannot be are not followed.
    """
    strongest = max(FACTORS.values())
    frontier = {id: Reached(direct[id], ()) for id in best(direct, seeds)}
    found: dict[str, Reached] = {}
    for hop in range(1, hops + 1):
        frontier = {id: held for id, held in frontier.items() if held.relevance * strongest >= least}
        if not frontier:
            break
        offers = _offers(session.links.ties(list(frontier), most=_FAN), frontier, hop)
        fresh = {
            id: offer
            for id, offer in offers.items()
            if offer.relevance >= least
            and offer.relevance > max(direct.get(id, 0.0), found[id].relevance if id in found else 0.0)
        }
        allowed = passing(fresh)
        frontier = {id: offer for id, offer in fresh.items() if id in allowed}
        found |= frontier
    return found


def best(direct: Mapping[Name, float], count: int) -> list[Name]:
    """The `count` most relevant, by id or key, best first."""
    return sorted(direct, key=lambda name: (-direct[name], name))[:count]


def better(*ways: Mapping[str, Reached]) -> dict[str, Reached]:
    """For each note the best of the ways to it."""
    found: dict[str, Reached] = {}
    for each in ways:
        for id, way in each.items():
            if id not in found or way.relevance > found[id].relevance:
                found[id] = way
    return found


def _offers(ties: Iterable[Tie], frontier: Mapping[str, Reached], hop: int) -> dict[str, Reached]:
    offers: dict[str, Reached] = {}
    for tie in ties:
        here, there, link = tie.here, tie.there, tie.link
        worth = frontier[here].relevance * FACTORS[link.type] * surety(link) / sqrt(tie.fan)
        if here != there and (there not in offers or worth > offers[there].relevance):
            step = Via(here, str(link.type), hop, link.reason)
            offers[there] = Reached(worth, (step, *frontier[here].via))
    return offers

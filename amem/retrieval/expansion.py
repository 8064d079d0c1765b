"""Expand hits by links, by the turns beside them and by causes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar

from amem import checks
from amem.note import Link, LinkType, MemoryNote, Status, plain_fields
from amem.query import DEPTH
from amem.retrieval.explanation import Via

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.retrieval.legs import Asked
    from amem.retrieval.ranking import EligibleNotes
    from amem.storage.links import Tie
    from amem.storage.store import Session


# What a note rests on: what caused it, what it was derived from, what supports it, and what those rest on in turn.
#
# Links are walked breadth first against the flow of reasons: ``caused_by`` and ``derived_from`` from their source to
# their target, ``supports`` from its target to its source.

#: How a link reads from the note that rests on the other, for people.
READS: Mapping[LinkType, str] = {
    LinkType.CAUSED_BY: "caused by",
    LinkType.DERIVED_FROM: "derived from",
    LinkType.SUPPORTS: "supported by",
}


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A note that another rests on, `hop` links away by the shortest way.

    `path` holds the links of that way, from the note that was asked about to this one; `also` further links to it from
    notes on the way. `note` is None where a link points to a note that does not exist (yet).
    """

    id: str
    path: tuple[Link, ...]
    also: tuple[Link, ...]
    note: MemoryNote | None

    @property
    def hop(self) -> int:
        """How many links away it is, from 1."""
        return len(self.path)

    @property
    def link(self) -> Link:
        """The last link of the way, which ends at this note."""
        return self.path[-1]

    @property
    def before(self) -> str:
        """The id of the note that rests on this one directly."""
        return resting(self.link)

    @property
    def reason(self) -> str:
        """Why that one does, in the words of whoever made the link."""
        return self.link.reason

    @property
    def superseded(self) -> bool:
        """Whether a newer note has taken its place."""
        return self.note is not None and self.note.status is Status.SUPERSEDED

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        note = self.note
        return {
            "id": self.id,
            "hop": self.hop,
            "status": "missing" if note is None else str(note.status),
            "superseded_by": None if note is None else note.superseded_by,
            "kind": None if note is None else str(note.kind),
            "at": None if note is None or note.at is None else note.at.isoformat(),
            "content": None if note is None else note.content,
            "path": [_step(link) for link in self.path],
            "also": [_step(link) for link in self.also],
        }


def resting(link: Link) -> str:
    """The id of the end of a link that rests on the other."""
    return link.target if link.type is LinkType.SUPPORTS else link.source


def ground(link: Link) -> str:
    """The id of the end of a link that the other rests on."""
    return link.source if link.type is LinkType.SUPPORTS else link.target


def ancestors(session: Session, id: str, depth: int = DEPTH) -> list[Ancestor]:
    """The notes that a note rests on, nearest first, within a hop by the surest link; each once.

    Deleted notes are left out, and so is what only they lead to. Raises NoteNotFound; InvalidInput for a depth that is
    no whole number of at least 0.
    """
    checks.whole("depth", depth, least=0)
    session.notes.existing(id)
    walked = walk(session, id, depth)
    if foreign := walked.keys() - session.notes.within_scope(walked):
        walked = {
            each: way for each, way in walked.items() if not foreign & {each, *(ground(link) for link in way.path)}
        }
    notes = session.notes.get_many(list(walked), history=False)
    return [Ancestor(each, way.path, tuple(way.also), notes.get(each)) for each, way in walked.items()]


@dataclass(slots=True)
class Way:
    """How a note is reached: the links from the starting note to it, and other links to it that were met."""

    path: tuple[Link, ...]
    also: list[Link]


def walk(session: Session, start: str, depth: int, *, most: int | None = None) -> dict[str, Way]:
    """The ways to all that a note rests on, by id, nearest first; `most` stops it once that many are found."""
    found: dict[str, Way] = {}
    frontier = [start]
    for _ in range(depth):
        fresh: list[str] = []
        places = {id: place for place, id in enumerate(frontier)}
        links = session.links.behind(frontier, most=most)
        for link in sorted(
            links, key=lambda each: (places[resting(each)], -effective_confidence(each), each.at, ground(each))
        ):
            here, there = resting(link), ground(link)
            if there in found:
                found[there].also.append(link)
            elif there != start:
                found[there] = Way((*(found[here].path if here in found else ()), link), [])
                fresh.append(there)
                if len(found) == most:
                    return found
        if not fresh:
            break
        frontier = fresh
    return found


def effective_confidence(link: Link) -> float:
    """How far a link is relied on, 0..1: its confidence, weighed by use."""
    return min(1.0, max(0.0, link.confidence * link.weight))


def _step(link: Link) -> dict[str, Any]:
    return {"from": resting(link), "to": ground(link), **plain_fields(link, "source", "target", "at", "weight")}


# Link expansion: what the best direct hits are linked to, scored on the same scale as the hits themselves.
#
# A neighbour is worth its hit's relevance times, for each link on the way, a factor for the link's type and the
# link's confidence, weighed by use. A note is then worth the better of what it is itself and what its best link is
# worth: many links of a well-connected note do not add up. Links of one kind share what their note passes on (the fan
# effect, Anderson 1974): one of thirty says less of the question than the only one.

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
class Lift:
    """The relevance that links give a note, and the way, nearest link first."""

    relevance: float
    via: tuple[Via, ...]


def spread(
    session: Session,
    direct: Mapping[str, float],
    passing: Callable[[Iterable[str]], set[str]],
    *,
    least: float = 0.0,
) -> dict[str, Lift]:
    """The notes within two links of the best `SEEDS` of `direct` ({id: relevance}), by id.

    Only notes that `passing` lets through are reached or passed on from. A note is listed when its best way is worth
    more than what it is itself, and at least `least`; ways that cannot be are not followed.
    """
    strongest = max(FACTORS.values())
    frontier = {id: Lift(direct[id], ()) for id in best(direct, SEEDS)}
    found: dict[str, Lift] = {}
    for hop in range(1, _HOPS + 1):
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


def better(*ways: Mapping[str, Lift]) -> dict[str, Lift]:
    """For each note the best of the ways to it."""
    found: dict[str, Lift] = {}
    for each in ways:
        for id, way in each.items():
            if id not in found or way.relevance > found[id].relevance:
                found[id] = way
    return found


def _offers(ties: Iterable[Tie], frontier: Mapping[str, Lift], hop: int) -> dict[str, Lift]:
    offers: dict[str, Lift] = {}
    for tie in ties:
        here, there = tie.here, tie.there
        worth = frontier[here].relevance * FACTORS[tie.type] * tie.effective_confidence / sqrt(tie.fan)
        if here != there and (there not in offers or worth > offers[there].relevance):
            step = Via(here, str(tie.type), hop, tie.reason)
            offers[there] = Lift(worth, (step, *frontier[here].via))
    return offers


# What was said next to a hit: turns of one conversation, up to an hour apart, count as linked.
#
# A turn that asks is half of an exchange. It names the subject; the reply, which tells what is wanted, often does not
# ("Three weeks!"). So a reply is read with its question in any search: half of what the question is worth more than
# the reply counts for the reply. Other neighbours say no more than links do, and come in where links do.

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
    session, eligible = asked.session, asked.eligible
    near = asked.window.around(hits)
    near = near.where(abs(near.steps) == 1)
    rows = list(zip(near.keys.tolist(), near.neighbours.tolist(), near.steps.tolist(), strict=True))
    allowed = set(eligible.passing(there for _, there, _ in rows))
    rows = [row for row in rows if row[1] in allowed]
    eligible.rows({key for row in rows for key in row[:2]})
    said = session.notes.columns([key for row in rows for key in row[:2]], ["content", "speaker"]) if rows else {}
    return [
        Neighbour(here, there, step > 0, step > 0 and _answers(said[here], said[there])) for here, there, step in rows
    ]


def replied(
    eligible: EligibleNotes, near: Iterable[Neighbour], direct: Mapping[int, float], own: Callable[[int], float]
) -> dict[str, Lift]:
    """The replies to hits that ask, by id; `direct` is the hits' relevance by key, `own` that of any note."""
    found: dict[str, Lift] = {}
    for each in near:
        if each.replies and direct[each.hit] > (itself := own(each.key)):
            _offer(found, eligible, each, itself + _REPLY * (direct[each.hit] - itself))
    return found


def next_to(eligible: EligibleNotes, near: Iterable[Neighbour], direct: Mapping[int, float]) -> dict[str, Lift]:
    """The turns before and after a hit, by id, each when that is worth more than what it is itself."""
    found: dict[str, Lift] = {}
    for each in near:
        if (worth := _BESIDE * direct[each.hit]) > direct.get(each.key, 0.0):
            _offer(found, eligible, each, worth)
    return found


def _answers(question: tuple[str, str | None], reply: tuple[str, str | None]) -> bool:
    """Whether the second of two turns may answer the first: that asks, and nobody replies to themselves."""
    (asked, asker), (_, speaker) = question, reply
    return any(mark in asked for mark in _ASKS) and (asker is None or asker != speaker)


def _offer(found: dict[str, Lift], eligible: EligibleNotes, near: Neighbour, worth: float) -> None:
    rows = eligible.rows((near.key, near.hit))
    id = rows[near.key].id
    if id not in found or worth > found[id].relevance:
        found[id] = Lift(worth, (Via(rows[near.hit].id, "next" if near.after else "previous", 1),))


# Why: the grounds of what a question found, which often share no word with it.
#
# "Why did we choose SQLite?" finds the decision; what led to it may speak of servers and outages. So for a question
# that asks for causes, what the two best notes rest on (see ``amem.retrieval.expansion``) competes with what was
# found directly. A cause answers such a question as well as what it caused, and stands one step behind it.

CAUSE_SEEDS = 2
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
) -> dict[str, Lift]:
    """The notes that the best two of `direct` ({id: relevance}) rest on, by id, up to five links back.

    Only notes that `passing` lets through are listed, each when it is worth more than what it is itself and at least
    `least`. The way may lead over others: that a cause was superseded does not undo what caused that.
    """
    found: dict[str, Lift] = {}
    for seed in best(direct, CAUSE_SEEDS):
        ways = walk(session, seed, DEPTH, most=_MOST)
        grounds = Counter(resting(way.path[-1]) for way in ways.values())
        for id, way in ways.items():
            worth = direct[seed]
            for link in way.path:
                worth *= _STEP * effective_confidence(link) * sqrt(min(1.0, _GROUNDS / grounds[resting(link)]))
            if worth >= least and worth > max(direct.get(id, 0.0), found[id].relevance if id in found else 0.0):
                steps = [Via(resting(link), str(link.type), hop, link.reason) for hop, link in enumerate(way.path, 1)]
                found[id] = Lift(worth, tuple(reversed(steps)))
    allowed = passing(found)
    return {id: way for id, way in found.items() if id in allowed}

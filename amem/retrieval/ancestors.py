"""What a note rests on: what caused it, what it was derived from, what supports it, and what those rest on in turn.

Links are walked breadth first against the flow of reasons: ``caused_by`` and ``derived_from`` from their source to
their target, ``supports`` from its target to its source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput, NoteNotFound
from amem.note import LinkType, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.note import Link, MemoryNote
    from amem.storage import Session

DEPTH = 5
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
    """What the note rests on, nearest first, and within a hop by the surest link; each once, however many ways lead.

    Deleted notes are left out, and so is what only they lead to. Raises NoteNotFound; InvalidInput for a depth that is
    no whole number of at least 0.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise InvalidInput(f"depth must be a whole number of at least 0, not {depth!r}")
    if session.notes.get_many([id], history=False, usage=False).get(id) is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
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
        for link in sorted(links, key=lambda each: (places[resting(each)], -surety(each), each.at, ground(each))):
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


def surety(link: Link) -> float:
    """How far a link is relied on, 0..1: its confidence, weighed by use."""
    return min(1.0, max(0.0, link.confidence * link.weight))


def _step(link: Link) -> dict[str, Any]:
    return {
        "from": resting(link),
        "to": ground(link),
        "type": str(link.type),
        "reason": link.reason,
        "confidence": link.confidence,
        "made_by": link.made_by,
    }

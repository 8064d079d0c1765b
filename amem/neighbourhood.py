"""The local graph around a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, NoteNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.note import Link, MemoryNote
    from amem.storage import Session


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Notes around `centre`: `notes` by id (the centre included), how many links away each is, the links among them."""

    centre: str
    notes: Mapping[str, MemoryNote]
    hops: Mapping[str, int]
    links: tuple[Link, ...]


def walk(session: Session, id: str, depth: int) -> Neighbourhood:
    """Follow links in either direction up to `depth` steps. Raises NoteNotFound; InvalidInput for a negative depth."""
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise InvalidInput(f"depth must be a whole number of at least 0, not {depth!r}")
    if session.notes.get_many([id], history=False).get(id) is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    hops = {id: 0}
    frontier = [id]
    for hop in range(1, depth + 1):
        ends = {end for link in session.links.around(frontier) for end in (link.source, link.target)}
        frontier = sorted(ends - hops.keys())
        hops |= dict.fromkeys(frontier, hop)
        if not frontier:
            break
    notes = session.notes.get_many(list(hops), history=False)
    links = [link for link in session.links.around(list(notes)) if {link.source, link.target} <= notes.keys()]
    return Neighbourhood(id, notes, {each: hop for each, hop in hops.items() if each in notes}, tuple(links))

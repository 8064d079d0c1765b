"""The local graph around a note: all of it, or as much as can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, NoteNotFound
from amem.note import LinkType
from amem.storage.links import Reached, among, beyond

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.note import Link, MemoryNote
    from amem.storage.note_lists import Card, Cards
    from amem.storage.store import Session


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Notes around `centre`: `notes` by id (the centre included), how many links away each is, the links among them."""

    centre: str
    notes: Mapping[str, MemoryNote]
    hops: Mapping[str, int]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class LocalGraph:
    """What is nearest to `centre`: `cards` by id, the centre first, then hop by hop and the closest tied first.

    `hops` says how many links away each is, `via` by which of the others it was reached (the centre by none), `links`
    are those among them. `left_out` counts by hop the notes there was no room for: neighbours of notes that are shown,
    so that what lies beyond those left out is not counted.
    """

    centre: str
    cards: Mapping[str, Card]
    hops: Mapping[str, int]
    via: Mapping[str, str]
    links: tuple[Link, ...]
    left_out: Mapping[int, int]


def walk(session: Session, id: str, depth: int) -> Neighbourhood:
    """Follow links in either direction up to `depth` steps, within the session's scope.

    Raises NoteNotFound; InvalidInput for a negative depth.
    """
    _checked("depth", depth, 0)
    if session.notes.get_many([id], history=False).get(id) is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    hops = {id: 0}
    frontier = [id]
    for hop in range(1, depth + 1):
        ends = {end for link in session.links.around(frontier) for end in (link.source, link.target)}
        frontier = sorted(session.notes.within_scope(ends - hops.keys()))
        hops |= dict.fromkeys(frontier, hop)
        if not frontier:
            break
    notes = session.notes.get_many(list(hops), history=False)
    links = [link for link in session.links.around(list(notes)) if {link.source, link.target} <= notes.keys()]
    return Neighbourhood(id, notes, {each: hop for each, hop in hops.items() if each in notes}, tuple(links))


def local_graph(
    session: Session, cards: Cards, id: str, depth: int, *, limit: int, types: Sequence[LinkType] | None = None
) -> LocalGraph:
    """At most `limit` notes within `depth` links of one, the centre among them, by links of these types (None for all).

    Nearer notes come first, but each hop leaves room for those beyond it: half of what is left, as long as they need
    it. Within a hop by type, confidence and time of the link, and in turn for each note they are linked to. Superseded
    and archived notes are shown, deleted ones and links to notes that do not exist are not. The same collection gives
    the same graph. Reads the links of the notes shown, and no note beside these: a hub of thousands costs no more than
    a look at its links. Raises NoteNotFound for a note that is not there or deleted; InvalidInput for a depth below 0
    or a limit below 1.
    """
    _checked("depth", depth, 0)
    _checked("limit", limit, 1)
    if session.notes.get_many([id], history=False, usage=False).get(id) is None:
        raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
    wanted = tuple(LinkType) if types is None else tuple(types)
    (centre,) = session.notes.keys_of([id]).values()
    chosen = {id: Reached("", id, centre)}
    hops = {id: 0}
    spare: dict[int, list[Reached]] = {}
    counted: dict[int, int] = {}
    frontier = [id]
    for hop in range(1, depth + 1):
        room = limit - len(chosen)
        behind = [each for each, at in hops.items() if at < hop - 1]
        found, counted[hop] = beyond(session, frontier, behind, types=wanted, most=room)
        taken = found[: room if hop == depth else -(-room // 2)]
        spare[hop] = found[len(taken) :]
        chosen |= {each.id: each for each in taken}
        hops |= {each.id: hop for each in taken}
        frontier = [each.id for each in taken]
        if not frontier:
            break
    # What the hops beyond did not need goes to the nearer ones after all.
    for hop, held in spare.items():
        for each in held:
            if len(chosen) < limit:
                chosen[each.id], hops[each.id] = each, hop
    order = {name: place for place, name in enumerate(chosen)}
    shown = sorted(chosen, key=lambda each: (hops[each], order[each]))
    read = {card.id: card for card in cards.of([chosen[each].key for each in shown])}
    return LocalGraph(
        centre=id,
        cards={each: read[each] for each in shown},
        hops={each: hops[each] for each in shown},
        via={each: chosen[each].via for each in shown[1:]},
        links=tuple(among(session, shown, wanted)),
        left_out={
            hop: more
            for hop, number in counted.items()
            if (more := number - sum(at == hop for at in hops.values())) > 0
        },
    )


def _checked(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {value!r}")

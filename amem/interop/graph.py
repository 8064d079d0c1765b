"""The note graph: as much of it around a note as can be looked at, and nodes and links as a picture takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from amem.errors import InvalidInput
from amem.labels import title
from amem.note import Kind, Link, LinkType, MemoryNote, Plain, Status
from amem.query import UNDELETED, Filter
from amem.storage.links import LinkedNote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.storage.note_lists import Card, Order, Shelf
    from amem.storage.store import Session


#: Most notes that a picture takes by default.
LIMIT = 500
#: A node's title is cut when it is longer, in characters.
TITLE = 60


class Readable(Protocol):
    """The part of a memory system that a graph is read from."""

    def graph(
        self, id: str, depth: int = 1, *, limit: int = 40, types: Sequence[LinkType] | None = None
    ) -> LocalGraph: ...

    def shelf(self, filter: Filter | None = None, *, starting: str = "", order: Order = "time") -> Shelf: ...

    def cards(self, shelf: Shelf, start: int, stop: int) -> list[Card]: ...

    def cards_of(self, ids: Sequence[str]) -> dict[str, Card]: ...

    def read_many(self, ids: Sequence[str]) -> dict[str, MemoryNote]: ...

    def links_among(self, ids: Sequence[str]) -> list[Link]: ...


@dataclass(frozen=True, slots=True)
class Node:
    """A note in a picture. `since` and `until` are when it holds, ISO 8601 in UTC; '' for `until` where it still does.

    `text` is the beginning of its content as it stands, `strength` (0 and up) what the forgetting curve makes of it,
    `topic` the name of the topic it belongs to, '' for none.
    """

    id: str
    title: str
    text: str
    kind: str
    layer: str
    status: str
    tags: tuple[str, ...]
    topic: str
    strength: float
    since: str
    until: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A link in a picture: read as "source <type> target"; `by` is its maker, `at` when it was made (ISO 8601)."""

    source: str
    target: str
    type: str
    reason: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class NoteGraph(Plain):
    """Notes and the links among them; a notebook shows it as a picture.

    `left_out` is how many notes there was no room for, `focus` the one in the centre, '' for none.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    focus: str = ""

    def __or__(self, other: NoteGraph) -> NoteGraph:
        """Both graphs as one; where both hold a note or link, as `other` has it."""
        nodes = {node.id: node for node in (*self.nodes, *other.nodes)}
        edges = {(edge.source, edge.target, edge.type): edge for edge in (*self.edges, *other.edges)}
        left_out = max(0, self.left_out - (len(nodes) - len(self.nodes)))
        return NoteGraph(tuple(nodes.values()), tuple(edges.values()), left_out, self.focus or other.focus)

    def at(self, moment: datetime) -> NoteGraph:
        """The graph as it was at a moment: notes that had begun by then; what ended later counts as standing."""
        then = iso(moment)
        nodes = [
            replace(node, status=str(Status.ACTIVE), until="") if node.until > then else node
            for node in self.nodes
            if node.since <= then
        ]
        held = {node.id for node in nodes}
        edges = tuple(edge for edge in self.edges if {edge.source, edge.target} <= held)
        return NoteGraph(tuple(nodes), edges, self.left_out, self.focus if self.focus in held else "")


def read_graph(
    memory: Readable, about: str | None = None, *, hops: int = 1, limit: int = LIMIT, filter: Filter | None = None
) -> NoteGraph:
    """The notes within `hops` links of `about`, or without it the strongest that pass the filter, at most `limit`.

    Without a filter everything but what was deleted. Raises NoteNotFound; InvalidInput for a filter beside `about`, a
    limit below 1 or hops below 0.
    """
    if about is not None:
        if filter is not None:
            raise InvalidInput("the graph around a note takes no filter", hint="leave out the note, or the filter")
        found = memory.graph(about, hops, limit=limit)
        return _graph(memory, found.cards, sum(found.left_out.values()), about)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"limit must be a whole number of at least 1, not {limit!r}")
    shelf = memory.shelf(UNDELETED if filter is None else filter, order="strength")
    cards = {card.id: card for card in memory.cards(shelf, 0, limit)}
    return _graph(memory, cards, max(0, len(shelf) - len(cards)), "")


def _graph(memory: Readable, cards: Mapping[str, Card], left_out: int, focus: str) -> NoteGraph:
    notes = memory.read_many(list(cards))
    links = memory.links_among(list(notes))
    topics = _topics(memory, notes, links)
    nodes = tuple(_node(cards[id], note, topics.get(id, "")) for id, note in notes.items())
    return NoteGraph(nodes, tuple(_edge(link) for link in links), left_out, focus)


def _topics(memory: Readable, notes: Mapping[str, MemoryNote], links: Iterable[Link]) -> dict[str, str]:
    pages = {id: title(note.content, TITLE) for id, note in notes.items() if note.kind is Kind.TOPIC}
    found = dict(pages)
    for link in links:
        if link.type in (LinkType.PART_OF, LinkType.DERIVED_FROM):
            for member, page in ((link.source, link.target), (link.target, link.source)):
                if page in pages:
                    found.setdefault(member, pages[page])
    return found


def _node(card: Card, note: MemoryNote, topic: str) -> Node:
    since = note.valid_from or note.at or card.recorded_at
    return Node(
        id=card.id,
        title=title(note.content, TITLE),
        text=card.text,
        kind=str(card.kind),
        layer=str(card.layer),
        status=str(card.status),
        tags=tuple(note.tags),
        topic=topic,
        strength=round(card.strength, 4),
        since=iso(since),
        until="" if note.valid_to is None else iso(note.valid_to),
        pinned=card.pinned,
    )


def _edge(link: Link) -> Edge:
    return Edge(link.source, link.target, str(link.type), link.reason, link.made_by, iso(link.at))


def iso(moment: datetime) -> str:
    """A moment in UTC, to the second, so that texts compare as times do."""
    from datetime import UTC

    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


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
    session.notes.existing(id)
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
    session: Session, id: str, depth: int, *, limit: int, types: Sequence[LinkType] | None = None
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
    session.notes.existing(id)
    wanted = tuple(LinkType) if types is None else tuple(types)
    centre = session.notes.key_of(id)
    chosen = {id: LinkedNote("", id, centre)}
    hops = {id: 0}
    spare: dict[int, list[LinkedNote]] = {}
    counted: dict[int, int] = {}
    frontier = [id]
    for hop in range(1, depth + 1):
        room = limit - len(chosen)
        behind = [each for each, at in hops.items() if at < hop - 1]
        found, counted[hop] = session.links.beyond(frontier, behind, types=wanted, most=room)
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
    read = {card.id: card for card in session.cards.of([chosen[each].key for each in shown])}
    return LocalGraph(
        centre=id,
        cards={each: read[each] for each in shown},
        hops={each: hops[each] for each in shown},
        via={each: chosen[each].via for each in shown[1:]},
        links=tuple(session.links.among(shown, wanted)),
        left_out={
            hop: more
            for hop, number in counted.items()
            if (more := number - sum(at == hop for at in hops.values())) > 0
        },
    )


def _checked(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {value!r}")

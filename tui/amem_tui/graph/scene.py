"""What a picture shows: nodes around a centre and the lines between them, made of notes or of topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.note import Kind, LinkType, Status
from amem_tui.phrases import GLYPHS, one_line, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.maintenance.topics.topic import TopicMap
    from amem.neighbourhood import LocalGraph
    from amem.storage.cards import Card

#: The node that stands for all notes without a topic. No note has this id.
LOOSE = "no topic"
#: Confidence from which a link is a strong one.
STRONG = 0.8
#: So many topics stand around the largest, the others around them.
_FIRST_RING = 8
#: Of each topic's ties so many are always drawn, one where topics are many: all of them would be a thicket.
_TIES_DRAWN, _MANY = 2, 12
#: Of a topic that is chosen so many are.
_TIES_KNOWN = 5


@dataclass(frozen=True, slots=True)
class Node:
    """`hop` is how far from the centre; `voice` is person, agent or machine; `more` counts links not drawn.

    `weight` is how many notes it stands for, where it stands for several.
    """

    id: str
    name: str
    glyph: str
    hop: int = 0
    voice: str = "machine"
    faded: bool = False
    pinned: bool = False
    more: int = 0
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A line; one without a type is so many links of any. A `quiet` one is drawn only from the node that is chosen.

    A `strong` one, which its maker was sure of, is drawn thick.
    """

    source: str
    target: str
    type: LinkType | None = None
    count: int = 1
    quiet: bool = False
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """`nodes` by id, the centre first; `via` says through which other each was reached."""

    centre: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    via: Mapping[str, str]


def scene_of(graph: LocalGraph) -> Scene:
    """The notes around one."""
    drawn = dict.fromkeys(graph.cards, 0)
    for link in graph.links:
        drawn[link.source] += 1
        drawn[link.target] += 1
    nodes = {
        id: Node(
            id=id,
            name=title(card.text),
            glyph=GLYPHS[card.kind],
            hop=graph.hops[id],
            voice=voice(card),
            faded=card.status is not Status.ACTIVE,
            pinned=card.pinned,
            more=max(0, card.links - drawn[id]),
        )
        for id, card in graph.cards.items()
    }
    edges = tuple(Edge(link.source, link.target, link.type, strong=link.confidence >= STRONG) for link in graph.links)
    return Scene(graph.centre, nodes, edges, graph.via)


def scene_of_topics(seen: TopicMap) -> Scene | None:
    """The topics of a collection around the largest, and the notes of none as one more; None without a topic."""
    if not seen.topics:
        return None
    nodes: dict[str, Node] = {}
    for place, topic in enumerate(seen.topics):
        hop = 0 if place == 0 else 1 if place <= _FIRST_RING else 2
        voice = "person" if topic.declared else "machine"
        nodes[topic.id] = Node(
            topic.id, one_line(topic.name), GLYPHS[Kind.TOPIC], hop=hop, voice=voice, weight=topic.notes
        )
    if seen.loose:
        hop = max(1, *(node.hop for node in nodes.values()))
        nodes[LOOSE] = Node(LOOSE, "in no topic", "·", hop=hop, faded=True, weight=seen.loose)
    drawn, known = _strongest(seen, _TIES_DRAWN if len(seen.topics) <= _MANY else 1), _strongest(seen, _TIES_KNOWN)
    order = list(nodes)
    ranked = sorted(drawn | known, key=lambda ends: sorted(order.index(id) for id in ends))
    edges = tuple(
        Edge(one, other, count=seen.ties[one, other], quiet=(one, other) not in drawn) for one, other in ranked
    )
    centre = seen.topics[0].id
    return Scene(centre, nodes, edges, _reached(nodes, edges, centre))


def voice(card: Card) -> str:
    """Who wrote a note: a person, a program that acts for one, or a machine that judges."""
    who = card.author.split(":")[0]
    return {"user": "person", "agent": "agent"}.get(who, "machine")


def _strongest(seen: TopicMap, most: int) -> set[tuple[str, str]]:
    """The ties by which each topic has most in common with so many others, for the size of both."""
    size = {topic.id: max(1, topic.notes) for topic in seen.topics}
    rank = {topic.id: place for place, topic in enumerate(seen.topics)}
    # Among equals the larger topics: ids of their notes say nothing, and would make another picture of the same.
    ties = sorted(
        seen.ties,
        key=lambda ends: (-seen.ties[ends] / (size[ends[0]] * size[ends[1]]), sorted(rank[id] for id in ends)),
    )
    return {ends for id in size for ends in [ends for ends in ties if id in ends][:most]}


def _reached(nodes: Mapping[str, Node], edges: tuple[Edge, ...], centre: str) -> dict[str, str]:
    """Each node beyond the first ring through the one of the ring before that it has most in common with."""
    via: dict[str, str] = {}
    for node in nodes.values():
        if node.id == centre:
            continue
        inner = [each.id for each in nodes.values() if each.hop == node.hop - 1]
        common = dict.fromkeys(inner, 0)
        for edge in edges:
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here == node.id and there in common:
                    common[there] += edge.count
        via[node.id] = max(inner, key=lambda id: common[id])
    return via

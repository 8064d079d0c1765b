"""What a picture shows: nodes around a centre and the lines between them, made of notes or of topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem.labels import counted
from amem.note import Kind, LinkType, Status
from amem_tui.formatting import GLYPHS, Author, author, command, one_line, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.interop.graph import LocalGraph
    from amem.maintenance.topic_notes import TopicMap
    from amem.memory_system import AgenticMemorySystem


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
    """`hop` is how far from the centre; `more` counts links not drawn; `weight` the notes it stands for, if several."""

    id: str
    name: str
    glyph: str
    hop: int = 0
    voice: Author = "machine"
    faded: bool = False
    pinned: bool = False
    more: int = 0
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A line; without a type so many links of any. A `quiet` one is drawn from a chosen node, a `strong` one thick."""

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
            voice=author(card.author),
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
        voice: Author = "person" if topic.declared else "machine"
        nodes[topic.id] = Node(topic.id, one_line(topic.name), GLYPHS[Kind.TOPIC], hop, voice, weight=topic.notes)
    if seen.loose:
        hop = max(1, *(node.hop for node in nodes.values()))
        nodes[LOOSE] = Node(LOOSE, "in no topic", "·", hop=hop, faded=True, weight=seen.loose)
    drawn, known = _strongest(seen, _TIES_DRAWN if len(seen.topics) <= _MANY else 1), _strongest(seen, _TIES_KNOWN)
    order = list(nodes)
    ranked = sorted(drawn | known, key=lambda ends: sorted(order.index(id) for id in ends))
    edges = tuple(Edge(*ends, count=seen.ties[ends], quiet=ends not in drawn) for ends in ranked)
    centre = seen.topics[0].id
    return Scene(centre, nodes, edges, _reached(nodes, edges, centre))


def _strongest(seen: TopicMap, most: int) -> set[tuple[str, str]]:
    """The ties by which each topic has most in common with so many others, for the size of both."""
    size = {topic.id: max(1, topic.notes) for topic in seen.topics}
    rank = {topic.id: place for place, topic in enumerate(seen.topics)}
    # Among equals the larger topics: ids of their notes say nothing, and would make another picture of the same.
    share = {ends: number / (size[ends[0]] * size[ends[1]]) for ends, number in seen.ties.items()}
    ties = sorted(share, key=lambda ends: (-share[ends], sorted(rank[id] for id in ends)))
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


#: With fewer notes than this around it a note is shown with what is two hops away.
_SPARSE = 7
_NOTHING_OPEN = """No note is open.

Open one in Browse (b) and come back: what it is linked to is drawn here.
o shows the topics of the whole collection."""
_GONE = """This note is not here any more.

The log (l) says who deleted it, and can undo that."""
_NO_TOPICS = """No topics yet.

Maintenance finds them where many notes are linked: run it in Health (H), or with

  {}

A topic of your own gathers the notes that mention it:

  {}

o goes back to the note."""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What is looked at: the graph around `centre` (`depth` 0: one hop, two where one shows little), or all topics."""

    centre: str | None = None
    depth: int = 0
    hidden: frozenset[LinkType] = frozenset()
    topics: bool = False


@dataclass(frozen=True, slots=True)
class GraphResult:
    """What there is to see: a scene and what it was made of, or a sentence in its place."""

    scene: Scene | None = None
    graph: LocalGraph | None = None
    topics: TopicMap | None = None
    hint: str = ""
    depth: int = 1


def read_graph(memory: AgenticMemorySystem, view: GraphQuery, limit: int, most_topics: int) -> GraphResult:
    """What a view shows of the collection as it is now, at most so many notes or topics. Takes as long as it takes."""
    if view.topics:
        topics = memory.topic_map(most_topics)
        if (scene := scene_of_topics(topics)) is None:
            commands = (command(memory.settings, words) for words in ("maintain", 'topic "my garden" --declare'))
            return GraphResult(hint=_NO_TOPICS.format(*commands))
        return GraphResult(scene, topics=topics)
    if view.centre is None:
        return GraphResult(hint=_NOTHING_OPEN)
    try:
        types = [type for type in LinkType if type not in view.hidden]
        depth = view.depth or 1
        graph = memory.graph(view.centre, depth, limit=limit, types=types)
        if not view.depth and 1 < len(graph.cards) < _SPARSE:
            further = memory.graph(view.centre, 2, limit=limit, types=types)
            if len(further.cards) > len(graph.cards):
                depth, graph = 2, further
    except NoteNotFound:
        return GraphResult(hint=_GONE)
    return GraphResult(scene_of(graph), graph=graph, depth=depth)


def facts(result: GraphResult) -> str:
    if result.graph is not None:
        notes = _of_all(len(result.graph.cards), sum(result.graph.left_out.values()), "note")
        return f"{notes} · {counted(result.depth, 'hop')}"
    return "" if result.topics is None else _of_all(len(result.topics.topics), result.topics.more, "topic")


def _of_all(shown: int, left: int, what: str) -> str:
    return f"{shown} of {counted(shown + left, what)}" if left else counted(shown, what)

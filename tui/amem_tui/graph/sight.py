"""What a look at the graph finds: a scene and what it was made of, or a sentence that says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import NoteNotFound
from amem.note import LinkType
from amem_tui.command_line import command
from amem_tui.graph.scene import scene_of, scene_of_topics
from amem_tui.phrases import plural

if TYPE_CHECKING:
    from amem.maintenance.topics.topic import TopicMap
    from amem.memory_system import AgenticMemorySystem
    from amem.neighbourhood import LocalGraph
    from amem_tui.graph.scene import Scene

#: With fewer notes than this around it a note is shown with what is two hops away.
_SPARSE = 7
_NOTHING_OPEN = """No note is open.

Open one in Browse (b) and come back: what it is linked to is drawn here.
o shows the topics of the whole collection."""
_GONE = """This note is not here any more.

The log (l) says who deleted it, and can undo that."""
_NO_TOPICS = """No topics yet.

Maintenance finds them where notes hang together: run it in Health (H), or with

  {maintain}

A topic of your own gathers the notes that speak of it:

  {declare}

o goes back to the note."""


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at: the graph around `centre`, or all `topics`.

    A `depth` of 0 is one hop, and two where there is little to see within one.
    """

    centre: str | None = None
    depth: int = 0
    hidden: frozenset[LinkType] = frozenset()
    topics: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """What there is to see: a scene and what it was made of, or a sentence in its place."""

    scene: Scene | None = None
    graph: LocalGraph | None = None
    topics: TopicMap | None = None
    hint: str = ""
    depth: int = 1


def seen(memory: AgenticMemorySystem, view: View, limit: int, most_topics: int) -> Sight:
    """What a view shows of the collection as it is now, at most so many notes or topics. Takes as long as it takes."""
    if view.topics:
        topics = memory.topic_map(most_topics)
        scene = scene_of_topics(topics)
        if scene is None:
            commands = {"maintain": "maintain", "declare": 'topic "my garden" --declare'}
            named = {name: command(memory.settings, words) for name, words in commands.items()}
            return Sight(hint=_NO_TOPICS.format(**named))
        return Sight(scene, topics=topics)
    if view.centre is None:
        return Sight(hint=_NOTHING_OPEN)
    try:
        types = [type for type in LinkType if type not in view.hidden]
        depth = view.depth or 1
        graph = memory.graph(view.centre, depth, limit=limit, types=types)
        if not view.depth and 1 < len(graph.cards) < _SPARSE:
            further = memory.graph(view.centre, 2, limit=limit, types=types)
            if len(further.cards) > len(graph.cards):
                depth, graph = 2, further
    except NoteNotFound:
        return Sight(hint=_GONE)
    return Sight(scene_of(graph), graph=graph, depth=depth)


def facts(sight: Sight) -> str:
    """How much of it is seen, in a few words."""
    if sight.graph is not None:
        shown, left = len(sight.graph.cards), sum(sight.graph.left_out.values())
        of = f"{shown} of {plural(shown + left, 'note')}" if left else plural(shown, "note")
        return f"{of} · {plural(sight.depth, 'hop')}"
    if sight.topics is not None:
        shown, left = len(sight.topics.topics), sight.topics.more
        return f"{shown} of {plural(shown + left, 'topic')}" if left else plural(shown, "topic")
    return ""

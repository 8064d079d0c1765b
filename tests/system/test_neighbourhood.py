"""The local graph of a note, however many links it has, and the map of topics."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.errors import InvalidInput, NoteNotFound
from amem.note import Link, LinkType, MemoryNote, Status
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    """A collection in which nothing is linked but by the test."""
    settings = Settings(home=tmp_path, dense_base="exact", timezone="UTC", llm_backend="offline")
    with AgenticMemorySystem(
        settings=settings, clock=FrozenClock("2026-03-01T09:00"), embedder=HashEmbedder(), analyst=ScriptedAnalyst()
    ) as memory:
        yield memory


def add(memory: AgenticMemorySystem, *names: str) -> dict[str, str]:
    """One note for each name."""
    return {name: memory.add(f"A note about {name}").id for name in names}


def hub(memory: AgenticMemorySystem, spokes: int) -> tuple[str, list[str]]:
    """A note that points to many others, all in one write."""
    notes = [MemoryNote(f"Spoke number {n}", at=NOW, recorded_at=NOW) for n in range(spokes)]
    centre = memory.add("The hub").id
    with memory.parts.store.write() as session:
        operation = session.begin("import", "user")
        for note in notes:
            session.notes.insert(note, operation, reliability=0.5, text_hash=b"")
            session.links.put(Link(centre, note.id, LinkType.RELATED, "", 1.0, "user", NOW), operation)
    return centre, [note.id for note in notes]


def test_the_graph_goes_as_deep_as_it_is_asked_to_in_both_directions(memory: AgenticMemorySystem) -> None:
    ids = add(memory, "centre", "cause", "effect", "far", "farther")
    memory.link(ids["centre"], ids["cause"], LinkType.CAUSED_BY)
    memory.link(ids["effect"], ids["centre"], LinkType.CAUSED_BY)
    memory.link(ids["effect"], ids["far"])
    memory.link(ids["farther"], ids["far"])
    names = {id: name for name, id in ids.items()}
    for depth, expected in enumerate([{"centre"}, {"cause", "effect"}, {"far"}, {"farther"}]):
        graph = memory.graph(ids["centre"], depth)
        assert {names[id] for id, hop in graph.hops.items() if hop == depth} == expected
        assert len(graph.links) == len(graph.cards) - 1
        assert graph.left_out == {}
    assert next(iter(graph.cards)) == ids["centre"]
    assert graph.via[ids["farther"]] == ids["far"]
    assert graph == memory.graph(ids["centre"], 3)


@pytest.mark.thorough
def test_a_hub_of_thousands_shows_a_few_and_says_how_many_there_are(memory: AgenticMemorySystem) -> None:
    centre, ids = hub(memory, 3000)
    memory.link(ids[2500], centre, LinkType.CONTRADICTS, reason="it says otherwise")
    memory.link(centre, ids[1234], LinkType.SUPPORTS)
    graph = memory.graph(centre, 1, limit=40)
    assert list(graph.cards)[:3] == [centre, ids[2500], ids[1234]]  # the most telling links first
    assert len(graph.cards) == 40
    assert graph.left_out == {1: 3000 - 39}
    assert {end for link in graph.links for end in (link.source, link.target)} == graph.cards.keys()


def test_a_hub_beside_the_note_does_not_take_the_room_of_its_other_neighbours(memory: AgenticMemorySystem) -> None:
    centre, _ = hub(memory, 200)
    ids = add(memory, "reader", "quiet", "behind")
    memory.link(ids["reader"], centre)
    memory.link(ids["reader"], ids["quiet"])
    memory.link(ids["quiet"], ids["behind"])
    graph = memory.graph(ids["reader"], 2, limit=12)
    assert ids["behind"] in graph.cards
    assert graph.left_out == {2: 201 - 9}


def test_each_hop_leaves_room_for_the_next_and_takes_back_what_that_does_not_need(memory: AgenticMemorySystem) -> None:
    centre, ids = hub(memory, 60)
    (far,) = add(memory, "far").values()
    for spoke in ids:
        memory.link(spoke, far)
    graph = memory.graph(centre, 2, limit=20)
    assert graph.hops[far] == 2
    assert sum(hop == 1 for hop in graph.hops.values()) == 18
    assert graph.left_out == {1: 42}


def test_a_neighbour_that_was_left_out_does_not_come_back_as_a_farther_one(memory: AgenticMemorySystem) -> None:
    centre, ids = hub(memory, 30)
    for one, other in pairwise(ids):
        memory.link(one, other)
    graph = memory.graph(centre, 2, limit=10)
    assert set(graph.hops.values()) == {0, 1}
    assert graph.left_out == {1: 21}


def test_superseded_notes_are_shown_but_deleted_ones_and_missing_ends_are_not(memory: AgenticMemorySystem) -> None:
    ids = add(memory, "centre", "old", "gone")
    memory.supersede(ids["old"], ids["centre"])
    memory.update(ids["centre"], links=[ids["gone"], "not written yet"])
    memory.delete(ids["gone"])
    graph = memory.graph(ids["centre"], 3)
    assert {id: card.status for id, card in graph.cards.items()} == {
        ids["centre"]: Status.ACTIVE,
        ids["old"]: Status.SUPERSEDED,
    }
    assert [link.type for link in graph.links] == [LinkType.SUPERSEDES]
    with pytest.raises(NoteNotFound):
        memory.graph(ids["gone"])


def test_only_links_of_the_types_asked_for_are_followed(memory: AgenticMemorySystem) -> None:
    ids = add(memory, "centre", "ally", "rival")
    memory.link(ids["centre"], ids["ally"], LinkType.SUPPORTS)
    memory.link(ids["centre"], ids["rival"], LinkType.CONTRADICTS)
    memory.link(ids["ally"], ids["rival"], LinkType.RELATED)
    graph = memory.graph(ids["centre"], 2, types=[LinkType.SUPPORTS])
    assert graph.cards.keys() == {ids["centre"], ids["ally"]}
    assert len(memory.graph(ids["centre"], 1).links) == 3
    assert memory.graph(ids["centre"], 3, types=[]).cards.keys() == {ids["centre"]}


@pytest.mark.parametrize(("depth", "limit"), [(-1, 40), (1.5, 40), (True, 40), (1, 0), (1, -3)])
def test_a_graph_of_no_size_is_refused(memory: AgenticMemorySystem, depth: int, limit: int) -> None:
    (id,) = add(memory, "centre").values()
    with pytest.raises(InvalidInput):
        memory.graph(id, depth, limit=limit)


def test_the_map_of_topics_says_what_holds_them_together_and_what_belongs_to_none(memory: AgenticMemorySystem) -> None:
    ids = add(memory, "tea", "kettles", "tea in kettles", "cats")
    assert memory.topic_map().loose == 4
    memory.link(ids["tea"], ids["kettles"])
    tea = memory.declare_topic("tea").topic.id
    kettles = memory.declare_topic("kettles").topic.id
    seen = memory.topic_map()
    assert [(topic.name, topic.notes) for topic in seen.topics] == [("kettles", 2), ("tea", 2)]
    assert seen.ties == {(min(tea, kettles), max(tea, kettles)): 2}  # one link, one note in both
    assert seen.loose == 1
    assert memory.topic_map(limit=1).more == 1

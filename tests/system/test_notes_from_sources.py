"""Notes made from other input: sources gathered and shared, links to what they were derived from, one undo for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem.analysis import Analysis, Evolution, ProposedLink
from amem.errors import InvalidInput, ServiceUnavailable
from amem.note import LinkType, Source
from amem.testing import ScriptedAnalyst
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.note import Receipt

    Open = Callable[..., AgenticMemorySystem]


def message(ref: str, text: str, speaker: str = "Mara", kind: str = "message") -> Source:
    return Source(f"chat:{ref}", kind, "chat", ref, speaker, None, text, int(ref))


SAID = (message("1", "I moved to Porto"), message("2", "and I eat no walnuts"))
EPISODE = NewNote("Mara moved and told of an allergy.", fields={"id": "episode", "kind": "episode"}, gathers=SAID)
LEARNT = (
    EPISODE,
    NewNote("Mara lives in Porto", sources=("chat:1",), derived_from="episode", fields={"speaker": "Mara"}),
    NewNote("Mara is allergic to walnuts", sources=("chat:2",), derived_from="episode", fields={"speaker": "Mara"}),
)


def learn(memory: AgenticMemorySystem, *items: NewNote) -> tuple[int, list[Receipt]]:
    """What learning from a conversation does: an operation of its own, with everything a child of it."""
    with memory.parts.store.write() as session:
        parent = session.begin("remember", memory.actor, "a chat")
    return parent, memory.parts.pipeline.add(items or LEARNT, actor=memory.actor, parent=parent)


def test_an_episode_gathers_its_messages_and_what_it_teaches_shows_them(memory: AgenticMemorySystem):
    _, (episode, home, allergy) = learn(memory)
    shown = memory.sources([episode.id, home.id, allergy.id])
    assert [source.text for source in shown[episode.id]] == ["I moved to Porto", "and I eat no walnuts"]
    assert [[source.ref for source in shown[each.id]] for each in (home, allergy)] == [["1"], ["2"]]
    (link,) = memory.links(home.id)
    assert (link.target, link.type) == (episode.id, LinkType.DERIVED_FROM)
    # Believed as what a person said, whoever wrote it down.
    assert memory.acting_as("agent:x").memories[home.id].trust == memory.memories[memory.add_note("by hand")].trust


def test_gathering_the_same_messages_again_stores_them_once(memory: AgenticMemorySystem):
    learn(memory)
    learn(memory, NewNote("The same talk, seen otherwise.", gathers=SAID))
    with memory.parts.store.read() as session:
        assert session.sources.count() == 2


def test_what_was_known_is_corroborated_by_who_said_it_and_gets_the_sources_and_the_link(memory: AgenticMemorySystem):
    known = memory.add("Mara is allergic to walnuts", speaker="Tom")
    before = memory.memories[known.id].trust
    _, (episode, _, allergy) = learn(memory)
    assert (allergy.status, allergy.id) == ("duplicate", known.id)
    assert memory.memories[known.id].trust > before
    assert [source.ref for source in memory.sources([known.id])[known.id]] == ["2"]
    assert memory.links(known.id)[0].target == episode.id


def test_undoing_the_parent_takes_everything_back_and_redo_does_it_again(memory: AgenticMemorySystem):
    known = memory.add("Mara is allergic to walnuts", speaker="Tom")
    before = memory.memories[known.id].trust
    parent, (episode, home, _) = learn(memory)

    assert memory.undo().undone == parent
    assert [memory.read(each.id) for each in (episode, home)] == [None, None]
    assert memory.sources([known.id])[known.id] == []
    assert memory.links(known.id) == []
    assert memory.memories[known.id].trust == pytest.approx(before)
    assert all(each.undone for each in memory.log() if each.id >= parent and each.action != "undo")

    memory.redo()
    assert memory.read(home.id) is not None
    assert [source.ref for source in memory.sources([known.id])[known.id]] == ["2"]
    assert memory.memories[known.id].trust > before


def test_learning_again_after_undo_counts_and_outlives_the_first_time(memory: AgenticMemorySystem):
    known = memory.add("Mara is allergic to walnuts", speaker="Tom")
    _, (episode, *_) = learn(memory)
    memory.undo()
    again = NewNote("Another episode.", fields={"id": "second"}, gathers=SAID)
    learn(memory, again, NewNote("Mara is allergic to walnuts", sources=("chat:2",), derived_from="second"))
    assert [source.ref for source in memory.sources([known.id])[known.id]] == ["2"]
    assert memory.read(episode.id) is None


def test_a_part_undone_by_itself_stays_undone_when_the_whole_comes_back(open_memory: Open):
    def evolve(*_: Any) -> Evolution:
        return Evolution(links=(ProposedLink("n1", LinkType.RELATED, "both", 0.9),))

    memory = open_memory(analyst=ScriptedAnalyst(evolutions=evolve, local=False))
    learn(memory)
    linked = next(each for each in memory.log() if each.action == "evolve")
    memory.undo(linked.id)
    links = sum(len(memory.links(id)) for id in memory.memories)
    memory.undo()
    assert len(memory.memories) == 0
    memory.redo()
    assert sum(len(memory.links(id)) for id in memory.memories) == links


def test_with_a_model_the_enrichment_is_undone_with_the_parent_too(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="By the model."), local=False))
    parent, _ = learn(memory)
    assert memory.undo().undone == parent
    assert len(memory.memories) == 0


def test_what_is_derived_from_a_known_episode_is_linked_to_that_one(memory: AgenticMemorySystem):
    first = memory.add("Mara moved and told of an allergy.")
    _, (episode, home, _) = learn(memory)
    assert episode.id == first.id
    assert [link.target for link in memory.links(home.id)] == [first.id]


@pytest.mark.parametrize(
    "item",
    [
        NewNote("From nowhere", sources=("chat:99",)),
        NewNote("From no note", derived_from="nobody"),
        NewNote("Its source comes later", sources=("chat:7",)),
    ],
)
def test_what_names_an_unknown_source_or_note_is_refused_before_anything_is_stored(
    memory: AgenticMemorySystem, item: NewNote
):
    later = NewNote("Too late", gathers=(message("7", "too late"),))
    with pytest.raises(InvalidInput, match=r"99|nobody|7"):
        memory.add_notes([*LEARNT, item, later])
    assert len(memory.memories) == 0
    with memory.parts.store.read() as session:
        assert session.sources.count() == 0


def test_a_model_that_is_down_loses_neither_sources_nor_links(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(fail=ServiceUnavailable("down"), local=False))
    _, (episode, home, _) = learn(memory)
    assert home.enrichment == "degraded"
    assert len(memory.sources([episode.id])[episode.id]) == 2
    assert [link.target for link in memory.links(home.id)] == [episode.id]

"""What undo and redo did not bring back, cause by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.analysis import Analysis, Evolution, Rewrite
from amem.analysts.rules import OfflineAnalyst
from amem.errors import AmbiguousId, InvalidInput, NothingToUndo
from amem.note import Status
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]


def newest(memory: AgenticMemorySystem) -> int:
    return next(each.id for each in memory.log() if each.parent is None)


def test_a_note_that_later_work_kept_goes_when_that_is_undone_too(memory: AgenticMemorySystem) -> None:
    """The blocked undo counted as done, and the note stayed for good."""
    id = memory.add_note("the meeting is on Monday")
    added = newest(memory)
    memory.update(id, category="Work")
    kept = memory.undo(added).kept
    assert [(each.item, each.why) for each in kept] == [("note", f"worked on since by operation {added + 1}")]
    assert memory.memories[id].category == "Work"
    report = memory.undo()
    assert memory.read(id) is None
    assert [(each.item, each.why) for each in report.kept] == [
        ("note", f"made by operation {added}, which was undone before")
    ]
    with pytest.raises(NothingToUndo):
        memory.undo()
    memory.redo()
    memory.redo()
    assert memory.memories[id].category == "Work"


def test_fields_that_later_work_covered_go_back_with_it(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("the meeting is on Monday")
    memory.update(id, content="the meeting is on Tuesday")
    tuesday = newest(memory)
    memory.update(id, content="the meeting is on Friday")
    assert "content" in [each.item for each in memory.undo(tuesday).kept]
    report = memory.undo()
    assert memory.memories[id].content == "the meeting is on Monday", "Tuesday is undone"
    assert (id, "content", tuesday) in [(each.note, each.item, each.operation) for each in report.kept]


def test_undoing_keep_leaves_the_flag_as_it_was_raised(open_memory: Open) -> None:
    """`keep` took the operation of the flag over: undone, the note was doubted no more."""
    memory = open_memory(analyst=OfflineAnalyst())
    old = memory.add("I work at Google.", time="2026-01-01").id
    lunch = memory.add("Lunch is free on Fridays", time="2026-01-10", links=[old]).id
    new = memory.add("I joined OpenAI.", time="2026-02-01").id
    memory.link(new, lunch, "contradicts", "by hand")
    before = memory.flags(), memory.conflicts_open(), memory.read(lunch).doubts
    assert before[0]
    assert memory.keep(lunch)
    assert (memory.flags(lunch), memory.read(lunch).doubts) == ([], [])
    memory.undo()
    assert (memory.flags(), memory.conflicts_open(), memory.read(lunch).doubts) == before
    memory.redo()
    assert memory.flags(lunch) == [], "an undone keep is done again"


def test_undoing_a_second_proposal_brings_the_first_back(open_memory: Open) -> None:
    def unsure(context: str) -> Evolution:
        return Evolution(rewrites=(Rewrite("n1", f"The heron, {context}.", None, "seen again", 0.5),))

    analyst = ScriptedAnalyst(Analysis(context="The heron."), [unsure("seen twice"), unsure("seen often")])
    memory = open_memory(analyst=analyst)
    memory.add_note("the heron stands in the pond")
    memory.add_note("the heron flies over the pond")
    (first,) = memory.reviews()
    memory.add_note("the heron stands in the pond again")
    assert [item.changes["context"][1] for item in memory.reviews()] != [first.changes["context"][1]]
    replaced = memory.reviews()
    memory.undo()
    assert memory.reviews() == [first]
    memory.redo()
    assert memory.reviews() == replaced
    memory.reject(replaced[0].id)
    assert memory.reviews() == []
    memory.undo()
    assert memory.reviews() == replaced


def test_a_witness_counts_until_all_that_he_said_is_undone(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("the shed is red")
    before = memory.read(id).trust
    for _ in range(2):
        memory.add_note("The shed is RED", speaker="Ana")
    agreed = memory.read(id).trust
    assert agreed > before
    memory.undo()
    assert memory.read(id).trust == pytest.approx(agreed)
    memory.undo()
    assert memory.read(id).trust == pytest.approx(before)


def test_undoing_an_edit_gives_the_field_back_to_the_machine(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("the shed is red", tags=["shed"])
    before = memory.owned_fields(id)
    memory.update(id, context="by hand", tags=["red"])
    assert memory.owned_fields(id)["tags"] == "edited"
    memory.undo()
    assert memory.owned_fields(id) == before
    memory.redo()
    assert memory.owned_fields(id) == {**before, "tags": "edited", "context": "edited"}


def test_deleting_the_successor_lets_the_old_note_answer_and_restoring_it_hides_that_again(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    old, new = memory.add("I live in Rome.", time="2026-01-01"), memory.add("I live in Berlin.", time="2026-02-01")
    assert new.superseded == (old.id,)
    hidden = memory.read(old.id).superseded_by, memory.read(old.id).valid_to, memory.supersessions()
    memory.delete(new.id)
    assert (memory.read(old.id).status, memory.read(old.id).valid_to) == (Status.ACTIVE, None)
    assert [each.object for each in memory.facts("me", "lives_in")] == ["Rome"]
    for bring_back in (memory.undo, lambda: memory.restore(new.id)):
        bring_back()
        now = memory.read(old.id)
        assert (now.superseded_by, now.valid_to, memory.supersessions()) == hidden
        memory.delete(new.id)
        assert memory.read(old.id).status is Status.ACTIVE


def test_deleting_a_link_of_a_chain_leaves_the_chain(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    rome, berlin, oslo = (
        memory.add(f"I live in {city}.", time=f"2026-0{month}-01").id
        for month, city in enumerate(("Rome", "Berlin", "Oslo"), 1)
    )
    memory.delete(berlin)
    assert memory.read(rome).superseded_by == oslo
    memory.delete(oslo)
    assert memory.read(rome).status is Status.ACTIVE
    memory.undo()
    memory.undo()
    assert [memory.read(each).superseded_by for each in (rome, berlin, oslo)] == [berlin, oslo, None]


def test_what_follows_from_an_undo_is_named_and_goes_with_it(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    rome = memory.add("I live in Rome.", time="2026-01-01").id
    berlin = memory.add("I live in Berlin.", time="2026-02-01")
    oslo = memory.add("I live in Oslo.", time="2026-03-01").id
    report = memory.undo(berlin.operation)
    assert memory.read(rome).superseded_by == oslo
    assert {(each.note, each.item) for each in report.settled} >= {(rome, "status"), (rome, "superseded_by")}
    memory.redo()
    assert memory.read(rome).superseded_by == berlin.id
    assert {link.target for link in memory.links(oslo)} == {berlin.id}


def test_a_part_of_what_is_undone_is_not_redone_alone(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    memory.add("I live in Rome.", time="2026-01-01")
    berlin = memory.add("I live in Berlin.", time="2026-02-01")
    (part,) = [each.id for each in memory.log() if each.action == "supersede"]
    undone = memory.undo(part).operation
    memory.undo(berlin.operation)
    with pytest.raises(InvalidInput, match=f"a part of operation {berlin.operation}"):
        memory.redo(undone)
    memory.redo()
    memory.redo()
    assert memory.read(berlin.superseded[0]).superseded_by == berlin.id


def test_links_come_back_in_their_place(memory: AgenticMemorySystem) -> None:
    one, two, three = (memory.add_note(text) for text in ("the heron", "the tractor", "the kettle"))
    memory.link(one, two)
    memory.link(one, three)
    memory.unlink(one, two)
    memory.link(two, three)
    memory.undo()
    memory.undo()
    assert memory.memories[one].links == [two, three]


def test_nothing_is_named_of_a_note_that_was_gone_before(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("the heron")
    added = newest(memory)
    memory.update(id, category="Birds")
    memory.undo(added)
    memory.delete(id)
    memory.rollback(id, 1)
    assert memory.undo().kept == ()


def test_deleting_a_note_that_was_retracted_lets_what_stood_behind_it_answer(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    rome = memory.add("I live in Rome.", time="2026-01-01").id
    berlin = memory.add("I live in Berlin.", time="2026-02-01").id
    memory.retract(berlin)
    hidden = memory.read(rome).superseded_by, memory.supersessions()
    memory.delete(berlin)
    assert [each.object for each in memory.facts("me", "lives_in")] == ["Rome"]
    memory.undo()
    assert (memory.read(rome).superseded_by, memory.supersessions()) == hidden
    memory.redo()
    assert memory.read(rome).status is Status.ACTIVE
    memory.restore(berlin)
    assert memory.read(rome).superseded_by == berlin, "it was deleted by a redo"


def test_deleting_a_whole_chain_at_once_leaves_nothing_behind_what_is_gone(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    rome, berlin, oslo = (
        memory.add(f"I live in {city}.", time=f"2026-0{month}-01").id
        for month, city in enumerate(("Rome", "Berlin", "Oslo"), 1)
    )
    for gone in ([berlin, oslo], [oslo, berlin]):
        memory.delete_notes(gone)
        assert memory.read(rome).status is Status.ACTIVE
        memory.undo()
        assert [memory.read(each).superseded_by for each in (rome, berlin, oslo)] == [berlin, oslo, None]


def test_a_topic_that_is_given_up_gives_back_the_place_that_it_took(memory: AgenticMemorySystem) -> None:
    heron = memory.add_note("the heron stands in the pond")
    page = memory.declare_topic("heron").topic.id
    memory.supersede(heron, page)
    memory.remove_topic("heron")
    assert memory.read(heron).status is Status.ACTIVE
    memory.undo()
    assert memory.read(heron).superseded_by == page
    memory.redo()
    assert memory.read(heron).status is Status.ACTIVE


def test_a_topic_of_a_name_that_a_redo_brought_back_is_declared_without_an_error(memory: AgenticMemorySystem) -> None:
    """It was kept, and then an error said that the name fitted two topics."""
    memory.declare_topic("heron")
    undone = memory.undo().operation
    memory.declare_topic("heron")
    memory.redo(undone)
    memory.add_note("the heron stands in the pond")
    page = memory.declare_topic("heron", "ponds")
    assert page.topic.name == "heron"
    ids = {topic.id for topic in memory.topics()}
    with pytest.raises(AmbiguousId) as said:
        memory.remove_topic("heron")
    assert all(id[:8] in str(said.value) for id in ids)
    memory.remove_topic(next(iter(ids)))
    assert len(memory.topics()) == 1


def test_what_is_done_to_a_note_that_is_gone_does_not_keep_it(memory: AgenticMemorySystem) -> None:
    """It stayed when everything that had brought it back was undone."""
    id = memory.add_note("the heron")
    memory.update(id, category="Birds")
    memory.undo()
    memory.undo()
    assert memory.rollback(id, 2) == ("category",)
    memory.restore(id)
    assert memory.memories[id].category == "Birds"
    memory.undo()
    assert memory.read(id) is None


def test_a_redo_names_a_field_that_became_a_persons_own_since(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("the shed is red")
    memory.acting_as("agent:bot").update(id, context="a shed")
    undone = memory.undo().operation
    memory.update(id, context="a shed")
    later = newest(memory)
    assert [(each.item, each.operation) for each in memory.redo(undone).kept] == [("context", later)]
    assert memory.owned_fields(id)["context"] == "edited"


def test_nothing_is_named_of_a_field_whose_edit_was_undone_before(memory: AgenticMemorySystem) -> None:
    """The undo of the deletion said that the importance was changed since."""
    id = memory.add_note("the heron")
    memory.delete(id)
    memory.restore(id)
    memory.update(id, importance=0.9)
    assert [memory.undo().kept for _ in range(3)] == [(), (), ()]

"""History, undo, redo and rollback, as a person uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import InvalidInput, NoteNotFound, NothingToUndo, OperationNotFound
from amem.note import LinkType
from amem.query import Query
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable

    Open = Callable[..., AgenticMemorySystem]

EVOLVING = Evolution(
    links=(ProposedLink("n1", LinkType.SUPPORTS, "both on the heron", 0.9),),
    rewrites=(Rewrite("n1", "The heron, seen twice.", ("birds",), "seen again", 0.95),),
)


def heron(open_memory: Open) -> tuple[AgenticMemorySystem, str, str]:
    """A note, and a second one whose arrival links to it and rewrites it."""
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="The heron."), [EVOLVING, *[Evolution()] * 9]))
    first = memory.add_note("the heron stands in the pond")
    return memory, first, memory.add_note("the heron flies over the pond")


def test_undo_takes_a_note_back_with_all_its_arrival_set_off(open_memory: Open):
    memory, first, second = heron(open_memory)
    assert memory.memories[first].context == "The heron, seen twice."
    report = memory.undo()
    assert report.kept == ()
    assert (first, "context") in report.reverted
    assert memory.read(second) is None
    note = memory.memories[first]
    assert (note.context, note.tags) == ("The heron.", [])
    assert memory.links(second) == memory.backlinks(first) == []
    assert [hit.id for hit in memory.search("heron pond")] == [first]


def test_redo_brings_all_of_it_back(open_memory: Open):
    memory, first, second = heron(open_memory)
    memory.undo()
    memory.redo()
    assert memory.memories[second].content == "the heron flies over the pond"
    assert memory.memories[first].context == "The heron, seen twice."
    assert [link.target for link in memory.links(second)] == [first]
    for leg in ("dense", "lexical"):
        assert {hit.id for hit in memory.ask(Query("heron pond", legs=(leg,)))} == {first, second}
    with pytest.raises(NothingToUndo):
        memory.redo()


def test_undo_walks_back_step_by_step_to_the_empty_collection(memory: AgenticMemorySystem):
    id = memory.add_note("a thing")
    memory.update(id, content="a changed thing")
    memory.pin(id)
    memory.delete(id)
    memory.undo()
    assert memory.memories[id].pinned
    memory.undo()
    assert not memory.memories[id].pinned
    memory.undo()
    assert memory.memories[id].content == "a thing"
    memory.undo()
    assert len(memory.memories) == 0
    with pytest.raises(NothingToUndo):
        memory.undo()
    for _ in range(4):
        memory.redo()
    assert memory.read(id) is None
    memory.restore(id)
    assert memory.memories[id].content == "a changed thing"


def newest_update(memory: AgenticMemorySystem) -> int:
    return next(operation.id for operation in memory.log() if operation.action == "update")


def test_undo_of_an_older_operation_leaves_later_work_and_lists_it(memory: AgenticMemorySystem):
    id = memory.add_note("the meeting is on Monday")
    memory.update(id, content="the meeting is on Tuesday", category="Work")
    tuesday = newest_update(memory)
    memory.update(id, content="the meeting is on Friday")
    friday = newest_update(memory)
    report = memory.undo(tuesday)
    assert (id, "content", friday) in [(kept.note, kept.item, kept.operation) for kept in report.kept]
    assert (id, "category") in report.reverted
    note = memory.memories[id]
    assert (note.content, note.category) == ("the meeting is on Friday", "Uncategorized")


def test_undoing_an_add_keeps_the_note_when_someone_worked_on_it_since(memory: AgenticMemorySystem):
    id = memory.add_note("the meeting is on Monday")
    added = memory.log()[0].id
    memory.update(id, category="Work")
    changed = memory.log()[0].id
    report = memory.undo(added)
    assert [(kept.note, kept.item, kept.operation) for kept in report.kept] == [(id, "note", changed)]
    assert memory.memories[id].category == "Work"


def test_undo_of_an_edit_makes_the_old_text_findable_again_by_both_legs(memory: AgenticMemorySystem):
    id = memory.add_note("the heron stands in the pond")
    memory.add_note("the tractor is in the barn")
    memory.update(id, content="the kingfisher dives")
    memory.undo()
    for leg in ("dense", "lexical"):
        assert memory.ask(Query("heron pond", legs=(leg,)))[0].id == id
        assert all(hit.id != id or hit.score < 0.99 for hit in memory.ask(Query("kingfisher", legs=("lexical",))))


def test_a_reversal_cannot_be_undone_by_number_nor_an_operation_twice(memory: AgenticMemorySystem):
    memory.add_note("a thing")
    operation = memory.log()[0].id
    report = memory.undo()
    with pytest.raises(InvalidInput):
        memory.undo(operation)
    with pytest.raises(InvalidInput):
        memory.undo(report.operation)
    with pytest.raises(OperationNotFound):
        memory.undo(99_999)


def test_after_a_new_write_only_an_undo_that_is_named_is_redone(memory: AgenticMemorySystem):
    id = memory.add_note("a thing")
    memory.update(id, category="Work")
    undone = memory.undo().operation
    memory.add_note("something else")
    since = memory.log()[0].id
    with pytest.raises(NothingToUndo, match=f"nothing to redo: operation {since} was done after"):
        memory.redo()
    memory.redo(undone)
    assert memory.memories[id].category == "Work"


def test_what_was_done_after_an_undo_may_be_undone_and_redone_itself(memory: AgenticMemorySystem):
    kept = memory.add_note("保留这一条")
    memory.delete(kept)
    memory.undo()
    other = memory.add_note("something else")
    memory.undo()
    memory.redo()
    assert memory.read(other) is not None
    with pytest.raises(NothingToUndo):
        memory.redo()
    assert memory.read(kept) is not None


def test_rollback_goes_to_any_version_as_a_new_one(memory: AgenticMemorySystem):
    id = memory.add_note("version one of the recipe", tags=["food"])
    memory.update(id, content="version two of the recipe")
    memory.update(id, tags=["food", "bread"], category="Kitchen")
    assert set(memory.rollback(id, 1)) >= {"content", "tags", "category"}
    note = memory.memories[id]
    assert (note.content, note.tags, note.category, note.version) == (
        "version one of the recipe",
        ["food"],
        "Uncategorized",
        5,
    )
    assert memory.search("version one recipe")[0].id == id
    assert [version.action for version in memory.history(id)] == ["add", "update", "enrich", "update", "rollback"]
    memory.undo()
    assert memory.memories[id].content == "version two of the recipe"
    with pytest.raises(OperationNotFound, match="no version 9"):
        memory.rollback(id, 9)
    with pytest.raises(NoteNotFound):
        memory.rollback("nobody", 1)


def test_history_names_who_changed_what_and_why(open_memory: Open, clock: FrozenClock):
    memory, first, _ = heron(open_memory)
    clock.advance(days=1)
    memory.acting_as("agent:birder").update(first, tags=["birds", "pond"])
    made, evolved, edited = memory.history(first)
    assert (made.version, made.action, made.actor) == (1, "add", "user")
    assert (evolved.action, evolved.actor) == ("evolve", "scripted")
    assert evolved.changes["context"] == ("The heron.", "The heron, seen twice.")
    assert (edited.actor, edited.changes["tags"]) == ("agent:birder", (["birds"], ["birds", "pond"]))
    assert (edited.at - made.at).days == 1
    with pytest.raises(NoteNotFound):
        memory.history("nobody")


def test_the_log_shows_what_was_done_since_a_day_and_by_whom(open_memory: Open, clock: FrozenClock):
    memory, first, second = heron(open_memory)
    clock.advance(days=2)
    since = clock.now()
    memory.acting_as("agent").delete(first)
    (operation,) = memory.log(since)
    assert (operation.action, operation.actor, operation.notes, operation.undone) == (
        "delete",
        "agent",
        (first,),
        False,
    )
    created = [operation.created for operation in memory.log() if operation.created]
    assert created == [(second,), (first,)]
    assert [operation.links for operation in memory.log() if operation.action == "evolve"] == [1]
    assert memory.log(actor="agent") == [operation]
    memory.undo(operation.id)
    assert memory.log(actor="agent")[0].undone


def test_links_made_and_taken_by_hand_are_undone_too(memory: AgenticMemorySystem):
    one, two = memory.add_note("cause"), memory.add_note("effect of it")
    memory.link(two, one, "caused_by", "as the fire inspector said")
    memory.undo()
    assert memory.links(two) == []
    memory.redo()
    (link,) = memory.links(two)
    assert (link.type, link.reason, link.made_by) == (LinkType.CAUSED_BY, "as the fire inspector said", "user")
    assert memory.unlink(two, one, "caused_by")
    memory.undo()
    assert memory.links(two) == [link]


def test_retagging_everything_is_one_step_to_undo(memory: AgenticMemorySystem):
    ids = [memory.add_note(f"note {number} on herons", tags=["Birds", "pond"]) for number in range(5)]
    other = memory.add_note("a note on tractors", tags=["farm"])
    assert memory.rename_tag("birds", "pond") == 5
    assert all(memory.memories[id].tags == ["pond"] for id in ids)
    assert memory.tags() == {"pond": 5, "farm": 1}
    memory.undo()
    assert all(memory.memories[id].tags == ["Birds", "pond"] for id in ids)
    assert memory.memories[other].version == 1


def test_undo_takes_back_a_chat_whose_notes_are_its_grandchildren_and_passes_over_one_that_taught_nothing():
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder()) as memory:
        memory.add("The ferry leaves at 7:40.")
        with memory.assistant(chat=ScriptedChat("I see.")) as assistant:
            for said in ("My sister Inês lives in Porto.", "What is the time?"):
                assistant.say(said)
                assert assistant.wait(30)
            assert "My sister Inês lives in Porto." in [note.content for note in memory.list()]
        memory.undo()
        assert [note.content for note in memory.list()] == ["The ferry leaves at 7:40."]
        memory.redo()
        assert memory.count() == 2

"""Forks: private copies that end, copies that stay, what each side did, and merging it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, Filter, Source
from amem.collection_folders import collection_names, listed_collection, with_present_origins
from amem.errors import CollectionExists, CollectionNotFound, EmbedderMismatch, InvalidInput
from amem.forks.fork import archive, archived, purge_collection, rename, sweep, unarchive
from amem.note import Status
from amem.storage.store import Store
from amem.summaries import reversal_lines
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "zanzibarcanary"


def opened(home: Path, collection: str = "memories", **more: Any) -> AgenticMemorySystem:
    given = {"embedder": HashEmbedder(), "clock": FrozenClock(), **more}
    return AgenticMemorySystem(directory=home, collection=collection, **given)


def files_with(folder: Path, word: str) -> list[str]:
    return [
        str(each.relative_to(folder))
        for each in folder.rglob("*")
        if each.is_file() and word.encode() in each.read_bytes()
    ]


def forks_in(home: Path) -> list[str]:
    return [each.name for each in (home / ".forks").iterdir() if each.is_dir()]


# -- the life of a fork ------------------------------------------------------------------------------------------------


def test_a_private_fork_ends_with_its_block_even_after_an_exception(memory: AgenticMemorySystem, home: Path) -> None:
    id = memory.add("the source's own").id
    # The whole block is what is tested: it ends in the middle.
    with pytest.raises(RuntimeError, match="in the middle"), memory.fork() as private:  # noqa: PT012
        private.add(f"only in the fork {CANARY}")
        private.update(id, content="rewritten in the fork")
        assert forks_in(home)
        assert memory.collections() == ["memories"]
        raise RuntimeError("in the middle")
    assert forks_in(home) == []
    assert memory.read(id).content == "the source's own"
    assert memory.count() == 1
    assert files_with(home, CANARY) == []


def test_what_is_added_to_either_side_later_is_not_in_the_other(memory: AgenticMemorySystem, home: Path) -> None:
    memory.add("common ground")
    with memory.fork("draft") as fork:
        memory.add(f"{CANARY} of the source")
        fork.add("quaggacanary of the fork")
        assert not fork.shelf(starting=CANARY).keys.tolist()
        assert not memory.shelf(starting="quaggacanary").keys.tolist()
    memory.close()
    assert files_with(home / "draft", CANARY) == []
    assert files_with(home / "memories", "quaggacanary") == []


def _fork_and_wait(home: str, told: Any) -> None:
    from pathlib import Path

    memory = opened(Path(home))
    fork = memory.fork()
    told.send(str(fork.folder))
    signal.pause()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_fork_of_a_killed_process_is_swept_and_that_of_a_living_one_stays(home: Path) -> None:
    with opened(home) as memory:
        memory.add("something")
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_fork_and_wait, args=(str(home), there))
        process.start()
        here.recv()
        with memory.fork() as mine:
            assert len(forks_in(home)) == 2
            assert sweep(home) == 0
            process.kill()
            process.join()
            with opened(home):
                assert forks_in(home) == [mine.folder.name]


def _write(home: str, word: str, told: Any) -> None:
    from pathlib import Path

    with opened(Path(home), clock=None) as memory:
        told.send("ready")
        number = 0
        while not told.poll():
            memory.add(f"{word} number {number}")
            number += 1
        told.send(number)


def test_a_copy_made_while_two_processes_write_is_consistent(home: Path) -> None:
    with opened(home) as memory:
        memory.add("before")
        context = multiprocessing.get_context("spawn")
        writers = []
        for word in ("alpha", "omega"):
            here, there = context.Pipe()
            process = context.Process(target=_write, args=(str(home), word, there))
            process.start()
            assert here.recv() == "ready"
            writers.append((process, here))
        counts = []
        for number in range(3):
            folder = memory.copy(f"copy{number}")
            with closing(Store(folder, FrozenClock())) as store, store.read() as session:
                assert store.check() == []
                counts.append(session.notes.count())
        written = 1
        for process, here in writers:
            here.send("stop")
            written += here.recv()
            process.join()
        assert counts == sorted(counts)
        assert memory.count() == written >= counts[-1]


def test_what_a_killed_purge_left_is_swept(home: Path) -> None:
    left = home / ".diary.purged"
    left.mkdir(parents=True)
    (left / "amem.db").write_bytes(b"words")
    sweep(home)
    assert not left.exists()


def test_collections_are_renamed_archived_brought_back_and_purged(home: Path) -> None:
    with opened(home) as memory:
        memory.add(f"words {CANARY}")
    with pytest.raises(CollectionNotFound):
        rename(home, "none", "other")
    rename(home, "memories", "diary")
    assert collection_names(home) == ["diary"]
    archive(home, "diary")
    assert (collection_names(home), archived(home)) == ([], ["diary"])
    unarchive(home, "diary")
    with opened(home, "diary", clock=None) as memory, memory.fork("diary2"):
        with pytest.raises(CollectionExists):
            rename(home, "diary", "diary2")
        memory.add("later")
    archive(home, "diary2")
    purge_collection(home, "diary2")
    purge_collection(home, "diary")
    assert (collection_names(home), archived(home)) == ([], [])
    assert files_with(home, CANARY) == []


def test_a_collection_in_memory_and_one_that_is_unrelated_are_refused(home: Path) -> None:
    with AgenticMemorySystem(embedder=HashEmbedder()) as nowhere, pytest.raises(InvalidInput, match="in memory"):
        nowhere.fork()
    with opened(home) as memory, opened(home, "other") as other:
        memory.add("one")
        other.add("two")
        for refused in (memory.diff, memory.merge):
            with pytest.raises(InvalidInput, match="is no fork of this collection"):
                refused(other)
        with pytest.raises(InvalidInput, match="no strategy"):
            memory.merge(other, "mine")


def test_a_fork_with_another_embedder_is_refused(memory: AgenticMemorySystem, home: Path) -> None:
    memory.add("one")
    memory.copy("draft")
    settings = memory.settings.replaced(embed_recipe="paper", collection="draft")
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder()) as fork:
        fork.reindex()
        with pytest.raises(EmbedderMismatch) as caught:
            memory.merge(fork)
    assert "reindex" in caught.value.hint


# -- diff and merge ----------------------------------------------------------------------------------------------------


def test_a_diff_says_what_each_side_did_and_a_merge_takes_it(memory: AgenticMemorySystem) -> None:
    rome, tea = memory.add("I live in Rome.").id, memory.add("Buy tea").id
    with memory.fork("draft") as fork:
        moved = fork.add("I moved to Berlin.").id
        fork.update(tea, tags=["x"])
        memory.update(tea, context="from the shop")
        late = memory.add("Only here").id
        told = memory.diff("draft")
        assert told.as_dict() == memory.diff(fork).as_dict()
        assert {(each.id, each.what) for each in told.fork.notes} == {
            *((rome, "changed"), (tea, "changed"), (moved, "added"))
        }
        assert {(each.id, each.what) for each in told.source.notes} == {(tea, "changed"), (late, "added")}
        assert [id for id, _ in told.fork.supersessions] == [rome]
        assert [(each.source, each.target, each.type) for each in told.fork.links] == [(moved, rome, "supersedes")]

        report = memory.merge("draft")
        assert (report.added, report.conflicts) == ([moved], [])
        assert memory.read(tea).tags == ["x"]
        assert memory.read(tea).context == "from the shop"
        assert memory.read(rome).superseded_by == moved
        fork.add("Then something new")
        assert len(memory.merge(fork).added) == 1
        memory.undo(report.operation)
        assert memory.read(rome).status is Status.ACTIVE


def test_what_came_along_is_as_it_was_with_its_source_and_history(memory: AgenticMemorySystem) -> None:
    with memory.fork() as fork:
        source = Source("turn-1", "message", "chat", None, "Ana", None, "We said this.")
        id = fork.add("We said this.", source=source).id
        fork.update(id, tags=["said"])
        memory.merge(fork)
        mine, its = memory.read(id), fork.read(id)
        assert (mine.recorded_at, mine.at, mine.tags, mine.version) == (its.recorded_at, its.at, its.tags, its.version)
        assert [each.id for each in memory.sources([id])[id]] == ["turn-1"]
        assert [each.action for each in memory.history(id)] == [each.action for each in fork.history(id)]
        assert memory.search("what did we say?")[0].id == id


@pytest.mark.parametrize(("strategy", "wanted"), [("ours", "ours"), ("theirs", "theirs"), ("newest", "theirs")])
def test_a_strategy_settles_what_two_people_changed(memory: AgenticMemorySystem, strategy: str, wanted: str) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        memory.update(id, context="ours")
        fork.parts.clock.advance(timedelta(minutes=1))
        fork.update(id, context="theirs")
        (conflict,) = memory.merge(fork, strategy).conflicts
    assert memory.read(id).context == wanted == conflict.settled
    assert memory.reviews() == []


def test_a_conflict_waits_in_review_and_is_accepted_there(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        memory.update(id, context="ours")
        fork.update(id, context="theirs")
        memory.merge(fork)
    (review,) = memory.reviews()
    assert review.changes == {"context": ("ours", "theirs")}
    assert memory.read(id).context == "ours"
    memory.accept(review.id)
    assert memory.read(id).context == "theirs"


@pytest.mark.parametrize("person", ["source", "fork"])
def test_a_persons_edit_holds_and_the_machines_change_waits(memory: AgenticMemorySystem, person: str) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        sides = {"source": memory, "fork": fork}
        for name, side in sides.items():
            (side if name == person else side.acting_as("agent:bot")).update(id, context=f"of the {name}")
        memory.merge(fork, "ours" if person == "fork" else "theirs")
    machine = "fork" if person == "source" else "source"
    assert memory.read(id).context == f"of the {person}"
    (review,) = memory.reviews()
    assert review.changes == {"context": (f"of the {person}", f"of the {machine}")}


def test_deleted_here_and_changed_there_is_a_conflict(memory: AgenticMemorySystem) -> None:
    ids = [memory.add(text).id for text in ("gone here", "gone there")]
    with memory.fork() as fork:
        memory.delete(ids[0])
        fork.update(ids[0], tags=["kept"])
        fork.delete(ids[1])
        memory.update(ids[1], tags=["kept"])
        report = memory.merge(fork)
        assert {each.note for each in report.conflicts} == set(ids)
        assert memory.read(ids[0]) is None
        assert memory.read(ids[1]).tags == ["kept"]
        memory.undo()
        assert {each.settled for each in memory.merge(fork, "theirs").conflicts} == {"theirs"}
        assert memory.read(ids[0]).tags == ["kept"]
        assert memory.read(ids[1]) is None


def test_what_was_purged_here_never_comes_back_nor_what_was_made_of_it(memory: AgenticMemorySystem, home: Path) -> None:
    id = memory.add(f"a secret {CANARY}").id
    with memory.fork() as fork:
        fork.update(id, tags=["dear"])
        made = fork.add(f"it said {CANARY}").id
        fork.link(made, id, "derived_from")
        memory.purge([id])
        report = memory.merge(fork)
        assert set(report.purged) == {id, made}
        assert memory.count(Filter(statuses=tuple(Status))) == 0
    memory.close()
    assert files_with(home, CANARY) == []


def test_the_same_text_added_on_both_sides_becomes_one_note(memory: AgenticMemorySystem) -> None:
    old = memory.add("An old note").id
    with memory.fork() as fork:
        mine, its = memory.add("茶在柜子里。", tags=["家"]).id, fork.add("茶在柜子里。", tags=["kitchen"]).id
        fork.link(its, old, "supports", "so it is")
        report = memory.merge(fork)
        assert (report.added, report.joined, report.conflicts) == ([], {its: mine}, [])
    assert {"家", "kitchen"} <= set(memory.read(mine).tags)
    assert [(link.target, link.type) for link in memory.links(mine) if link.type == "supports"] == [(old, "supports")]
    assert memory.count() == 2


def test_a_supersession_that_one_side_undid_waits_for_a_person(memory: AgenticMemorySystem) -> None:
    old, new, newer = (memory.add(text).id for text in ("tea is in the box", "a heron stood there", "a fish swam by"))
    with memory.fork() as fork:
        memory.supersede(old, new)
        memory.unsupersede(old)
        fork.acting_as("agent:bot").supersede(old, newer)
        memory.merge(fork, "theirs")
    assert memory.read(old).status is Status.ACTIVE
    (review,) = memory.reviews()
    assert review.changes["superseded_by"] == (None, newer)


def test_a_fork_that_was_merged_can_be_merged_again_after_an_undo(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        fork.update(id, tags=["news"])
        added = fork.add("Another").id
        first = memory.merge(fork)
        assert memory.merge(fork).operation is None
        memory.undo(first.operation)
        assert memory.read(added) is None
        memory.merge(fork)
        assert memory.read(added).content == "Another"
        assert memory.read(id).tags == ["news"]


def test_the_undo_of_a_merge_names_what_was_accepted_from_it(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        memory.update(id, context="ours")
        fork.update(id, context="theirs")
        added = fork.add("茶在柜子里。").id
        merge = memory.merge(fork).operation
        memory.accept(memory.reviews()[0].id)
        accepted = memory.log(limit=1)[0].id

        undone = memory.undo(merge)
        assert [(each.note, each.item, each.operation) for each in undone.kept] == [(id, "context", accepted)]
        assert (memory.read(id).context, memory.read(added)) == ("theirs", None)
        again = memory.merge(fork)
        assert (again.added, again.conflicts) == ([added], [])

        memory.undo(again.operation)
        memory.undo(accepted)
        assert memory.read(id).context == "ours"
        (conflict,) = memory.merge(fork).conflicts
        assert (conflict.note, conflict.settled) == (id, "review")


def test_a_merge_of_conflicts_alone_is_undone_and_redone_beside_what_was_accepted(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        memory.update(id, context="ours")
        fork.update(id, context="theirs")
        report = memory.merge(fork)
        assert report.words == "nothing but 1 conflict"
        memory.accept(memory.reviews()[0].id)
        undone = memory.undo(report.operation)
        lines = reversal_lines(memory, undone)
        assert any(line.startswith("left alone: context of “A note”, changed since") for line in lines)
        redone = reversal_lines(memory, memory.redo(undone.operation))
        assert "nothing of it was left to take back" not in redone
        assert (memory.read(id).context, memory.reviews(), memory.merge(fork).operation) == ("theirs", [], None)


def test_an_acceptance_that_was_undone_first_is_not_named(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note").id
    with memory.fork() as fork:
        memory.update(id, context="ours")
        fork.update(id, context="theirs")
        merge = memory.merge(fork).operation
        memory.accept(memory.reviews()[0].id)
        memory.undo()
        assert memory.undo(merge).kept == ()
    assert memory.read(id).context == "ours"


def test_labels_in_another_order_are_no_change(memory: AgenticMemorySystem) -> None:
    id = memory.add("A note", tags=["家", "tea"]).id
    with memory.fork() as fork:
        fork.update(id, tags=list(reversed(memory.read(id).tags)))
        assert memory.diff(fork).fork.notes == ()
        assert memory.merge(fork).operation is None
        fork.update(id, tags=["tea", "box"])
        memory.merge(fork)
    assert set(memory.read(id).tags) == {"tea", "box"}


def test_the_wrong_way_round_names_the_right_one(memory: AgenticMemorySystem) -> None:
    memory.add("A note")
    with memory.fork("draft") as draft:
        for refused in (draft.merge, draft.diff):
            with pytest.raises(InvalidInput, match="draft is a fork of memories") as caught:
                refused("memories")
            assert "amem -c memories merge draft" in caught.value.hint


def test_a_name_taken_since_keeps_nothing_archived_for_good(home: Path) -> None:
    for text in ("the old one", "the new one"):
        with opened(home, "d2") as memory:
            memory.add(text)
        if text == "the old one":
            archive(home, "d2")
            with pytest.raises(CollectionNotFound, match="'d2' is archived") as missing:
                opened(home, "d2", create=False)
            assert "amem collections unarchive d2" in missing.value.hint
    for stuck in (archive, unarchive):
        with pytest.raises(CollectionExists) as caught:
            stuck(home, "d2")
        assert "amem collections rename d2" in caught.value.hint
    rename(home, "d2", "d3")
    unarchive(home, "d2")
    assert (collection_names(home), archived(home)) == (["d2", "d3"], [])


def test_a_list_names_a_source_as_it_is_called_now(home: Path) -> None:
    with opened(home) as memory:
        memory.add("A note")
        memory.copy("draft")
    rename(home, "memories", "diary")
    found = with_present_origins([listed_collection(home, name) for name in collection_names(home)])
    assert [(each.name, each.origin) for each in found] == [("diary", ""), ("draft", "diary")]
    archive(home, "diary")
    (alone,) = with_present_origins([listed_collection(home, "draft")])
    assert alone.origin == "memories"

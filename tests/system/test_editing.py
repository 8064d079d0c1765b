"""update, delete, restore, purge, pin, links by hand, copies and collections."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, Filter, Kind, Status
from amem.errors import (
    AmbiguousId,
    CollectionExists,
    CollectionNotFound,
    EmptyNote,
    InvalidInput,
    NoteNotFound,
    NoteTooLong,
    StaleNote,
    StorageFull,
    UnknownField,
)
from amem.note import LinkType, MemoryNote, Source
from amem.query import Query
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Open = Callable[..., AgenticMemorySystem]


# -- update ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"colour": "red"}, UnknownField),
        ({"id": "other"}, UnknownField),
        ({"version": 3}, UnknownField),
        ({"trust": 1.0}, UnknownField),
        ({"status": "deleted"}, UnknownField),
        ({"retrieval_count": 5}, UnknownField),
        ({"content": ""}, EmptyNote),
        ({"content": " \n"}, EmptyNote),
        ({"content": None}, InvalidInput),
        ({"content": 42}, InvalidInput),
        ({"content": "x" * 20_001}, NoteTooLong),
        ({"content": "nul \x00 inside"}, InvalidInput),
        ({"tags": "one string"}, InvalidInput),
        ({"tags": [1, 2]}, InvalidInput),
        ({"tags": ["x" * 201]}, InvalidInput),
        ({"keywords": {"a": 1}}, InvalidInput),
        ({"links": "n1"}, InvalidInput),
        ({"context": ["a"]}, InvalidInput),
        ({"importance": 2}, InvalidInput),
        ({"importance": True}, InvalidInput),
        ({"importance": float("nan")}, InvalidInput),
        ({"pinned": "yes"}, InvalidInput),
        ({"kind": "poem"}, InvalidInput),
        ({"layer": "middle_term"}, InvalidInput),
        ({"timestamp": "yesterday"}, InvalidInput),
        ({"timestamp": 202403021022}, InvalidInput),
        ({"valid_to": "soon"}, InvalidInput),
        ({"metadata": ["not", "a", "dict"]}, InvalidInput),
        ({"metadata": {"when": datetime(2026, 1, 1, tzinfo=UTC)}}, InvalidInput),
        ({"metadata": {1: "one"}}, InvalidInput),
        ({"ordinal": 1.5}, InvalidInput),
        ({"ordinal": 2**63}, InvalidInput),
    ],
)
def test_a_field_that_cannot_be_set_is_refused_and_nothing_changes(
    memory: AgenticMemorySystem, fields: dict[str, Any], error: type[Exception]
):
    id = memory.add_note("the boiler is serviced in October", tags=["house"])
    before = memory.read(id)
    with pytest.raises(error):
        memory.update(id, **{"category": "Changed with it", **fields})
    assert memory.read(id) == before
    assert len(memory.log()) == 1


def test_every_field_that_may_be_set_reads_back_as_set(memory: AgenticMemorySystem):
    id = memory.add_note("a plain note")
    fields: dict[str, Any] = {
        "content": "内容 with émojis 🎻",
        "keywords": ["violin", "小提琴"],
        "tags": ["music"],
        "context": "About a violin.",
        "category": "Arts",
        "entities": ["Mara"],
        "kind": Kind.PREFERENCE,
        "importance": 0.8,
        "pinned": True,
        "metadata": {"nested": {"list": [1, 2.5, None, True, "42"]}},
        "speaker": "Mara",
        "conversation_id": "c1",
        "ordinal": 7,
        "timestamp": "2026-02-01T08:00+01:00",
    }
    assert memory.update(id, **fields)
    note = memory.memories[id]
    assert {name: getattr(note, name) for name in fields} == fields
    assert note.at == datetime(2026, 2, 1, 7, tzinfo=UTC)
    assert note.version == 2


def test_an_updated_content_is_found_by_both_legs_and_the_old_one_by_neither(memory: AgenticMemorySystem):
    id = memory.add_note("the heron stands in the pond")
    memory.add_note("a tractor in the barn")
    assert memory.search("heron pond")[0].id == id
    memory.update(id, content="violin lessons on Sunday", context="", keywords=[])
    (dense, *_) = memory.ask(Query("violin lessons on Sunday", legs=("dense",)))
    assert (dense.id, dense.explanation.legs[0].raw) == (id, pytest.approx(1.0, abs=5e-5))  # kept in two bytes a number
    assert [hit.id for hit in memory.ask(Query("violin", legs=("lexical",)))] == [id]
    assert memory.ask(Query("heron", legs=("lexical",))) == []


def test_an_update_that_changes_nothing_makes_no_version(memory: AgenticMemorySystem):
    id = memory.add_note("a plain note", tags=["a"])
    assert memory.update(id, tags=["a"], content="a plain note", links=[], timestamp=memory.memories[id].timestamp)
    assert memory.pin(id, False)
    assert memory.memories[id].version == 1
    assert len(memory.log()) == 1


def test_a_note_object_saves_what_was_changed_in_it(memory: AgenticMemorySystem):
    id, other = memory.add_note("a plain note"), memory.add_note("some other matter")
    note = memory.read(id)
    assert note is not None
    note.tags.append("edited")
    note.content = "a note that was edited"
    note.links.append(other)
    assert memory.memories[id].tags == ["scripted"]
    assert memory.update(note)
    read = memory.memories[id]
    assert (read.tags, read.content, read.links) == (["scripted", "edited"], "a note that was edited", [other])
    edit, again = memory.history(id)[-2:]
    assert set(edit.changes) == {"tags", "content"}
    assert (again.action, again.actor) == ("enrich", "scripted")
    assert "tags" not in again.changes


def test_a_note_object_whose_note_moved_on_is_stale(memory: AgenticMemorySystem):
    id = memory.add_note("a plain note")
    mine, theirs = memory.read(id), memory.read(id)
    assert mine is not None
    assert theirs is not None
    theirs.category = "Theirs"
    assert memory.update(theirs)
    mine.category = "Mine"
    with pytest.raises(StaleNote) as raised:
        memory.update(mine)
    assert raised.value.hint
    assert memory.memories[id].category == "Theirs"
    fresh = memory.read(id)
    assert fresh is not None
    fresh.category = "Mine"
    assert memory.update(fresh)


def test_a_note_object_cannot_smuggle_in_what_amem_keeps_itself(memory: AgenticMemorySystem):
    id = memory.add_note("a plain note")
    for name, value in (("retrieval_count", 99), ("status", Status.DELETED), ("enrichment", "pending")):
        note = memory.read(id)
        assert note is not None
        setattr(note, name, value)
        with pytest.raises(UnknownField):
            memory.update(note)
    assert memory.update(MemoryNote("never stored")) is False


def test_updating_links_replaces_the_untyped_ones_and_leaves_the_typed(memory: AgenticMemorySystem):
    hub, a, b, c = (memory.add_note(text) for text in ("hub of it all", "north wind", "south sea", "west end"))
    memory.update(hub, links=[b, a])
    assert memory.memories[hub].links == [b, a]
    memory.link(hub, c, "supports", "evidence")
    memory.update(hub, links=[a, "not-there-yet"])
    assert {link.target: link.type for link in memory.links(hub)} == {
        a: LinkType.RELATED,
        c: LinkType.SUPPORTS,
        "not-there-yet": LinkType.RELATED,
    }
    memory.update(hub, links=[])
    assert [(link.target, link.type) for link in memory.links(hub)] == [(c, LinkType.SUPPORTS)]


def test_a_link_to_a_note_that_comes_later_resolves_when_it_comes(memory: AgenticMemorySystem):
    early = memory.add_note("see the other one", links=["later"])
    assert memory.memories[early].links == ["later"]
    assert [finding.what for finding in memory.doctor() if finding.about == "links"] != ["every link resolves"]
    memory.add_note("here it is", id="later")
    assert [link.source for link in memory.backlinks("later")] == [early]
    assert memory.neighbourhood(early).hops == {early: 0, "later": 1}
    assert [finding.what for finding in memory.doctor() if finding.about == "links"] == ["every link resolves"]


def test_links_by_hand_are_checked(memory: AgenticMemorySystem):
    one, two = memory.add_note("north wind"), memory.add_note("south sea")
    memory.link(one, two)
    with pytest.raises(InvalidInput, match="already"):
        memory.link(one, two)
    with pytest.raises(InvalidInput, match="itself"):
        memory.link(one, one)
    with pytest.raises(InvalidInput, match="no link type"):
        memory.link(one, two, "rhymes_with")
    with pytest.raises(NoteNotFound):
        memory.link(one, "nobody")
    assert memory.unlink(one, two)
    assert memory.unlink(one, two) is False


# -- delete, restore, purge, pin -------------------------------------------------------------------------------------


def test_a_deleted_note_is_out_of_sight_and_restore_brings_back_all_of_it(memory: AgenticMemorySystem):
    id = memory.add_note("the heron stands in the pond", tags=["birds"])
    other = memory.add_note("the heron flies")
    memory.link(other, id)
    assert memory.delete(id)
    assert memory.read(id) is None
    assert id not in memory.memories
    assert memory.tags() == {"scripted": 1}
    assert memory.memories[other].links == []
    for leg in ("dense", "lexical"):
        assert id not in {hit.id for hit in memory.ask(Query("heron pond", legs=(leg,)))}
    assert memory.update(id, category="x") is False
    assert memory.delete(id) is False

    assert memory.restore(id)
    assert memory.memories[id].tags == ["birds"]
    assert memory.memories[other].links == [id]
    for leg in ("dense", "lexical"):
        assert id in {hit.id for hit in memory.ask(Query("heron pond", legs=(leg,)))}
    assert memory.restore(id) is False
    with pytest.raises(NoteNotFound):
        memory.restore("nobody")


def test_a_purged_note_leaves_no_trace_in_any_file(open_memory: Open, home: Path):
    memory = open_memory()
    secret = "xylophonesecret"
    source = Source("s1", "message", "conv", "D1:1", "Mara", None, f"said aloud: {secret}", 1)
    id = memory.add("nothing to hide here, the password is " + secret, source=source).id
    memory.update(id, content=f"an edited {secret} text", context=f"{secret} context", tags=[secret])
    memory.add_note("the password is kept elsewhere", links=[id])
    memory.delete(id)
    assert memory.purge(id)
    assert memory.purge(id) is None
    assert memory.read(id) is None
    with pytest.raises(NoteNotFound):
        memory.restore(id)
    assert memory.search(secret, k=5) == [] or all(secret not in hit.content for hit in memory.search(secret))
    memory.close()
    stem = secret.encode()
    for path in (home / "memories").rglob("*"):
        if path.is_file():
            assert stem not in path.read_bytes(), path


def test_undo_after_a_purge_says_that_it_cannot_be_undone_and_takes_nothing_else_back(memory: AgenticMemorySystem):
    kept, gone = memory.add("kept thing"), memory.add("other matter")
    memory.purge(gone.id)
    purge = memory.log()[0]
    assert purge.action == "purge"
    for named in (None, purge.id, memory.own_last()):
        with pytest.raises(InvalidInput, match=rf"operation {purge.id} \(purge\) cannot be undone") as refused:
            memory.undo(named)
        assert f"amem undo {kept.operation} " in refused.value.hint
    assert memory.log()[0] == purge
    assert memory.read(kept.id) is not None

    memory.undo(kept.operation)
    assert memory.read(kept.id) is None
    memory.redo()
    assert memory.read(kept.id) is not None
    later = memory.add("what came after")
    assert memory.undo().undone == later.operation
    with pytest.raises(InvalidInput, match="cannot be undone"):
        memory.undo()


def test_a_pinned_note_never_fades(memory: AgenticMemorySystem, clock: FrozenClock):
    id = memory.add_note("the house rule: no shoes inside", kind=Kind.CHITCHAT)
    assert memory.memories[id].stability == 3.0
    assert memory.pin(id)
    assert memory.memories[id].stability == float("inf")
    clock.advance(days=1_000)
    assert memory.search("house rule", touch=False)[0].explanation.prior.retention == 1.0
    assert memory.pin(id, False)
    assert memory.memories[id].stability == 3.0
    assert memory.pin("nobody") is False


def test_a_shortened_id_names_one_note_or_says_why_not(memory: AgenticMemorySystem):
    memory.add_note("one", id="abc-1")
    memory.add_note("two", id="abc-2")
    memory.add_note("three", id="xyz")
    assert memory.resolve("x") == "xyz"
    assert memory.resolve("abc-1") == "abc-1"
    with pytest.raises(AmbiguousId, match="2 notes"):
        memory.resolve("abc")
    with pytest.raises(NoteNotFound):
        memory.resolve("q")
    with pytest.raises(NoteNotFound):
        memory.resolve("%")
    with pytest.raises(NoteNotFound):
        memory.resolve("")
    memory.delete("xyz")
    with pytest.raises(NoteNotFound) as raised:
        memory.resolve("x")
    assert "restore" in raised.value.hint
    assert memory.resolve("x", deleted=True) == "xyz"


# -- copies and collections ------------------------------------------------------------------------------------------


def test_a_copy_is_a_collection_of_its_own(open_memory: Open, home: Path):
    memory = open_memory()
    id = memory.add_note("shared knowledge")
    folder = memory.copy("backup")
    assert folder == home / "backup"
    assert memory.collections() == ["backup", "memories"]
    memory.add_note("later thought")
    with_copy = open_memory(collection="backup")
    assert list(with_copy.memories) == [id]
    with_copy.add_note("only in the copy")
    assert with_copy.search("shared knowledge")[0].id == id
    assert len(memory.memories) == len(with_copy.memories) == 2
    with pytest.raises(CollectionExists):
        memory.copy("backup")
    for name in ("../escape", "", "a/b", ".hidden", "x" * 200, "con\x00trol"):
        with pytest.raises(InvalidInput):
            memory.copy(name)
    assert (folder / "amem.db").stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


def test_a_copy_that_cannot_be_made_leaves_nothing_behind(
    open_memory: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    memory = open_memory()
    memory.add_note("shared knowledge")
    (home / "occupied").write_text("a file, not a collection")
    with pytest.raises(CollectionExists):
        memory.copy("occupied")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for step in ("amem.storage.copies.os.open", "pathlib.Path.mkdir"):
        with monkeypatch.context() as broken:
            broken.setattr(step, full)
            with pytest.raises(StorageFull):
                memory.copy("half")
    assert memory.collections() == ["memories"]
    assert not (home / "half").exists()
    assert memory.copy("half").is_dir()


def test_collections_of_one_home_do_not_see_each_other(open_memory: Open):
    work, private = open_memory(collection="work"), open_memory(collection="private")
    work.add_note("the salary round is in March")
    assert private.search("salary round") == []
    assert work.collections() == ["private", "work"]
    with pytest.raises(CollectionNotFound):
        open_memory(collection="typo", create=False)
    assert work.collections() == ["private", "work"]


def test_systems_in_memory_are_isolated_and_cannot_be_copied(open_memory: Open, home: Path):
    one, two = open_memory(directory=None), open_memory(directory=None)
    one.add_note("known to one")
    assert len(two.memories) == 0
    assert two.search("known to one") == []
    assert one.folder is None
    with pytest.raises(InvalidInput, match="memory"):
        one.copy("backup")
    assert not home.exists()


def test_filters_and_pages_of_the_list(memory: AgenticMemorySystem, clock: FrozenClock):
    for number in range(7):
        memory.add_note(f"entry {number}", time=f"2026-01-0{number + 1}", tags=["odd" if number % 2 else "even"])
    assert [note.content for note in memory.list(limit=2)] == ["entry 6", "entry 5"]
    assert [note.content for note in memory.list(limit=2, offset=2)] == ["entry 4", "entry 3"]
    assert len(memory.list(Filter(tags=("odd",)))) == memory.count(Filter(tags=("ODD",))) == 3
    since = Filter(since=datetime(2026, 1, 6, tzinfo=UTC))
    assert {note.content for note in memory.list(since)} <= {"entry 5", "entry 6", "entry 4"}
    with pytest.raises(InvalidInput):
        memory.list(order="colour")


def test_a_closed_system_can_be_closed_again_and_a_new_one_opened(home: Path):
    with AgenticMemorySystem(directory=home, embedder=HashEmbedder(), analyst=ScriptedAnalyst()) as memory:
        id = memory.add_note("kept on disk")
    memory.close()
    with AgenticMemorySystem(directory=home, embedder=HashEmbedder(), analyst=ScriptedAnalyst()) as again:
        assert again.memories[id].content == "kept on disk"

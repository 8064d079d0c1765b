"""Undo, redo and rollback: what an operation did is taken back, and nothing that came later."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from storing import change, put, search

from amem.errors import InvalidInput, NothingToUndo, OperationNotFound
from amem.note import Link, LinkType, Status
from amem.storage.undo import redo, rollback, undo

if TYPE_CHECKING:
    from amem.note import MemoryNote
    from amem.storage.store import Session, Store
    from amem.testing import FrozenClock


def read(session: Session, id: str) -> MemoryNote:
    note = session.notes.get(id)
    assert note is not None
    return note


def related(session: Session, source: str, target: str) -> Link:
    return Link(source, target, LinkType.RELATED, "both are tea", 0.8, "offline", session.now)


def test_undoing_a_change_brings_the_old_text_back(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.", tags=["a"])
        change(session, id, content="Coffee.", tags=["b"])
        report = undo(session, "user")
        assert (read(session, id).content, read(session, id).tags) == ("Tea.", ["a"])
        assert set(report.reverted) == {(id, "content"), (id, "tags")}
        assert report.kept == ()
        assert len(search(session, ["tea"])) == 1


def test_later_work_on_another_field_is_kept(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.", tags=["a"])
        first = change(session, id, content="Coffee.", tags=["b"])
        second = change(session, id, tags=["c"])
        report = undo(session, "user", first)
        assert (read(session, id).content, read(session, id).tags) == ("Tea.", ["c"])
        assert report.reverted == ((id, "content"),)
        assert [(each.note, each.item, each.operation) for each in report.kept] == [(id, "tags", second)]


def test_undoing_an_addition_deletes_and_redo_restores(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
        undo(session, "user")
        assert session.notes.get(id) is None
        redo(session, "user")
        assert read(session, id).status is Status.ACTIVE
        assert len(search(session, ["tea"])) == 1


def test_an_added_note_that_was_worked_on_is_not_taken_away(store: Store) -> None:
    with store.write() as session:
        operation = session.begin("add", "user")
        id = put(session, "Tea.", operation)
        later = change(session, id, content="Green tea.")
        report = undo(session, "user", operation)
        assert read(session, id).content == "Green tea."
        assert [(each.item, each.operation) for each in report.kept] == [("note", later)]


def test_undoing_a_delete_brings_the_note_and_its_links_back(store: Store) -> None:
    with store.write() as session:
        one, other = put(session, "Tea."), put(session, "Milk.")
        session.links.put(related(session, one, other), session.begin("link", "user"))
        change(session, other, action="delete", status=str(Status.DELETED))
        assert session.links.of(one) == []
        assert read(session, one).links == []
        undo(session, "user")
        assert read(session, other).content == "Milk."
        assert read(session, one).links == [other]


def test_what_an_operation_set_off_goes_with_it(store: Store) -> None:
    with store.write() as session:
        old = put(session, "Tea.", context="old")
        top = session.begin("add", "user")
        new = put(session, "Green tea.", top)
        child = session.begin("evolve", "offline", parent=top)
        session.links.put(related(session, new, old), child)
        session.notes.change(old, {"context": "new"}, child)
        report = undo(session, "user")
        assert report.undone == top
        assert session.notes.get(new) is None
        assert session.links.to(old) == []
        assert read(session, old).context == "old"
        redo(session, "user")
        assert read(session, new).links == [old]
        assert read(session, old).context == "new"


def test_links_added_and_removed_are_undone_and_redone(store: Store) -> None:
    with store.write() as session:
        one, other = put(session, "Tea."), put(session, "Milk.")
        made = related(session, one, other)
        session.links.put(made, session.begin("link", "user"))
        assert session.links.remove(one, other, LinkType.RELATED, session.begin("unlink", "user"))
        undo(session, "user")
        assert session.links.of(one) == [made]
        undo(session, "user")
        assert session.links.of(one) == []
        redo(session, "user")
        assert session.links.of(one) == [made]


def test_undo_walks_back_and_redo_forward(store: Store) -> None:
    with store.write() as session:
        id = put(session, "one")
        change(session, id, content="two")
        change(session, id, content="three")
        texts = []
        for step in (undo, undo, redo, redo, undo, redo):
            step(session, "user")
            texts.append(read(session, id).content)
        assert texts == ["two", "one", "two", "three", "two", "three"]


def test_each_operation_is_undone_once(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
        operation = change(session, id, content="Coffee.")
        first = undo(session, "user", operation)
        assert session.operations.get(operation).undone
        with pytest.raises(InvalidInput, match="undone already"):
            undo(session, "user", operation)
        with pytest.raises(InvalidInput, match="itself"):
            undo(session, "user", first.operation)
        with pytest.raises(OperationNotFound):
            undo(session, "user", 999)


def test_nothing_to_undo_or_redo_is_said(store: Store) -> None:
    with store.write() as session:
        with pytest.raises(NothingToUndo):
            undo(session, "user")
        put(session, "Tea.")
        with pytest.raises(NothingToUndo):
            redo(session, "user")
        undo(session, "user")
        with pytest.raises(NothingToUndo):
            undo(session, "user")


def test_a_purge_cannot_be_undone(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
        operation = session.begin("purge", "user")
        session.notes.purge([id])
        with pytest.raises(InvalidInput, match="cannot be undone"):
            undo(session, "user", operation)


def test_undo_of_what_was_purged_since_changes_nothing(store: Store) -> None:
    with store.write() as session:
        operation = session.begin("add", "user")
        id = put(session, "Tea.", operation)
        session.begin("purge", "user")
        session.notes.purge([id])
        assert undo(session, "user", operation).reverted == ()


def test_rollback_sets_a_note_back_as_a_new_version(store: Store) -> None:
    with store.write() as session:
        id = put(session, "one", tags=["a"])
        change(session, id, content="two")
        change(session, id, content="three", tags=["b"])
        assert set(rollback(session, "user", id, 1)) == {"content", "tags"}
        note = read(session, id)
        assert (note.content, note.tags, note.version) == ("one", ["a"], 4)
        rollback(session, "user", id, 2)
        assert read(session, id).content == "two"
        undo(session, "user")
        assert read(session, id).content == "one"
        with pytest.raises(OperationNotFound, match="no version 99"):
            rollback(session, "user", id, 99)


def test_rollback_does_not_bring_a_deleted_note_back(store: Store) -> None:
    with store.write() as session:
        id = put(session, "one")
        change(session, id, content="two")
        change(session, id, status=str(Status.DELETED))
        rollback(session, "user", id, 1)
        assert session.notes.get(id) is None


def test_the_log_says_who_did_what_and_when(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        yesterday = put(session, "old")
    clock.advance(days=1)
    with store.write() as session:
        top = session.begin("add", "user", "cli")
        new = put(session, "new", top)
        child = session.begin("evolve", "offline", parent=top)
        session.links.put(related(session, new, yesterday), child)
        session.notes.change(yesterday, {"context": "x"}, child)
    with store.read() as session:
        lines = session.operations.log(since=clock.now() - timedelta(hours=1))
        assert [(each.action, each.actor, each.notes, each.created, each.links) for each in lines] == [
            ("evolve", "offline", (yesterday,), (), 1),
            ("add", "user", (), (new,), 0),
        ]
        assert lines[0].parent == lines[1].id
        assert [each.action for each in session.operations.log() if each.parent is None] == ["add", "add"]
        assert [each.action for each in session.operations.log(actor="offline")] == ["evolve"]
        assert len(session.operations.log(limit=1)) == 1

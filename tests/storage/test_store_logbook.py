"""The log in order, who wrote it, what each operation did; versions compared; what took whose place."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from storing import change, put

from amem.clock import zone
from amem.errors import NoteNotFound, OperationNotFound
from amem.note import Link, LinkType, Status
from amem.storage.undo import redo, rollback, undo

if TYPE_CHECKING:
    from amem.storage.store import Session, Store
    from amem.testing import FrozenClock

UTC = zone("UTC")


def supersede(session: Session, old: str, new: str) -> int:
    """Put one note in the place of another."""
    operation = session.begin("supersede", "amem")
    session.notes.change(old, {"status": "superseded", "superseded_by": new}, operation)
    session.links.put(Link(new, old, LinkType.SUPERSEDES, "moved", 0.9, "amem", session.now), operation)
    return operation


def test_the_order_of_the_log_is_newest_first_with_parents_and_days(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        first = session.begin("add", "user")
        child = session.begin("evolve", "offline", parent=first)
    clock.advance(timedelta(days=1))
    with store.write() as session:
        last = session.begin("add", "agent:helper")
    with store.read() as session:
        order = session.operations.order(UTC)
        assert order.ids.tolist() == [last, child, first]
        assert order.parents.tolist() == [0, first, 0]
        assert [date.fromordinal(day).isoformat() for day in order.days.tolist()] == [
            "2026-02-02",
            "2026-02-01",
            "2026-02-01",
        ]
        assert len(session.operations.order(UTC, since=clock.now() - timedelta(hours=1))) == 1
        assert session.operations.order(UTC, actor="offline").ids.tolist() == [child]


def test_days_are_those_of_the_place_one_is_in(store: Store, clock: FrozenClock) -> None:
    clock.advance(timedelta(hours=14, minutes=40))  # 23:40 in UTC
    with store.write() as session:
        session.begin("add", "user")
    with store.read() as session:
        (there,) = session.operations.order(zone("Asia/Kathmandu")).days.tolist()  # a quarter to six ahead
        assert date.fromordinal(there).isoformat() == "2026-02-02"


def test_everyone_who_wrote_is_counted_most_first(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        for actor in ("user", "offline", "offline"):
            session.begin("add", actor)
    with store.read() as session:
        assert list(session.operations.actors().items()) == [("offline", 2), ("user", 1)]
        assert session.operations.actors(since=clock.now() + timedelta(days=1)) == {}


def test_operations_come_in_the_order_asked_for_without_those_that_are_not_there(store: Store) -> None:
    with store.write() as session:
        one, two = session.begin("add", "user"), session.begin("pin", "user")
        assert [each.id for each in session.operations.of([one, 99, two])] == [one, two]


def test_what_an_operation_did_is_told_in_full(store: Store) -> None:
    with store.write() as session:
        operation = session.begin("add", "user")
        old = put(session, "Tea.", tags=["a"])
        new = put(session, "Green tea.", operation, tags=["b"])
        session.notes.change(old, {"tags": ["b"]}, operation)
        session.notes.change(old, {"tags": ["c"]}, operation)
        session.links.put(Link(new, old, LinkType.SUPPORTS, "both tea", 0.8, "user", session.now), operation)
        session.flags.put(old, new, "leans", operation)
        session.notes.corroborate(old, "user", operation)
        session.reviews.propose(
            old, {"context": ("", "x")}, operation=operation, base_version=1, reason="so", confidence=0.5,
            made_by="m", days=30,
        )  # fmt: skip
        found = session.operations.doings(operation, most=10)
        assert found.operation.id == operation
        assert found.changes[old] == {"tags": (["a"], ["c"])}
        assert found.changes[new]["content"] == (None, "Green tea.")
        assert "context" not in found.changes[new]
        assert [(each.source, each.target, each.reason, each.added) for each in found.links] == [
            (new, old, "both tea", True)
        ]
        assert [review.note for review in found.reviews] == [old]
        assert (found.flagged, found.witnessed) == ((old,), (old,))
        taken_away = session.begin("unlink", "user")
        session.links.remove(new, old, LinkType.SUPPORTS, taken_away)
        assert [each.added for each in session.operations.doings(taken_away, most=10).links] == [False]
        assert len(session.operations.doings(operation, most=1).changes) == 1
        with pytest.raises(OperationNotFound):
            session.operations.doings(99, most=1)


def test_two_versions_differ_in_what_was_changed_between_them(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.", tags=["a"])
        change(session, id, content="Green tea.")
        change(session, id, tags=["b"])
        change(session, id, content="Tea.")
        assert session.notes.differences(id, 1, 2) == {"content": ("Tea.", "Green tea.")}
        assert session.notes.differences(id, 2) == {"content": ("Green tea.", "Tea."), "tags": (["a"], ["b"])}
        assert session.notes.differences(id, 1, 4) == {"tags": (["a"], ["b"])}
        born = session.notes.differences(id, 0, 1)
        assert (born["content"], born["tags"]) == ((None, "Tea."), (None, ["a"]))
        assert "context" not in born
        with pytest.raises(OperationNotFound, match="has no version 5"):
            session.notes.differences(id, 5)
        with pytest.raises(NoteNotFound):
            session.notes.differences("nobody", 1)


def test_a_rollback_does_what_it_said_it_would(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.", tags=["a"])
        change(session, id, content="Green tea.", tags=["b"])
        change(session, id, status="archived", tags=["c"])
        would = session.notes.would_roll_back(id, 1)
        assert would == {"content": ("Green tea.", "Tea."), "tags": (["c"], ["a"])}
        assert set(rollback(session, "user", id, 1)) == set(would)
        assert session.notes.would_roll_back(id, 1) == {}
        with pytest.raises(OperationNotFound):
            session.notes.would_roll_back(id, 0)


def test_only_so_many_versions_are_read_and_they_are_the_newest(store: Store) -> None:
    with store.write() as session:
        id = put(session, "0")
        for place in range(1, 5):
            change(session, id, content=str(place))
        assert [each.version for each in session.operations.history(id, limit=2)] == [4, 5]
        assert [each.version for each in session.operations.history(id)] == [1, 2, 3, 4, 5]


def test_a_version_says_how_sure_the_proposal_was_that_it_accepted(store: Store) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
        review = session.reviews.propose(
            id, {"context": ("", "x")}, operation=session.begin("evolve", "m"), base_version=1, reason="so",
            confidence=0.5, made_by="m", days=30,
        )  # fmt: skip
        accepted = change(session, id, "accept", context="x")
        session.reviews.decide(review, "accepted", accepted)
        change(session, id, tags=["a"])
        assert [(each.confidence, each.proposed_by) for each in session.operations.history(id)] == [
            (None, ""),
            (0.5, "m"),
            (None, ""),
        ]


def test_a_chain_of_successors_is_told_from_any_of_its_notes_in_order_of_time(store: Store) -> None:
    with store.write() as session:
        porto, lisbon, berlin = (
            put(session, city, at=session.now - timedelta(days=days))
            for city, days in (("Porto", 30), ("Lisbon", 20), ("Berlin", 10))
        )
        apart = put(session, "Tea.")
        supersede(session, porto, lisbon)
        last = supersede(session, lisbon, berlin)
        for id in (porto, lisbon, berlin):
            assert [note.content for note in session.reviews.succession(id)] == ["Porto", "Lisbon", "Berlin"]
        assert [note.id for note in session.reviews.succession(apart)] == [apart]
        assert [(each.source, each.target) for each in session.reviews.supersessions(10)] == [
            (berlin, lisbon),
            (lisbon, porto),
        ]
        assert len(session.reviews.supersessions(1)) == 1
        undo(session, "user", last)
        assert [(each.source, each.target) for each in session.reviews.supersessions(10)] == [(lisbon, porto)]
        change(session, lisbon, status=str(Status.DELETED))
        assert [note.content for note in session.reviews.succession(porto)] == ["Porto", "Lisbon"]
        assert session.reviews.supersessions(10) == []
        with pytest.raises(NoteNotFound):
            session.reviews.succession("nobody")


@pytest.mark.parametrize(("action", "state"), [("accept", "accepted"), ("reject", "rejected")])
def test_a_decision_that_is_undone_and_redone_is_a_decision_again(store: Store, action: str, state: str) -> None:
    with store.write() as session:
        id = put(session, "Tea.")
        review = session.reviews.propose(
            id, {"context": ("", "x")}, operation=session.begin("evolve", "m"), base_version=1, reason="so",
            confidence=0.5, made_by="m", days=30,
        )  # fmt: skip
        decided = session.begin(action, "user")
        if action == "accept":
            session.notes.change(id, {"context": "x"}, decided)
        session.reviews.decide(review, state, decided)
        undo(session, "user", decided)
        assert [each.id for each in session.reviews.open()] == [review]
        redo(session, "user")
        assert session.reviews.open() == []
        assert [each.state for each in session.reviews.of([review])] == [state]
        undo(session, "user", decided)
        assert [each.id for each in session.reviews.open()] == [review]

"""Jobs that no two workers do, reviews that wait for a person, and vectors that follow their text."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from storing import change, put

from amem.errors import ReviewNotFound
from amem.note import Status
from amem.storage.jobs import Owner, is_gone
from amem.storage.store import Store
from amem.storage.undo import undo
from amem.storage.vectors import GONE, text_hash

if TYPE_CHECKING:
    from pathlib import Path

    from amem.storage.store import Session
    from amem.testing import FrozenClock


class TestJobs:
    def test_two_workers_never_get_one_job(self, folder: Path, clock: FrozenClock) -> None:
        with closing(Store(folder, clock)) as one, closing(Store(folder, clock)) as other:
            with one.write() as session:
                for n in range(6):
                    session.jobs.put("enrich", put(session, f"note {n}"), None)
            taken = []
            for turn in range(8):
                who, store = ("one", one) if turn % 2 else ("other", other)
                with store.write() as session:
                    job = session.jobs.lease("enrich", who, seconds=60)
                taken.append(job and job.id)
            assert taken == [1, 2, 3, 4, 5, 6, None, None]

    def test_a_lease_that_ran_out_is_taken_over(self, store: Store, clock: FrozenClock) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            first = session.jobs.lease("enrich", "crashed", seconds=60)
            assert session.jobs.lease("enrich", "other", seconds=60) is None
        clock.advance(minutes=1)
        with store.write() as session:
            second = session.jobs.lease("enrich", "other", seconds=60)
            assert first is not None
            assert second is not None
            assert (second.id, second.note) == (first.id, id)
            assert session.jobs.lease("enrich", "third", seconds=60) is None
            assert session.jobs.settle("enrich", id, "other")
            assert session.jobs.count("enrich") == 0

    def test_a_failed_job_waits_again_with_its_error(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            job = session.jobs.lease("enrich", "one", seconds=60)
            assert job is not None
            session.jobs.settle("enrich", id, "one", error="the model is down")
            assert session.jobs.lease("enrich", "one", seconds=60, skip=frozenset({job.id})) is None
            again = session.jobs.lease("enrich", "one", seconds=60)
        assert again is not None
        assert again.error == "the model is down"

    def test_one_kind_of_job_waits_once_per_note(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            session.jobs.put("enrich", id, None, error="newer")
            session.jobs.put("other", id, None)
            assert (session.jobs.count("enrich"), session.jobs.count("other")) == (1, 1)
            job = session.jobs.lease("enrich", "one", seconds=60)
        assert job is not None
        assert job.error == "newer"

    def test_a_purged_note_takes_its_job_along(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            session.notes.purge([id])
            assert session.jobs.count("enrich") == 0


def propose(session: Session, id: str, text: str) -> tuple[int, int]:
    """Queue a new context; returns (review, operation)."""
    operation = session.begin("evolve", "offline")
    review = session.reviews.propose(
        id,
        {"context": ("", text)},
        operation=operation,
        base_version=1,
        reason="it is newer",
        confidence=0.7,
        made_by="offline",
        days=30,
    )
    return review, operation

    def test_who_comes_late_frees_nobody_elses_lease(self, store: Store, clock: FrozenClock) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            assert session.jobs.lease("enrich", "slow", seconds=60) is not None
        clock.advance(minutes=1)
        with store.write() as session:
            assert session.jobs.lease("enrich", "quick", seconds=60) is not None
            assert not session.jobs.held("enrich", id, "slow")
            assert not session.jobs.settle("enrich", id, "slow")
            assert not session.jobs.settle("enrich", id, "slow", error="too late")
            assert session.jobs.give_back("slow") == 0
            assert session.jobs.lease("enrich", "third", seconds=60) is None
            assert session.jobs.held("enrich", id, "quick")
            assert session.jobs.settle("enrich", id, "quick")
            assert session.jobs.count("enrich") == 0

    def test_a_note_with_another_text_is_free_for_anyone(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put("enrich", id, None)
            session.jobs.lease("enrich", "one", seconds=60)
            session.jobs.put("enrich", id, None)
            assert not session.jobs.settle("enrich", id, "one")
            assert session.jobs.lease("enrich", "other", seconds=60) is not None

    def test_a_job_that_is_there_is_not_queued_again(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            session.jobs.put_new("enrich", id, None)
            job = session.jobs.claim("enrich", id, "one", seconds=60)
            session.jobs.put_new("enrich", id, None, error="not said")
            assert session.jobs.held("enrich", id, "one")
            again = session.jobs.claim("enrich", id, "one", seconds=60)
            assert job is not None
            assert again is not None
            assert (again.id, again.error) == (job.id, "")
            assert session.jobs.claim("enrich", id, "other", seconds=60) is None

    def test_what_an_owner_holds_is_given_back_by_the_beginning_of_its_name(self, store: Store) -> None:
        with store.write() as session:
            ids = [put(session, f"note {n}") for n in range(3)]
            for id, owner in zip(ids, ("host:7:a:1", "host:7:a:2", "host:7:b:1"), strict=True):
                session.jobs.put("enrich", id, None)
                session.jobs.claim("enrich", id, owner, seconds=60)
            assert session.jobs.give_back("host:7:a:") == 2
            assert [session.jobs.held("enrich", ids[2], "host:7:b:1")] == [True]
            assert session.jobs.give_back_of(lambda owner: owner.startswith("host:7")) == 1
            assert session.jobs.lease("enrich", "anyone", seconds=60, skip=(1, 2)) is not None

    def test_the_jobs_of_a_process_that_died_are_free_and_those_of_one_that_lives_are_not(self, store: Store) -> None:
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        mine = Owner().one_more()
        host = mine.split(":")[0]
        with store.write() as session:
            owners = (mine, f"{host}:{dead.pid}:x:1", "elsewhere:1:x:1", "somebody else")
            ids = [put(session, f"note {n}") for n in range(len(owners))]
            for id, owner in zip(ids, owners, strict=True):
                session.jobs.put("enrich", id, None)
                session.jobs.claim("enrich", id, owner, seconds=60)
            assert session.jobs.give_back_of(is_gone) == (1 if os.name == "posix" else 0)
            held = [session.jobs.held("enrich", id, owner) for id, owner in zip(ids, owners, strict=True)]
            assert held == [True, os.name != "posix", True, True]


class TestReviews:
    def test_a_proposal_waits_until_it_is_decided(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            review, _ = propose(session, id, "About tea.")
            held = session.reviews.open()
            assert [(each.id, each.note, each.changes, each.confidence) for each in held] == [
                (review, id, {"context": ("", "About tea.")}, 0.7)
            ]
            session.reviews.decide(review, "rejected", session.begin("review", "user"))
            assert session.reviews.open() == []
            with pytest.raises(ReviewNotFound, match="rejected already"):
                session.reviews.get(review)

    def test_a_newer_proposal_replaces_the_older(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            old, _ = propose(session, id, "one")
            new, _ = propose(session, id, "two")
            assert [each.id for each in session.reviews.open()] == [new]
            with pytest.raises(ReviewNotFound, match="replaced"):
                session.reviews.get(old)

    def test_a_proposal_expires(self, store: Store, clock: FrozenClock) -> None:
        with store.write() as session:
            review, _ = propose(session, put(session, "Tea."), "one")
        clock.advance(days=30)
        with store.read() as session:
            assert session.reviews.open() == []
            with pytest.raises(ReviewNotFound, match="expired"):
                session.reviews.get(review)
            with pytest.raises(ReviewNotFound, match="no review 99"):
                session.reviews.get(99)

    def test_undoing_the_decision_opens_it_again(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            review, _ = propose(session, id, "About tea.")
            decision = session.begin("review", "user")
            session.notes.change(id, {"context": "About tea."}, decision)
            session.reviews.decide(review, "accepted", decision)
            undo(session, "user")
            assert session.reviews.get(review).state == "open"
            note = session.notes.get(id)
        assert note is not None
        assert note.context == ""

    def test_undoing_what_proposed_it_withdraws_it(self, store: Store) -> None:
        with store.write() as session:
            review, operation = propose(session, put(session, "Tea."), "one")
            undo(session, "user", operation)
            assert session.reviews.open() == []
            with pytest.raises(ReviewNotFound, match="withdrawn"):
                session.reviews.get(review)


class TestVectors:
    def test_a_text_is_kept_once_and_followed_by_the_counter(self, store: Store) -> None:
        with store.write() as session:
            space = session.vectors.add_space("model", 3, "content", active=True)
            ids = [put(session, "Tea."), put(session, "tea again"), put(session, "no vector")]
            one = np.array([1, 0, 0], dtype=np.float32)
            session.vectors.put(space, {text_hash("tea"): one})
            session.vectors.put(space, {text_hash("tea"): -one})
            for id in ids[:2]:
                session.notes.address(id, text_hash("tea"))
            assert session.vectors.count() == 1
            assert session.vectors.missing() == [ids[2]]
            seen = session.counter
        with store.read() as session:
            keys, matrix = session.vectors.changed(space, 0)
            assert (keys.tolist(), matrix.tolist()) == ([1, 2], [[1, 0, 0], [1, 0, 0]])
            assert session.vectors.changed(space, seen)[0].tolist() == []
            assert session.vectors.known(space, [text_hash("tea"), b"x"]).keys() == {text_hash("tea")}
        with store.write() as session:
            change(session, ids[0], status=str(Status.DELETED))
            keys, states = session.vectors.states(seen)
            assert (keys.tolist(), states.tolist()) == ([1], [GONE])
            session.notes.purge([ids[0]])
            assert session.vectors.count() == 1
            session.notes.purge([ids[1]])
            assert session.vectors.count() == 0

    def test_switching_spaces_drops_the_old_vectors(self, store: Store) -> None:
        with store.write() as session:
            old = session.vectors.add_space("old", 3, "content", active=True)
            id = put(session, "Tea.")
            session.vectors.put(old, {text_hash("Tea."): np.ones(3, dtype=np.float32)})
            session.notes.address(id, text_hash("Tea."))
            new = session.vectors.add_space("new", 2, "paper", active=False)
            session.vectors.put(new, {text_hash("paper"): np.ones(2, dtype=np.float32)})
            assert session.vectors.space() == old
            session.vectors.switch(new, {1: text_hash("paper")})
            assert session.vectors.space() == new
            assert session.vectors.count() == 1
            assert session.vectors.changed(new, 0)[1].tolist() == [[1.0, 1.0]]
            assert new.fingerprint != old.fingerprint

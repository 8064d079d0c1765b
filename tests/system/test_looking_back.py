"""The log, versions and disputes as somebody looks through them, asked of the whole system."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from amem.clock import parse_time, zone
from amem.errors import InvalidInput
from amem.language.times import moment_of
from amem.note import Fact, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem


def test_one_s_own_last_step_is_not_what_others_did_since(memory: AgenticMemorySystem) -> None:
    mine = memory.add_note("I like tea")
    agent = memory.acting_as("agent:helper")
    agent.add("The kettle is new")
    last = memory.own_last()
    assert last is not None
    assert memory.operations([last])[0].created == (mine,)
    memory.undo(last)
    assert memory.own_last() is None
    assert agent.own_last() is not None
    assert memory.count() == 1


def test_one_s_own_last_step_was_done_through_this_object(
    memory: AgenticMemorySystem, open_memory: Callable[..., AgenticMemorySystem]
) -> None:
    memory.add("I like tea")
    other = open_memory()
    assert other.own_last() is None
    assert other.own_undone() is None
    other.add("The kettle is new")
    last, undo = other.own_last(), other.undo(other.own_last())
    assert undo.undone == last
    assert other.own_last() is None
    assert other.own_undone() == undo.operation
    memory.undo(memory.own_last())
    assert other.redo(other.own_undone()).undone == undo.operation
    assert [note.content for note in memory.list()] == ["The kettle is new"]
    assert other.own_undone() is None
    with pytest.raises(InvalidInput, match="no undo that stands"):
        other.redo(undo.operation)


def test_what_was_not_committed_was_not_done(memory: AgenticMemorySystem) -> None:
    def fails() -> None:
        with memory.parts.store.write() as session:
            session.begin("add", "user")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert memory.parts.store.begun == ()


def test_the_log_is_narrowed_by_words_for_a_time_and_by_actor(memory: AgenticMemorySystem) -> None:
    memory.add("I like tea")
    memory.acting_as("agent:helper").add("The kettle is new")
    everything = len(memory.log_order())
    assert len(memory.log_order("today")) == len(memory.log_order("7d")) == everything
    assert len(memory.log_order("2999-01-01")) == 0
    assert set(memory.actors("today")) >= {"user", "agent:helper"}
    helper = memory.log_order(actor="agent:helper")
    assert {each.actor for each in memory.operations(helper.ids.tolist())} == {"agent:helper"}
    with pytest.raises(InvalidInput):
        memory.log_order("whenever")


def test_a_time_is_read_as_people_say_it() -> None:
    utc = zone("UTC")
    now = parse_time("2026-03-12T09:30", utc)
    assert moment_of("today", utc, now).isoformat() == "2026-03-12T00:00:00+00:00"
    assert moment_of("yesterday", utc, now).isoformat() == "2026-03-11T00:00:00+00:00"
    assert moment_of("7d", utc, now) == now - timedelta(days=7)
    with pytest.raises(InvalidInput, match="too long ago"):
        moment_of("99999999999w", utc, now)


def test_versions_are_compared_and_a_rollback_is_told_before_it_is_made(memory: AgenticMemorySystem) -> None:
    id = memory.add_note("I like tea", tags=["tea"])
    memory.update(id, content="I like green tea")
    first = memory.history(id)[0].version
    assert memory.differences(id, first)["content"] == ("I like tea", "I like green tea")
    assert memory.would_roll_back(id, first)["content"] == ("I like green tea", "I like tea")
    assert [each.version for each in memory.history(id, limit=1)] == [memory.history(id)[-1].version]
    made = memory.history(id)[0].operation
    assert memory.doings(made).changes[id]["content"] == (None, "I like tea")


def test_what_took_whose_place_is_told_and_doubts_leave_out_open_conflicts(memory: AgenticMemorySystem) -> None:
    lives = [
        memory.add(f"I moved to {city}.", time=f"{year}-01-01", facts=[Fact("user", "lives_in", city)]).id
        for city, year in (("Porto", 2018), ("Lisbon", 2020))
    ]
    lease = memory.add_note("The lease in Porto ends in May")
    memory.link(lease, lives[0], "part_of")
    assert [(link.source, link.target) for link in memory.supersessions()] == [(lives[1], lives[0])]
    assert [note.status for note in memory.succession(lives[1])] == [Status.SUPERSEDED, Status.ACTIVE]
    paired = {(each.earlier, each.later) for each in memory.conflicts_open()}
    assert [flag.id for flag in memory.doubted()] == [
        flag.id for flag in memory.flags() if (flag.note, flag.because) not in paired
    ]

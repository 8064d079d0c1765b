"""What faded comes back when it is asked for twice; a single glance, or a search that leaves it out, does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Filter, Status
from amem.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

EVERYTHING = Filter(statuses=(Status.ACTIVE, Status.ARCHIVED))


@pytest.fixture
def faded(memory: AgenticMemorySystem, clock: FrozenClock) -> str:
    """A note that has faded."""
    id = memory.add("The ferry to Texel was full of cyclists.", kind="episode", importance=0.2).id
    clock.advance(days=100)
    assert memory.maintain().faded == 1
    return id


def status(memory: AgenticMemorySystem, id: str) -> str:
    note = memory.read(id)
    assert note is not None
    return str(note.status)


def test_two_uses_on_different_days_bring_it_back(memory: AgenticMemorySystem, clock: FrozenClock, faded: str) -> None:
    for _ in range(3):
        assert [hit.id for hit in memory.search("ferry to Texel", filter=EVERYTHING)] == [faded]
    assert status(memory, faded) == "archived"

    clock.advance(days=1)
    memory.opened([faded])

    assert status(memory, faded) == "active"
    assert [hit.id for hit in memory.search("ferry to Texel", touch=False)] == [faded]
    (returned, *_) = memory.log()
    assert (returned.action, returned.actor, returned.parent) == ("return", "amem", None)
    assert returned.cause == "recalled twice since it was archived"
    clock.advance(days=59)
    assert memory.maintain().faded == 0


def test_that_can_be_undone_and_then_takes_two_uses_again(
    memory: AgenticMemorySystem, clock: FrozenClock, faded: str
) -> None:
    for _ in range(2):
        memory.opened([faded])
        clock.advance(days=1)
    memory.undo(memory.log()[0].id)
    assert status(memory, faded) == "archived"

    memory.opened([faded])
    assert status(memory, faded) == "archived"
    clock.advance(days=1)
    memory.opened([faded])
    assert status(memory, faded) == "active"


def test_uses_before_it_faded_do_not_count(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = memory.add("lol", kind="chitchat", importance=0.1).id
    for _ in range(5):
        memory.opened([id])
        clock.advance(days=1)
    clock.advance(days=300)
    assert memory.maintain().faded == 1

    memory.opened([id])
    assert status(memory, id) == "archived"


def test_browsing_and_default_searches_leave_it_where_it_is(
    memory: AgenticMemorySystem, clock: FrozenClock, faded: str
) -> None:
    for _ in range(4):
        assert memory.search("ferry to Texel") == []
        memory.ask(Query("ferry to Texel", filter=EVERYTHING, touch=False))
        memory.read(faded)
        clock.advance(days=1)
    assert status(memory, faded) == "archived"


def test_an_agent_that_reads_it_by_id_uses_it(memory: AgenticMemorySystem, clock: FrozenClock, faded: str) -> None:
    for _ in range(2):
        assert memory.tools().call("memory_read", {"id": faded})["ok"]
        clock.advance(days=1)
    assert status(memory, faded) == "active"


def test_uses_are_counted_in_one_statement(memory: AgenticMemorySystem) -> None:
    ids = [memory.add(f"Train {n} leaves from platform {n}.").id for n in range(20)]
    with memory.parts.store.read() as session:
        keys = list(session.notes.keys_of(ids).values())
    said: list[str] = []
    with memory.parts.store.write() as session:
        session.connection.set_trace_callback(said.append)
        assert session.usage.touch(keys) == 20
        assert session.usage.touch(keys) == 0
        session.connection.set_trace_callback(None)

    assert len(said) == 2
    assert all("INSERT INTO usage" in each for each in said)

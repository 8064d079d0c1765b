"""Notes of several users, agents and sessions in one collection, told apart by the ids they were added with."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, text

from amem import Filter
from amem.errors import InvalidInput
from amem.query import Query
from amem.settings import Settings
from amem.storage import tables
from amem.storage.filters import conditions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder


def found(memory: AgenticMemorySystem, question: str, **conditions: Any) -> set[str]:
    return {hit.content for hit in memory.search(question, k=10, filter=Filter(**conditions), touch=False)}


def test_each_user_agent_and_session_finds_their_own(memory: AgenticMemorySystem) -> None:
    memory.add("I am allergic to nuts.", user_id="ana", session_id="monday")
    memory.add("我对花生过敏。", user_id="ana", agent_id="planner")
    memory.add("I am allergic to cats.", metadata={"user_id": "bo", "mood": "sad"})
    memory.add("Allergies are common.")
    assert found(memory, "allergic 过敏", user_id="ana") == {"I am allergic to nuts.", "我对花生过敏。"}
    assert found(memory, "allergic 过敏", user_id="bo") == {"I am allergic to cats."}
    assert found(memory, "allergic 过敏", user_id="ana", agent_id="planner") == {"我对花生过敏。"}
    assert found(memory, "allergic 过敏", session_id="monday") == {"I am allergic to nuts."}
    assert found(memory, "allergic 过敏", user_id="nobody") == set()
    assert len(found(memory, "allergic 过敏")) == 4
    assert memory.count(Filter(user_id="ana")) == len(memory.list(Filter(user_id="ana"))) == 2


def test_an_id_kept_as_a_number_is_the_same_id(memory: AgenticMemorySystem) -> None:
    memory.add("Tea at five.", metadata={"user_id": 42})
    assert found(memory, "tea", user_id="42") == {"Tea at five."}
    assert found(memory, "tea", user_id="042") == set()
    assert found(memory, "tea", user_id="9" * 40) == set()


def test_ids_that_contradict_the_metadata_or_are_none_are_refused(memory: AgenticMemorySystem) -> None:
    for fields in (
        {"user_id": "ana", "metadata": {"user_id": "bo"}},
        {"user_id": ""},
        {"agent_id": 7},
        {"session_id": "nul \x00"},
        {"user_id": "ana", "metadata": "none"},
    ):
        with pytest.raises(InvalidInput):
            memory.add("Tea at five.", **fields)
    assert memory.count() == 0
    assert memory.add("Tea at five.", user_id=None, metadata={"user_id": "ana"}).status == "stored"


def test_what_two_users_say_in_the_same_words_each_says_for_themselves(memory: AgenticMemorySystem) -> None:
    first = memory.add("I am allergic to nuts.", user_id="ana")
    other = memory.add("I am allergic to nuts.", user_id="bo")
    again = memory.add("I am allergic to NUTS.", user_id="ana")
    assert (other.status, again.status, again.id) == ("stored", "duplicate", first.id)
    assert found(memory, "nuts", user_id="bo") == {"I am allergic to nuts."}


def test_where_one_user_lives_says_nothing_of_where_another_does(
    open_memory: Callable[..., AgenticMemorySystem], minilm: Embedder
) -> None:
    memory = open_memory(analyst=None, llm_backend="offline", embedder=minilm)
    ana = memory.add("I live in Porto.", user_id="ana", time="2026-01-01").id
    memory.add("I live in Lisbon.", user_id="bo", time="2026-02-01")
    assert memory.memories[ana].status == "active"
    moved = memory.add("I live in Faro now.", user_id="ana", time="2026-03-01", session_id="spring").id
    assert memory.memories[ana].superseded_by == moved
    assert found(memory, "where do I live", user_id="bo") == {"I live in Lisbon."}


def test_a_time_without_a_zone_is_one_of_the_collections_own(
    open_memory: Callable[..., AgenticMemorySystem], home: Path
) -> None:
    memory = open_memory(settings=Settings(home=home, timezone="Asia/Shanghai"))
    memory.add("Tea at half past midnight.", time="2026-03-01T00:30")
    midnight = datetime(2026, 3, 1)
    assert memory.search("tea", filter=Filter(since=midnight), touch=False)
    assert not memory.search("tea", filter=Filter(until=midnight), touch=False)
    assert memory.count(Filter(since=midnight)) == len(memory.list(Filter(since=midnight))) == 1
    assert memory.search_batch([Query("tea", filter=Filter(until=midnight), touch=False)]) == [[]]


def test_asking_for_one_users_notes_looks_them_up(memory: AgenticMemorySystem) -> None:
    memory.add("Tea at five.", user_id="ana")
    statement = select(tables.notes.c.key).where(*conditions(Filter(user_id="ana")))
    with memory._store.read() as session:
        sql = statement.compile(session.connection, compile_kwargs={"literal_binds": True})
        plan = session.connection.execute(text(f"EXPLAIN QUERY PLAN {sql}")).all()
    assert "notes_user_id" in str(plan)

"""While another process writes for long: answers come all the same, and what could not be stored is said to be so."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.errors import StorageBusy
from amem.storage.chats import TurnState
from amem.testing import FakeOllama, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A write waits sixty seconds for another process before it gives up.
_SOON = 30.0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    with FakeOllama(judging_model) as ollama:
        settings = load_settings(
            tmp_path, dense_base="exact", llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host
        )
        with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(256), background=False) as memory:
            memory.add_note("My boat is kept in Lisbon.")
            yield memory


@pytest.fixture
def other(memory: AgenticMemorySystem) -> Iterator[sqlite3.Connection]:
    """Another process's connection, as far as SQLite can tell."""
    assert memory.folder is not None
    with closing(sqlite3.connect(memory.folder / "amem.db", isolation_level=None)) as other:
        yield other


def test_a_question_is_answered_while_another_process_writes(
    memory: AgenticMemorySystem, other: sqlite3.Connection
) -> None:
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    answer = memory.answer("Where is my boat kept?")
    assert "Lisbon" in answer.text
    assert [citation.number for citation in answer.citations] == [1]
    assert time.monotonic() - started < _SOON


def test_what_an_answer_cost_while_nobody_could_write_is_written_with_the_next(
    memory: AgenticMemorySystem, other: sqlite3.Connection
) -> None:
    spent = "SELECT sum(calls) FROM spending"
    (calls,) = other.execute(spent).fetchone()
    other.execute("BEGIN IMMEDIATE")
    memory.answer("Where is my boat kept?")
    assert other.execute(spent).fetchone() == (calls,)
    other.execute("COMMIT")
    memory.answer("Where is my boat kept?")
    assert other.execute(spent).fetchone()[0] >= calls + 2


def test_a_turn_that_cannot_be_stored_is_refused_and_one_that_cannot_be_ended_is_learnt_from_later(
    memory: AgenticMemorySystem, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory.folder is not None
    store = memory.parts.store
    with memory.assistant() as talk:
        monkeypatch.setattr(store, "write", partial(store.write, wait=0.1))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy, match="another process is writing"):
            talk.say("My cat is grey.")
        other.execute("COMMIT")
        assert talk.turns() == []
        answer = talk.stream("My dog is brown.")
        next(answer)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy):
            list(answer)
        other.execute("COMMIT")
        assert [(turn.question, turn.state) for turn in talk.turns()] == [("My dog is brown.", TurnState.ASKED)]
        assert talk.say("My fish is red.").answered
        assert talk.wait(30)

"""Closing over a model that hangs, twice, or by the end of the program: it is quick, and nothing stays held."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.errors import AmemError
from amem.storage.chats import Learning
from amem.testing import FakeOllama, Fault, HashEmbedder, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SOON = 20.0
SAID = "My boat is kept in Lisbon, next to the ferry."


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model) as server:
        yield server


def open_(home: Path, ollama: FakeOllama) -> AgenticMemorySystem:
    settings = load_settings(
        home, dense_base="exact", llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host
    )
    return AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), background=False)


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def held(memory: AgenticMemorySystem) -> int:
    """Jobs and turns that somebody holds."""
    with memory.parts.store.read() as session:
        tables = ("jobs", "turns")
        return sum(session.value(f"SELECT count(*) FROM {table} WHERE owner IS NOT NULL") for table in tables)


def test_a_chat_that_was_closed_twice_keeps_nobody_waiting(tmp_path: Path, ollama: FakeOllama) -> None:
    with open_(tmp_path, ollama) as memory:
        talk = memory.assistant()
        talk.say(SAID)
        assert talk.wait(30)
        started = time.monotonic()
        for _ in range(3):
            talk.close(60)
        assert talk.wait()
        talk.say("My car is red and stands in Porto.")  # answered; it is learnt from another time
        assert talk.wait()
        talk.undo()
        assert time.monotonic() - started < _SOON
        assert [turn.learning for turn in talk.turns()] == [Learning.DONE, Learning.WAITING]


def test_what_hangs_when_a_chat_is_closed_is_waited_for_no_longer(tmp_path: Path, ollama: FakeOllama) -> None:
    with open_(tmp_path, ollama) as memory:
        talk = memory.assistant(chat=ScriptedChat("Noted."))
        ollama.fault = Fault.SLOW
        talk.say(SAID)
        until(lambda: held(memory))
        talk.close(0.05)
        assert talk.wait() is False


def test_a_turn_whose_learning_hung_when_the_collection_was_closed_is_free_in_the_same_process(
    tmp_path: Path, ollama: FakeOllama
) -> None:
    memory = open_(tmp_path, ollama)
    ollama.fault = Fault.SLOW
    memory.assistant(chat=ScriptedChat("Noted.")).say(SAID)
    until(lambda: held(memory))
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < _SOON
    ollama.fault = None
    with open_(tmp_path, ollama) as again:
        assert held(again) == 0
        assert again.enrich().failed == 0
        assert SAID in {message.content for note in again.list() for message in again.expand(note.id)}


def test_an_episode_whose_learning_hung_when_the_collection_was_closed_is_free_in_the_same_process(
    tmp_path: Path, ollama: FakeOllama
) -> None:
    memory = open_(tmp_path, ollama)
    ollama.fault = Fault.SLOW
    ended: list[str] = []

    def remember() -> None:
        try:
            memory.remember([{"role": "user", "content": SAID}])
        except AmemError as error:
            ended.append(type(error).__name__)

    thread = threading.Thread(target=remember)
    thread.start()
    until(lambda: held(memory))
    memory.close()
    thread.join(_SOON)
    assert not thread.is_alive()
    assert len(ended) == 1
    ollama.fault = None
    with open_(tmp_path, ollama) as again:
        assert held(again) == 0
        assert (again.enrich().done, again.enrich().remaining) == (1, 0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "last",
    [
        "answer = memory.assistant().stream('hello'); next(answer)",
        "memory.remember([{'role': 'user', 'content': 'My boat is in Lisbon.'}], wait=False)",
    ],
    ids=["an answer that nobody reads on", "an episode that is learnt from"],
)
def test_a_program_ends_though_a_model_hangs(tmp_path: Path, ollama: FakeOllama, last: str) -> None:
    ollama.fault = Fault.SLOW
    program = f"""
from amem import AgenticMemorySystem, load_settings
from amem.testing import HashEmbedder
settings = load_settings(
    {str(tmp_path)!r}, dense_base="exact", llm_backend="ollama", llm_model="llama3.2", ollama_host={ollama.host!r}
)
memory = AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64))
{last}
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_chat_used_from_many_threads_numbers_its_turns_and_learns_from_each(
    tmp_path: Path, ollama: FakeOllama
) -> None:
    with open_(tmp_path, ollama) as memory, memory.assistant() as talk:
        said = [f"My boat number {number} is kept in Lisbon." for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            replies = list(threads.map(talk.say, said))
        assert sorted(reply.turn or 0 for reply in replies) == list(range(1, 9))
        assert talk.wait(60)
        assert {turn.question for turn in talk.turns()} == set(said)
        assert {turn.learning for turn in talk.turns()} == {Learning.DONE}

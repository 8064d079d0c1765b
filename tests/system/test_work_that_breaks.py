"""One piece of work that breaks whoever does it keeps nothing else from being done; what the dead held is free."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from amem.analysts.rules import OfflineAnalyst
from amem.conversation import learning as teaching
from amem.storage.jobs import Owner, is_gone
from amem.testing import ScriptedChat
from amem.writing.worker import RETRY_SECONDS, Patience, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

BROKEN = "My cat is grey and this breaks whoever reads it."
WHOLE = "My dog is brown and likes to swim."


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the program, met by one passage only."""
    admit = teaching.admit

    def breaks(extraction: Any, passage: Any, *rest: Any) -> Any:
        if any(BROKEN in message.content for message in passage.said):
            raise RuntimeError("a mistake in the program")
        return admit(extraction, passage, *rest)

    monkeypatch.setattr(teaching, "admit", breaks)


@pytest.mark.usefixtures("breaking")
def test_an_episode_that_cannot_be_learnt_from_does_not_keep_those_after_it_waiting(open_memory: Open) -> None:
    memory = open_memory(background=False, analyst=OfflineAnalyst())
    for name, text in (("first", BROKEN), ("second", WHOLE)):
        memory.remember([{"role": "user", "content": text}], conversation=name, wait=False)
    report = memory.enrich()
    assert (report.done, report.failed, report.remaining) == (1, 1, 1)
    assert "RuntimeError: a mistake in the program" in report.errors[0]
    assert WHOLE in {note.content for note in memory.list() if "episode" not in note.metadata}
    assert [message.content for note in memory.list() for message in memory.expand(note.id)].count(BROKEN) == 1


@pytest.mark.usefixtures("breaking")
def test_a_turn_that_cannot_be_learnt_from_does_not_keep_those_after_it_waiting(open_memory: Open) -> None:
    memory = open_memory(background=False)
    with memory.assistant(chat=ScriptedChat(["Fine.", "Good."])) as chat:
        chat.say(BROKEN)
        chat.say(WHOLE)
        assert chat.wait(30)
        assert [str(turn.learning) for turn in chat.turns()] == ["waiting", "done"]
        learnt = chat.learning.learn_waiting()
        assert (learnt.turns, learnt.waiting) == (0, 1)


class Hand:
    def __init__(self, error: Exception | None = None) -> None:
        self.worked = 0
        self.error = error

    def work(self, owner: str, **_: object) -> None:
        self.worked += 1
        if self.error is not None:
            raise self.error


def test_a_hand_that_breaks_does_not_keep_the_others_from_their_work() -> None:
    hands = [Hand(), Hand(RuntimeError("broken")), Hand()]
    worker = Worker(lambda: hands, Owner(), threading.Event())
    with pytest.raises(RuntimeError, match="broken"):
        worker.run(once=True)
    assert [hand.worked for hand in hands] == [1, 1, 1]


def test_what_failed_does_not_rest_until_tomorrow_when_the_clock_is_set_back(clock: FrozenClock) -> None:
    patience = Patience(clock)
    patience.rest([1])
    assert patience.resting() == {1}
    clock.advance(minutes=-RETRY_SECONDS / 60 - 1)
    assert patience.resting() == set()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux tells when a process was started")
def test_a_process_that_was_killed_is_gone_before_its_parent_hears_of_it_and_when_its_number_is_another_s() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(process.pid).one_more()
    assert not is_gone(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has heard of it
    assert is_gone(owner)
    process.communicate()
    assert is_gone(owner)
    assert not is_gone(Owner().one_more())
    assert not is_gone(f"{socket.gethostname()}:{os.getpid()}:cafe:1")
    assert is_gone(f"{socket.gethostname()}:{os.getpid()}+1:cafe:1")
    assert not is_gone(f"elsewhere:{os.getpid()}+1:cafe:1")

"""Questions that take long: one at a time, the last word heard, and nobody waited for at the end."""

from __future__ import annotations

import asyncio
import threading

import pytest
from amem_tui.client import Refresher, in_own_thread


async def test_what_is_wanted_during_a_look_is_looked_at_after_it_and_only_once() -> None:
    looks: list[int] = []
    going = asyncio.Event()

    async def look() -> None:
        looks.append(len(looks))
        await going.wait()

    started: list[asyncio.Task[None]] = []
    refresher = Refresher(look, lambda look: started.append(asyncio.create_task(look())))
    refresher.want()
    await asyncio.sleep(0)
    assert looks == [0]
    refresher.want()
    refresher.want(now=True)
    going.set()
    await started[0]
    assert looks == [0, 1]
    assert len(started) == 1


async def test_a_look_that_fails_leaves_the_next_one_free() -> None:
    async def look() -> None:
        raise ValueError("out of paper")

    started: list[asyncio.Task[None]] = []
    refresher = Refresher(look, lambda look: started.append(asyncio.create_task(look())))
    for _ in range(2):
        refresher.want()
        with pytest.raises(ValueError, match="paper"):
            await started[-1]
    assert len(started) == 2


async def test_work_apart_answers_or_fails_as_it_would_here() -> None:
    assert await in_own_thread(lambda: threading.current_thread().daemon)

    def fail() -> None:
        raise ValueError("out of paper")

    with pytest.raises(ValueError, match="paper"):
        await in_own_thread(fail)


def test_the_loop_ends_without_waiting_for_work_apart() -> None:
    held, ended = threading.Event(), threading.Event()

    def work() -> None:
        held.wait(30)
        ended.set()

    async def begin() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_own_thread(work), 0.01)

    asyncio.run(begin())
    assert not ended.is_set()
    held.set()
    assert ended.wait(30)

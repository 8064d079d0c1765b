"""One system, many threads; and the same for asyncio."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from amem import AsyncMemory
from amem.errors import EmptyNote
from amem.query import Query
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

THREADS, EACH = 8, 25


@pytest.mark.thorough
@pytest.mark.parametrize("in_memory", [False, True], ids=["on-disk", "in-memory"])
def test_eight_threads_add_search_and_edit_on_one_system(open_memory: Open, home: Path, in_memory: bool):
    memory = open_memory(directory=None if in_memory else home, embedder=HashEmbedder(64))
    started = threading.Barrier(THREADS)

    def work(thread: int) -> list[str]:
        started.wait()
        ids = []
        for number in range(EACH):
            text = f"t{thread}n{number} written by thread{thread}"
            ids.append(memory.add_note(text))
            assert memory.search(text, 1)[0].content == text
            if number % 5 == 0:
                assert memory.update(ids[-1], category=f"of {thread}")
            if number % 7 == 0:
                assert len(memory.memories) > number
                memory.search_agentic("written", 3)
        return ids

    with ThreadPoolExecutor(THREADS) as pool:
        ids = [id for found in pool.map(work, range(THREADS)) for id in found]
    assert len(set(ids)) == len(memory.memories) == THREADS * EACH
    for id in ids:
        note = memory.memories[id]
        assert [hit.id for hit in memory.ask(Query(note.content, 1, legs=("dense",)))] == [id]
        assert [hit.id for hit in memory.ask(Query(note.content.split()[0], 1, legs=("lexical",)))] == [id]
    assert all(finding.level != "error" for finding in memory.doctor())


def test_the_same_note_from_eight_threads_is_one_note(open_memory: Open):
    memory = open_memory()
    with ThreadPoolExecutor(THREADS) as pool:
        receipts = list(pool.map(lambda _: memory.add("the one and only"), range(THREADS)))
    assert len({receipt.id for receipt in receipts}) == len(memory.memories) == 1
    assert sum(receipt.stored for receipt in receipts) == 1


async def test_async_memory_does_all_that_the_system_does(home: Path):
    async with AsyncMemory(directory=home, embedder=HashEmbedder(64), analyst=ScriptedAnalyst()) as memory:
        receipts = await asyncio.gather(*(memory.add(f"thing number{n} of many") for n in range(20)))
        assert len({receipt.id for receipt in receipts}) == 20
        (hit, *_) = await memory.search("number7 thing")
        assert hit.content == "thing number7 of many"
        assert await memory.update(hit.id, category="async")
        note = await memory.read(hit.id)
        assert note.category == "async"
        assert await memory.read("nobody") is None
        assert len(await memory.list(limit=100)) == 20
        with pytest.raises(EmptyNote):
            await memory.add(" ")
        with pytest.raises(AttributeError):
            memory.no_such_method  # noqa: B018
        assert len((await memory.system()).memories) == 20


async def test_async_memory_keeps_the_event_loop_free(home: Path):
    go_on = threading.Event()

    class Slow(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            assert go_on.wait(30)
            return super().embed(texts)

    async with AsyncMemory(directory=home, embedder=Slow(64), analyst=ScriptedAnalyst()) as memory:
        adding = asyncio.create_task(memory.add("takes its time"))
        await asyncio.sleep(0.05)
        assert not adding.done()
        go_on.set()
        assert (await adding).stored


async def test_async_memory_wraps_an_open_system_and_closes_it(open_memory: Open):
    system = open_memory()
    id = system.add_note("put in before")
    memory = AsyncMemory(system=system)
    assert (await memory.search("put in before"))[0].id == id
    await memory.aclose()
    assert await AsyncMemory(embedder=HashEmbedder()).aclose() is None

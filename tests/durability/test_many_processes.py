"""Several processes on one collection: nothing is lost, nobody fails, everyone sees everything."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.clock import SystemClock
from amem.errors import StorageBusy
from amem.query import Query
from amem.storage.store import Store
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough

EACH = 400


def opened(home: Path) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base="exact", candidates=10),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
    )


def found_by_all(memory: AgenticMemorySystem, texts: list[str], ids: list[str]) -> bool:
    """Whether each text finds its note, by meaning and by words."""
    for leg, k in (("dense", 1), ("lexical", 5)):
        answers = memory.search_batch([Query(text, k, legs=(leg,), touch=False) for text in texts])
        if any(id not in {hit.id for hit in hits} for id, hits in zip(ids, answers, strict=True)):
            return False
    return True


def test_two_writers_and_a_searcher_lose_nothing_and_see_everything(workers: Workers, tmp_path: Path):
    stop = tmp_path / "stop"
    home = str(tmp_path / "home")
    with opened(tmp_path / "home") as early:
        assert early.search("anything") == []
        writers = [workers.start("write", name, home=home, count=EACH) for name in ("anna", "bela")]
        searcher = workers.start("search", "searcher", home=home, stop=str(stop))
        for writer in writers:
            writer.wait()
        stop.touch()
        searcher.wait()
        assert searcher.saying("asked")[0] > 10

        stored = writers[0].stored | writers[1].stored
        assert len(stored) == 2 * EACH
        ids, texts = list(stored), list(stored.values())
        with opened(tmp_path / "home") as late:
            for memory in (early, late):
                assert set(memory.memories) == set(ids)
            assert found_by_all(late, texts, ids)
            assert found_by_all(early, texts[::4], ids[::4])
            assert [finding for finding in late.doctor() if finding.level == "error"] == []


def test_a_write_that_waits_too_long_for_another_process_says_so_and_reading_goes_on(workers: Workers, tmp_path: Path):
    stop = tmp_path / "stop"
    home = tmp_path / "home"
    with opened(home) as memory:
        id = memory.add_note("stored before the lock")
        holder = workers.start("hold_write_lock", "holder", home=str(home), stop=str(stop))
        holder.hears("ready")
        store = Store(home / "memories", SystemClock(), busy_seconds=0.2)
        with pytest.raises(StorageBusy, match="another process is writing") as raised, store.write():
            pass
        assert raised.value.hint
        store.close()
        # Counting the use cannot wait for the lock either, and must not cost the answer.
        assert [hit.id for hit in memory.search("stored before")] == [id]
        assert len(memory.memories) == 1
        stop.touch()
        holder.wait()
        assert memory.add("stored after the lock").stored


def test_a_write_waits_for_another_process_that_lets_go_in_time(workers: Workers, tmp_path: Path):
    stop = tmp_path / "stop"
    holder = workers.start("hold_write_lock", "brief", home=str(tmp_path / "home"), stop=str(stop))
    holder.hears("ready")
    with opened(tmp_path / "home") as memory:
        # The lock is given back while the write below waits for it.
        import threading

        threading.Timer(0.5, stop.touch).start()
        started = time.monotonic()
        assert memory.add("worth waiting for").stored
        assert time.monotonic() > started
    holder.wait()

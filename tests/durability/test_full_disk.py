"""A disk without room: the write fails with StorageFull, and everything acknowledged before is there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.errors import StorageFull
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough


def opened(home: Path) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base="exact"), embedder=HashEmbedder(64), analyst=ScriptedAnalyst()
    )


def test_a_write_that_finds_no_room_is_storage_full_and_leaves_earlier_notes_intact(workers: Workers, tmp_path: Path):
    worker = workers.start("write_until_full", "full", home=str(tmp_path), bytes=1_000_000)
    worker.wait()
    assert worker.status == 0
    assert worker.saying("error") == ["StorageFull"]
    assert "space" in worker.saying("hint")[0]
    assert worker.stored
    assert set(worker.saying("found")[0]) & set(worker.stored)

    with opened(tmp_path) as memory:
        assert {id: memory.memories[id].content for id in worker.stored} == worker.stored
        assert len(memory.memories) == len(worker.stored) + 1
        assert [finding for finding in memory.doctor() if finding.level == "error"] == []
        assert memory.add("there is room again").stored


def test_a_database_that_may_not_grow_refuses_the_note_and_goes_on_when_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as memory:
        kept = memory.add_note("the one that was there before")
        with memory.parts.store.read() as session:
            pages = session.value("PRAGMA page_count")
        room = [pages + 1]
        database = memory.parts.store.database
        write = database.write

        @contextmanager
        def write_within_bounds(**options: Any) -> Iterator[sqlite3.Connection]:
            with write(**options) as connection:
                connection.execute(f"PRAGMA max_page_count = {room[0]}").fetchall()
                yield connection

        monkeypatch.setattr(database, "write", write_within_bounds)
        with pytest.raises(StorageFull, match=r"amem\.db"):
            memory.add_notes([f"number {number} " + "takes a lot of room " * 500 for number in range(100)])
        assert memory.read(kept) is not None
        assert [hit.id for hit in memory.search("that was there before")] == [kept]
        room[0] = 1073741823
        assert memory.add("and now there is room").stored

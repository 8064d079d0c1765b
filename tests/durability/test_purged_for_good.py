"""A purge that is killed, or has no room, is finished later; until then it says what files still hold."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workers

    from amem.maintenance.doctor import Finding

pytestmark = pytest.mark.thorough

SECRET = "the number of patient marzipanium is 77123"


def opened(home: Path) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base="exact"), embedder=HashEmbedder(64), analyst=ScriptedAnalyst()
    )


def held(home: Path, text: str = SECRET) -> bool:
    return any(text.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())


def owed(memory: AgenticMemorySystem) -> list[Finding]:
    return [each for each in memory.doctor() if each.about == "purge"]


def stored(home: Path) -> str:
    with opened(home) as memory:
        memory.add_note("what stays")
        return memory.add_note(SECRET)


def test_a_purge_without_room_to_rewrite_the_file_says_so_and_maintain_finishes_it(workers: Workers, tmp_path: Path):
    worker = workers.start("purge_with_little_room", "full", home=str(tmp_path), note=stored(tmp_path))
    worker.wait()
    assert worker.saying("there") == [False]
    assert "could not be written" in worker.saying("owed")[0]
    with opened(tmp_path) as memory:
        assert [each.level for each in owed(memory)] == ["warning"]
        assert memory.maintain().problems == ()
        assert owed(memory) == []
        assert "what stays" in {note.content for note in memory.list(limit=100)}
    assert not held(tmp_path)


def test_a_purge_killed_before_the_files_are_rewritten_is_finished_by_doctor(workers: Workers, tmp_path: Path):
    worker = workers.start("purge_and_stop", "stopped", home=str(tmp_path), note=stored(tmp_path))
    assert worker.hears("committed")
    worker.kill()
    assert held(tmp_path), "or nothing is shown here"
    with opened(tmp_path) as memory:
        assert [each.level for each in owed(memory)] == ["warning"]
        assert [note.content for note in memory.list()] == ["what stays"]
        memory.doctor(repair=True)
        assert owed(memory) == []
    assert not held(tmp_path)


def test_purges_killed_at_random_moments_are_done_or_owed_or_never_began(workers: Workers, tmp_path: Path):
    moments = random.Random(14)
    for turn in range(12):
        home = tmp_path / str(turn)
        texts = [f"secret{turn}x{number} of the house" for number in range(12)]
        with opened(home) as memory:
            ids = {receipt.id: text for receipt, text in zip(memory.add_notes(texts), texts, strict=True)}
        worker = workers.start("purge_for_ever", f"p{turn}", home=str(home), notes=list(ids))
        worker.hears("ready")
        time.sleep(moments.uniform(0.0, 0.4))
        worker.kill()
        with opened(home) as memory:
            there = set(memory.memories)
            assert there.isdisjoint(worker.saying("purged"))
            gone = [text for id, text in ids.items() if id not in there]
            if any(held(home, text) for text in gone):
                assert owed(memory) != []
            assert memory.finish_purges() == ""
            assert owed(memory) == []
        assert [text for text in gone if held(home, text)] == []
        assert all(held(home, ids[id]) for id in there)

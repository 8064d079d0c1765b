"""``kill -9`` at random moments: what was acknowledged is there and is found, by meaning and by words."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.query import Query
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough

ROUNDS = 52
#: A worker is killed after it said to have stored so many notes at most, and so many seconds at most.
MOST, LONGEST = 15, 0.15


def opened(home: Path, base: str = "exact") -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base=base, candidates=10),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
    )


def check(memory: AgenticMemorySystem, stored: Mapping[str, str]) -> None:
    """Every acknowledged note is there as it was, and both legs find it by its own text."""
    notes = memory.memories
    for id, text in stored.items():
        note = notes[id]
        assert (note.content, note.enrichment) == (text, "done")
    for leg, k in (("dense", 1), ("lexical", 5)):
        answers = memory.search_batch([Query(text, k, legs=(leg,), touch=False) for text in stored.values()])
        missed = [
            text for (id, text), hits in zip(stored.items(), answers, strict=True) if id not in {h.id for h in hits}
        ]
        assert not missed, f"the {leg} leg misses {missed}"


def test_every_acknowledged_note_survives_fifty_kills_at_random_moments(workers: Workers, tmp_path: Path):
    moments = random.Random(2502_12110)
    stored: dict[str, str] = {}
    killed_after_a_note = 0
    for turn in range(ROUNDS):
        base = "chroma" if turn % 3 == 2 else "exact"
        worker = workers.start("write_for_ever", f"r{turn}", home=str(tmp_path), base=base)
        if turn % 4:  # the others may be killed while they open the collection
            worker.has_stored(moments.randint(0, MOST))
        time.sleep(moments.uniform(0.0, LONGEST))
        worker.kill()
        assert worker.status == 9
        killed_after_a_note += bool(worker.stored)
        with opened(tmp_path) as memory:
            assert set(memory.memories) >= worker.stored.keys()
            check(memory, dict(list(worker.stored.items())[-6:]))
        stored |= worker.stored
    assert killed_after_a_note > ROUNDS / 2

    with opened(tmp_path) as memory:
        check(memory, stored)
        assert [finding for finding in memory.doctor() if finding.level == "error"] == []
        assert len(memory.memories) >= len(stored)
        in_all = len(memory.memories)

    # What fifty kills left of Chroma's folder is checked, mended or rebuilt, and then answers the same.
    with opened(tmp_path, "chroma") as memory:
        assert memory.parts.dense.wait_for_chroma(60), memory.parts.dense.status()
        assert memory.parts.dense.status()["base"] == "chroma"
        assert len(memory.parts.dense) == in_all
        check(memory, dict(list(stored.items())[::3]))


def test_a_chroma_folder_that_a_kill_left_broken_is_rebuilt_while_search_goes_on(workers: Workers, tmp_path: Path):
    worker = workers.start("write_for_ever", "broken", home=str(tmp_path), base="chroma")
    worker.has_stored(30)
    worker.kill()
    folder = tmp_path / "memories" / "chroma"
    for path in folder.rglob("chroma.sqlite3*"):
        path.write_bytes(b"what a dying disk left" * 200)
    with opened(tmp_path, "chroma") as memory:
        check(memory, worker.stored)
        assert memory.parts.dense.wait_for_chroma(60), memory.parts.dense.status()
        assert memory.parts.dense.status()["base"] == "chroma"
        check(memory, worker.stored)

"""Maintenance beside killers and writers: it goes on where it was, loses nothing, and is one operation in the end."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.clock import SystemClock
from amem.maintenance.cycle import CYCLES
from amem.note import Status
from amem.query import Filter
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough

#: A worker is killed after it has said so many things, at most; it says one for each step.
MOST = 9


class LongAfter(SystemClock):
    """Seven weeks on, as the workers' clock."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=50)


def opened(home: Path, clock: SystemClock | None = None) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base="exact"),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
        clock=clock or LongAfter(),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Conversations to be summed up, notes to be merged and moved, and some to be left alone."""
    with opened(tmp_path / "home", SystemClock()) as memory:
        memory.add_notes(
            [
                {"content": f"Small talk {talk} {place}.", "kind": "chitchat", "importance": 0.1}
                | {"conversation_id": f"c{talk}"}
                for talk in range(24)
                for place in range(3)
            ]
        )
        for place in range(8):
            memory.add_note(f"The {place}th boiler hums in the cellar of the old mill.", kind="fact")
            memory.add_note(f"The {place}th boiler hums in the cellar of the old mill!", kind="fact")
        memory.add_notes([{"content": f"Rule {place} holds.", "kind": "constraint"} for place in range(10)])
    return tmp_path / "home"


def dump(memory: AgenticMemorySystem) -> dict[str, Any]:
    with memory.parts.store.read() as session:
        run = session.rows
        columns = [row[1] for row in run("PRAGMA table_info(notes)") if row[1] not in ("version", "seq", "vector_seq")]
        notes = run(f"SELECT {', '.join(columns)} FROM notes WHERE status <> 'deleted' ORDER BY key")
        links = run("SELECT source, target, type, reason, confidence, made_by, at FROM links ORDER BY 1, 2, 3")
        return {"notes": notes, "links": links, "facts": run("SELECT * FROM facts ORDER BY 1, 2")}


def outcome(memory: AgenticMemorySystem) -> Counter[tuple[str, ...]]:
    """What became of every note, ids aside."""
    every = Filter(statuses=(Status.ACTIVE, Status.ARCHIVED, Status.SUPERSEDED))
    return Counter(
        (
            note.content if "digest" not in note.metadata else "a digest",
            note.status,
            note.layer,
            str(note.superseded_by is None),
        )
        for note in memory.list(every, limit=1000)
    )


def finished(home: Path) -> bool:
    """Whether a maintenance came to its end."""
    with opened(home) as memory, memory.parts.store.read() as session:
        return session.runs.last(CYCLES) is not None


def test_a_maintenance_killed_again_and_again_ends_as_one_that_was_not(
    workers: Workers, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(home, tmp_path / "undisturbed")
    with opened(tmp_path / "undisturbed") as memory:
        expected_report = memory.maintain(cycle="weekly")
        expected = outcome(memory)
    with opened(home) as memory:
        before = dump(memory)

    moments = random.Random(20_260_301)
    kills = 0
    while True:
        worker = workers.start("maintain", f"m{kills}", home=str(home))
        worker.hears("ready")
        worker.says(1 + moments.randint(1, MOST))
        if worker.saying("operation"):
            worker.wait()
            break
        worker.kill()
        kills += 1
        # The signal may come when the work is done: after its last word, or between the last commit and that word.
        if worker.saying("operation") or finished(home):
            break
    assert kills >= 3
    for report in (each for each in worker.said if "operation" in each):
        assert report["resumed"]
        assert report["counts"] == dict(expected_report.counts()), "the parts of killed processes count, too"

    with opened(home) as memory:
        assert memory.parts.store.check() == []
        assert outcome(memory) == expected
        roots = [each for each in memory.log(limit=1000) if each.action == "maintain"]
        (root,) = (each.id for each in roots)
        assert memory.maintain(cycle="weekly").operation is None
        memory.undo(root)
        assert dump(memory) == before


def test_maintenance_and_writers_do_not_stand_in_each_others_way(workers: Workers, home: Path) -> None:
    writer = workers.start("write_for_ever", "w", home=str(home))
    writer.has_stored(5)
    with opened(home) as memory:
        reports = [memory.maintain(cycle="weekly")]
        had = len(writer.stored)
        while len(writer.stored) < had + 40:
            reports.append(memory.maintain(cycle="weekly"))
        writer.kill()
        assert reports[0].compressed == 72
        assert all(not report.problems for report in reports)
        stored = writer.stored
        memory.maintain(cycle="weekly")
        assert memory.maintain(cycle="weekly").operation is None, "what was written meanwhile was looked at"
        every = {note.id: note for note in memory.list(limit=10_000)}
        for id, text in stored.items():
            assert every[id].content == text
        assert memory.parts.store.check() == []

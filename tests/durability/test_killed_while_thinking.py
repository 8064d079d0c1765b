"""``kill -9`` while a model thinks: every acknowledged note is there, and another process finishes it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough


def test_what_a_killed_process_left_is_finished_by_another(workers: Workers, tmp_path: Path):
    stored: dict[str, str] = {}
    for turn, parallel in enumerate((1, 4)):
        name = f"slow{turn}"
        worker = workers.start("write_with_a_slow_model", name, home=str(tmp_path), parallel=parallel)
        worker.has_stored(5 + 9 * turn)
        worker.kill()
        assert worker.status == 9
        stored |= worker.stored

    analyst = ScriptedAnalyst(Analysis(context="By another."), local=False)
    with AgenticMemorySystem(
        settings=load_settings(tmp_path, dense_base="exact"), embedder=HashEmbedder(64), analyst=analyst
    ) as memory:
        notes = dict(memory.memories)
        assert {id: notes[id].content for id in stored} == stored
        waiting = [id for id, note in notes.items() if note.enrichment != "done"]
        assert waiting, "the processes were killed while notes waited"
        # What the dead were at is free at once: nobody waits for their leases to run out.
        report = memory.enrich()
        assert (report.done, report.failed, report.remaining) == (len(waiting), 0, 0)
        contexts = {note.content: note.context for note in memory.memories.values()}
        assert all(context in ("By another.", f"By the model: {text}") for text, context in contexts.items())
        assert [finding for finding in memory.doctor() if finding.level == "error"] == []

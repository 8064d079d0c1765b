"""``kill -9`` while conversations are remembered and turns answered: what was acknowledged is there, exactly once."""

from __future__ import annotations

import random
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.clock import SystemClock
from amem.testing import FakeOllama, Fault, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from conftest import Workers

pytestmark = pytest.mark.thorough

ROUNDS = 20
#: A worker is killed so many seconds after it said so many things, at most.
LONGEST, MOST = 0.08, 2


class Later(SystemClock):
    """Two hours on: whoever was killed while a model answered is given up, and every chat has been quiet for long."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=2)


def times(memory: AgenticMemorySystem, column: str, texts: Sequence[str]) -> dict[str, int]:
    """How often each text is stored in that column."""
    with memory.parts.store.read() as session:
        table, _, name = column.partition(".")
        found = dict(session.rows(f"SELECT {name}, count(*) FROM {table} GROUP BY {name}"))
    return {text: found.get(text, 0) for text in texts}


def left(memory: AgenticMemorySystem) -> dict[str, int]:
    """What is held by somebody, or waits, or is doubled."""
    twice = "SELECT content FROM notes WHERE status = 'active' AND kind <> 'episode'"
    twice += " GROUP BY content HAVING count(*) > 1"
    with memory.parts.store.read() as read:
        return {
            # Those of notes that a killed attempt had made wait with them, should they be restored.
            "jobs": sum(read.jobs.count(kind) for kind in ("enrich", "extract")),
            "leases": read.value("SELECT count(*) FROM turns WHERE owner IS NOT NULL"),
            "unlearnt": read.value("SELECT count(*) FROM turns WHERE learning = 'waiting'"),
            "doubled": len(read.rows(twice)),
        }


def test_conversations_and_turns_survive_kills_at_random_moments_and_are_learnt_from_once(
    workers: Workers, tmp_path: Path
) -> None:
    moments = random.Random(20_260_301)
    remembered: list[str] = []
    answered: dict[str, str] = {}
    session = ""
    with FakeOllama(judging_model, fault=Fault.TRICKLE, pace=0.001) as ollama:
        for turn in range(ROUNDS):
            worker = workers.start(
                "talk_for_ever", f"r{turn}", home=str(tmp_path), host=ollama.host, session=session if turn % 3 else ""
            )
            began = worker.hears("session")
            if turn % 4:  # the others may be killed while they store their first message
                worker.has_said(moments.randint(1, MOST))
            time.sleep(moments.uniform(0.0, LONGEST))
            worker.kill()
            assert worker.status == 9
            session = began if worker.saying("asked") else session
            remembered += [text for texts in worker.saying("remembered") for text in texts]
            answered |= dict(zip(worker.saying("asked"), worker.saying("answered"), strict=True))
        assert len(remembered) > ROUNDS / 2
        assert len(answered) > ROUNDS / 4

        ollama.fault = None
        settings = load_settings(
            tmp_path, dense_base="exact", llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host
        )
        with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), clock=Later()) as memory:
            assert set(times(memory, "sources.text", remembered).values()) == {1}
            assert set(times(memory, "turns.question", list(answered)).values()) == {1}
            with memory.parts.store.read() as read:
                kept = dict(read.rows("SELECT question, answer FROM turns"))
            assert {asked: kept[asked] for asked in answered} == answered

            report = memory.enrich()
            assert (report.failed, report.remaining, report.errors) == (0, 0, ())
            assert left(memory) == {"jobs": 0, "leases": 0, "unlearnt": 0, "doubled": 0}
            assert set(times(memory, "sources.text", [*remembered, *answered]).values()) == {1}
            assert {note.enrichment for note in memory.memories.values()} == {"done"}
            assert [found for found in memory.doctor() if found.level == "error"] == []

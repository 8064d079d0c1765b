"""A collection of any size in seconds: 250 notes written in earnest, then copied set-wise in other words.

For programs, tests and measurements that must hold at 100,000 notes. English and Chinese, every kind and layer,
links, over three years, and notes that are superseded, archived or deleted; nothing in it depends on chance.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from amem.analysis import Analysis
from amem.note import Layer, Status
from amem.storage.rows import time_text
from amem.testing.analyst import ScriptedAnalyst
from amem.testing.clock import FrozenClock
from amem.testing.crowd_copies import Copies
from amem.testing.crowd_words import openings, place_tags, said
from amem.testing.embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from amem.analysis import Draft
    from amem.memory_system import AgenticMemorySystem

#: Notes that are written in earnest; a crowd is so many, or a multiple of it.
EARNEST = 250
ENDS = "2026-03-01T09:00"
_SPAN = timedelta(days=3 * 365)
#: Who writes, in turn.
_ACTORS = ("user", "agent:helper", "user", "mcp")


def make_crowd(home: Path, notes: int = 100_000, *, dimension: int = 64, ends: str = ENDS) -> int:
    """Write a collection (of the default name) under `home`; returns how many notes it holds, of any status.

    That is `notes` rounded up to a multiple of 250, the newest recorded shortly before `ends` (ISO 8601, UTC). Open it
    with ``HashEmbedder(dimension)``. 100,000 take about fifteen seconds and 230 MB, and with 384 dimensions 540 MB.
    """
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

    copies = -(-max(notes, 1) // EARNEST)
    step = int(_SPAN.total_seconds()) // copies
    clock = FrozenClock(ends, seed="crowd")
    clock.advance(-timedelta(seconds=step * copies))
    with AgenticMemorySystem(
        settings=Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline", conflict_score=1.0),
        clock=clock,
        embedder=HashEmbedder(dimension),
        analyst=ScriptedAnalyst(_analyse),
    ) as memory:
        _write(memory, clock, timedelta(seconds=step // (EARNEST + 1)))
        with memory._store.write() as session:
            Copies(session, copies, step).make()
    return copies * EARNEST


def _write(memory: AgenticMemorySystem, clock: FrozenClock, pause: timedelta) -> None:
    """The notes that all others are copies of, by the API as anybody would write them."""
    ids: list[str] = []
    for number in range(EARNEST):
        note = said(number)
        clock.advance(pause)
        # A fifth of them speak of a time before they were written.
        at = clock.now() - timedelta(hours=number % 90) * (number % 5 == 0)
        writer = memory.acting_as(_ACTORS[number % len(_ACTORS)])
        fields: dict[str, Any] = {"speaker": note.who} if number % 3 == 0 else {}
        content = openings(0)[note.chinese] + note.content
        ids.append(writer.add_note(content, at, importance=round(0.2 + number % 8 / 10, 1), **fields))
        if number % 2:
            types = ("related", "supports", "caused_by", "part_of", "contradicts")
            writer.link(ids[-1], ids[(number - 1) * 2 // 3], types[number % 5], f"both are about the {note.thing}")
        if number % 10 == 9:
            memory.link(ids[-1], ids[0], "related", "how it began")
    for number in range(20, EARNEST, 25):
        memory.supersede(ids[number], ids[number + 1], "it has changed since")
    for number in range(5, EARNEST, 50):
        memory.delete(ids[number])
    for number in range(0, EARNEST, 40):
        memory.pin(ids[number])
    with memory._store.write() as session:
        operation = session.begin("maintain", "amem", "faded")
        for number in range(12, EARNEST, 20):
            session.notes.change(ids[number], {"status": str(Status.ARCHIVED)}, operation)
        for number in range(1, EARNEST, 4):
            session.notes.change(ids[number], {"layer": str(Layer.LONG_TERM)}, operation)
        keys = session.notes.keys_of(ids)
        for number, key in enumerate(keys[id] for id in ids):
            if number % 3:
                uses = 1 + number % 11
                session.usage.carry_over(key, uses, time_text(session.now), growth=1.3 ** min(uses, 8))


def _analyse(draft: Draft) -> Analysis:
    content = draft.content
    for number in range(EARNEST):
        note = said(number)
        if content.endswith(note.content):
            place = place_tags(0)[note.chinese]
            return Analysis((note.thing,), f"About the {note.thing}", (note.tag, place), note.kind, 0.5, (note.who,))
    raise LookupError(content)

"""What somebody took back of a maintenance is not done again, however much else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.analysts.rules import OfflineAnalyst
from amem.note import Fact, Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder
    from amem.testing import FrozenClock
    from tests.conftest import Open

KILN = [
    "The kiln in the shed is fired with gas",
    "The kiln needs a new thermocouple before winter",
    "Ana repairs the kiln on Mondays",
    "The glaze cracked because the kiln cooled too fast",
    "Never open the kiln above 100 degrees",
]


@pytest.fixture
def memory(open_memory: Open, minilm: Embedder) -> AgenticMemorySystem:
    return open_memory(embedder=minilm, analyst=OfflineAnalyst())


def linked(memory: AgenticMemorySystem, texts: Sequence[str]) -> list[str]:
    ids = [memory.add_note(text) for text in texts]
    for place, one in enumerate(ids):
        for other in ids[place + 1 :]:
            if other not in {link.target for link in memory.links(one)}:
                memory.link(one, other)
    return ids


@pytest.mark.parametrize("hides", [True, False], ids=["hidden", "only linked"])
def test_a_conflict_that_was_taken_back_is_left_alone_when_either_note_changes_again(
    open_memory: Open, home: Path, clock: FrozenClock, hides: bool
) -> None:
    sure = 0.75 if hides else 1.0
    memory = open_memory(settings=load_settings(home, supersede_confidence=sure), analyst=OfflineAnalyst())
    old = memory.add_note("我住在北京", facts=[Fact("user", "lives_in", "北京")])
    clock.advance(days=30)
    new = memory.add_note("海边的房子有两层")
    memory.update(new, facts=[Fact("user", "lives_in", "青岛")])
    report = memory.maintain()
    assert (report.conflicts_found, report.conflicts_resolved) == (1, int(hides))

    memory.undo(report.operation)
    for id in (old, new):
        memory.update(id, importance=0.8, content=f"{memory.memories[id].content}!")
        assert memory.maintain(dry_run=True).conflicts_found == 0
        assert memory.maintain().conflicts_found == 0
    assert memory.memories[old].status is Status.ACTIVE
    assert memory.conflicts_open() == []


def test_a_note_that_undo_took_out_of_a_topic_stays_out(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    new = memory.add_note("The kiln got its thermocouple")
    for id in ids:
        memory.link(new, id, "supports")
    report = memory.maintain()
    assert new in memory.topic(topic.id).notes

    memory.undo(report.operation)
    before = memory.topic(topic.id).text
    assert memory.maintain().topics_updated == 0
    memory.update(new, content="The kiln got its thermocouple on Monday")
    assert memory.maintain().topics_updated == 0
    assert memory.topic(topic.id).text == before
    assert set(memory.topic(topic.id).notes) == set(ids)


def test_a_topic_whose_archiving_was_taken_back_stays(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    for id in ids[1:]:
        memory.delete(id)
    report = memory.maintain()
    assert memory.topics() == []
    memory.undo(report.operation)
    memory.add_note("Something else altogether")
    memory.maintain()
    assert [each.id for each in memory.topics()] == [topic.id]

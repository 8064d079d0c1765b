"""Health and schedule: what they count, and when the next maintenance is due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from amem import load_settings
from amem.errors import MaintenanceRunning
from amem.maintenance.cycle import due, upcoming
from amem.testing import FrozenClock, ScriptedAnalyst

if TYPE_CHECKING:
    from amem import AgenticMemorySystem
    from tests.conftest import Open

SHANGHAI = ZoneInfo("Asia/Shanghai")


def test_health_counts_what_is_wrong_with_the_notes(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    ids = [memory.add_note(text) for text in ("boiler", "cellar", "attic", "garden", "roof")]
    memory.link(ids[0], ids[1], "contradicts")
    memory.link(ids[1], ids[0], "contradicts")
    memory.update(ids[2], links=["nobody"])
    with memory.parts.store.write() as session:
        operation = session.begin("test", "user")
        session.notes.change(ids[3], {"status": "superseded", "superseded_by": ids[4]}, operation)
        session.flags.put(ids[0], ids[3], "it leans on it", operation)
    memory.delete(ids[4])
    found = memory.health()
    assert (found.notes, dict(found.statuses)) == (4, {"active": 3, "superseded": 1})
    assert (found.stale, found.stale_share) == (1, pytest.approx(1 / 3))
    assert (found.conflicts, found.dangling_links, found.lost_successors) == (1, 1, 1)
    assert found.orphans == 0
    memory.update(ids[2], links=[])
    assert memory.health().orphans == 1


def test_health_counts_the_conflicts_that_are_open(memory: AgenticMemorySystem) -> None:
    ids = [memory.add_note(text) for text in ("屋顶漏水", "boiler", "attic", "garden", "roof")]
    memory.link(ids[0], ids[1], "contradicts")
    memory.link(ids[1], ids[0], "contradicts")
    memory.link(ids[2], ids[3], "supersedes")  # a link alone hides nothing
    memory.link(ids[3], ids[4], "contradicts")
    assert memory.health().conflicts == len(memory.conflicts_open()) == 3
    with memory.parts.store.write() as session:
        session.flags.put(ids[4], ids[3], "they disagree", session.begin("test", "amem"))
    memory.keep(ids[4])
    assert memory.health().conflicts == len(memory.conflicts_open()) == 2


def test_health_tells_what_waits(open_memory: Open, clock: FrozenClock) -> None:
    analyst = ScriptedAnalyst(local=False)
    memory = open_memory(analyst=analyst, background=False)
    memory.add_note("The boiler hums.", wait=False)
    analyst.fail = ValueError("broken")
    memory.add_note("The cellar is dry.")
    found = memory.health()
    assert (found.pending, found.degraded, found.unembedded, found.index) == (1, 1, 0, "in step")


def test_growth_is_by_the_week(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    memory.add_note("Long ago.")
    clock.advance(days=70)
    memory.add_note("Seven weeks ago.")
    clock.advance(days=50)
    for number in range(3):
        memory.add_note(f"This week {number}.")
    assert memory.health().growth == (1, 0, 0, 0, 0, 0, 0, 3)


def test_health_tells_of_the_last_maintenance_as_data(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    assert memory.health().last is None
    memory.add_note("haha nice", kind="chitchat", importance=0.1)
    clock.advance(days=90)
    report = memory.maintain()
    last = memory.health().last
    assert last is not None
    assert (last.cycle, last.operation, dict(last.counts)) == ("nightly", report.operation, {"faded": 1})
    found = memory.health().to_dict()
    assert found["last"]["finished"] == "2026-05-30T10:00:00.000000Z"
    assert found["growth"] == [0] * 8
    assert set(found["next"]) == {"nightly", "weekly", "monthly"}


def schedule(memory: AgenticMemorySystem, zone: ZoneInfo = SHANGHAI) -> tuple[str | None, dict[str, datetime]]:
    with memory.parts.store.read() as session:
        return due(session, zone), upcoming(session, zone)


def test_maintenance_is_due_the_night_after_the_first_note_and_then_every_night(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    assert schedule(memory) == (None, {})
    memory.add_note("The boiler hums.")  # 18:00 in Shanghai
    assert schedule(memory)[0] is None
    clock.advance(hours=8.9)
    assert schedule(memory)[0] is None
    clock.advance(hours=0.2)  # 03:06
    assert schedule(memory)[0] == "nightly"
    memory.maintain()
    assert schedule(memory)[0] is None
    assert schedule(memory)[1]["nightly"] == datetime(2026, 3, 3, 3, tzinfo=SHANGHAI)
    clock.advance(hours=24)
    assert schedule(memory)[0] == "nightly"


def test_a_longer_cycle_does_the_work_of_the_shorter_ones(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    memory.add_note("The boiler hums.")
    clock.advance(days=6)
    assert schedule(memory)[0] == "nightly"
    clock.advance(days=1)
    assert schedule(memory)[0] == "weekly"
    memory.maintain(cycle="weekly")
    assert schedule(memory)[0] is None
    clock.advance(days=23)
    assert schedule(memory)[0] == "monthly"
    memory.maintain(cycle="monthly")
    clock.advance(days=6)
    assert schedule(memory)[0] == "nightly"
    clock.advance(days=1)
    assert schedule(memory)[0] == "weekly"


def test_a_night_lasts_until_three_whatever_the_clock_does_in_spring(open_memory: Open) -> None:
    clock = FrozenClock("2026-03-28T01:00+00:00")  # 02:00 in Berlin, where the next night has no 02:00
    memory, berlin = open_memory(clock=clock), ZoneInfo("Europe/Berlin")
    memory.add_note("The boiler hums.")
    assert schedule(memory, berlin)[1]["nightly"] == datetime(2026, 3, 28, 3, tzinfo=berlin)
    memory.maintain()
    clock.advance(hours=1)
    memory.maintain()
    assert schedule(memory, berlin)[1]["nightly"].astimezone(UTC) == datetime(2026, 3, 29, 1, tzinfo=UTC)


def test_what_is_due_is_done_when_nobody_has_said_a_word_for_a_while(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    memory.add_note("haha nice", kind="chitchat", importance=0.1)
    clock.advance(days=90)
    other = memory.add_note("The boiler hums.")
    assert memory.maintain_when_quiet() is None, "somebody has just written"
    clock.advance(minutes=6)
    report = memory.maintain_when_quiet()
    assert report is not None
    assert (report.faded, report.cycle) == (1, "monthly")
    assert report.line() == f"maintenance: 1 faded: amem undo {report.operation}"
    assert memory.maintain_when_quiet() is None, "nothing is due any more"
    assert memory.read(other) is not None


def test_nothing_is_done_by_itself_where_that_is_switched_off_or_another_is_at_it(
    open_memory: Open, clock: FrozenClock, home: object
) -> None:
    memory = open_memory()
    memory.add_note("The boiler hums.")
    clock.advance(days=2)
    off = open_memory(settings=load_settings(str(home), nightly=False))
    assert off.maintain_when_quiet() is None
    with memory.parts.store.write() as session:
        session.runs.start("nightly", 0, {"seen": 0, "keys": "", "phases": {}}, "elsewhere", seconds=600)
    assert memory.maintain_when_quiet() is None
    with pytest.raises(MaintenanceRunning):
        memory.maintain()
    assert memory.health().open is not None


def test_a_worker_maintains_when_it_has_nothing_else_to_do(open_memory: Open, clock: FrozenClock) -> None:
    heard: list[str] = []

    def tell(line: str) -> None:
        heard.append(line)
        if line.startswith("maintenance"):
            memory.parts.called_off.set()

    memory = open_memory(notify=tell)
    memory.add_note("haha nice", kind="chitchat", importance=0.1)
    clock.advance(days=90)
    memory.work(once=True)
    assert memory.health().last is None, "once is for what waits"
    memory.work(poll=0.01)
    assert heard[-1].startswith("maintenance: 1 faded")

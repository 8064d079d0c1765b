"""What a run of maintenance did can be read afterwards, by another process and after years."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from phases import Marking, cycle_of, run

from amem.errors import Cancelled

if TYPE_CHECKING:
    from amem.maintenance.phase import PhaseRun
    from amem.testing import FrozenClock
    from tests.conftest import Open


def test_the_last_run_is_told_phase_by_phase_and_note_by_note_by_whoever_asks(
    open_memory: Open, clock: FrozenClock
) -> None:
    memory = open_memory()
    chat = memory.add("Nice weather", kind="chitchat", importance=0.3).id
    clock.advance(days=90)
    report = memory.maintain()
    memory.close()

    again = open_memory()
    last = again.health().last
    assert last is not None
    assert last.operation == report.operation
    assert (last.undone, last.problems) == (False, ())
    phases = {phase.name: phase for phase in last.phases}
    assert list(phases) == ["layers", "fade", "conflicts", "merge", "topics"]
    assert phases["fade"].counts == {"faded": 1}
    assert {phase.finished for phase in last.phases} == {clock.now()}
    assert report.operation is not None
    (deed,) = again.deeds(report.operation)
    assert (deed.note, deed.action, deed.made, deed.undone) == (chat, "fade", False, False)
    assert deed.cause == report.reasons[0].why

    again.undo(report.operation)
    last = again.health().last
    assert last is not None
    assert last.undone
    assert [each.undone for each in again.deeds(report.operation)] == [True]


def test_what_failed_is_remembered(open_memory: Open) -> None:
    class Broken:
        name = "broken"

        def run(self, run: PhaseRun) -> None:
            raise ValueError("out of paper")

    memory = open_memory()
    memory.add("Nice weather")
    run(cycle_of(memory, Broken()))
    last = memory.health().last
    assert last is not None
    assert last.problems == ("broken: out of paper",)


def test_deeds_are_told_up_to_a_number(open_memory: Open) -> None:
    memory = open_memory()
    ids = [memory.add(f"note {number}").id for number in range(3)]
    report = run(cycle_of(memory, Marking(memory.parts.store)))
    assert report.operation is not None
    assert [deed.note for deed in memory.deeds(report.operation)] == ids
    assert [deed.note for deed in memory.deeds(report.operation, most=2)] == ids[:2]


def test_a_run_that_was_called_off_shows_how_far_it_came(open_memory: Open) -> None:
    memory = open_memory()
    for number in range(3):
        memory.add(f"note {number}")
    stop = threading.Event()
    with pytest.raises(Cancelled):
        run(cycle_of(memory, Marking(memory.parts.store, meanwhile=lambda _: stop.set())), cancelled=stop)
    left = memory.health().open
    assert left is not None
    assert (left.owner, left.phase) == (None, "marking")
    assert [(phase.name, phase.counts, phase.finished) for phase in left.phases] == [("marking", {"promoted": 1}, None)]

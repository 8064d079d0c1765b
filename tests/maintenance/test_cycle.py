"""One run after the other: what each looks at, what it writes, and how one that was stopped goes on."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from phases import Marking, cycle_of, dump, run

from amem.errors import Cancelled, InvalidInput, MaintenanceRunning, NothingToUndo, ServiceUnavailable
from amem.maintenance.cycle import packed, unpacked
from amem.maintenance.phase import PhaseReport

if TYPE_CHECKING:
    from amem import AgenticMemorySystem
    from amem.maintenance.phase import PhaseRun
    from amem.testing import FrozenClock
    from tests.conftest import Open


def counter(memory: AgenticMemorySystem) -> int:
    with memory.parts.store.read() as session:
        return session.counter


def test_a_run_looks_at_what_changed_since_the_last_and_not_at_what_it_wrote_itself(
    memory: AgenticMemorySystem,
) -> None:
    first, second = memory.add_note("The boiler hums."), memory.add_note("屋顶漏水。")
    phase = Marking(memory.parts.store)
    report = run(cycle_of(memory, phase))
    assert (report.promoted, phase.looked_at) == (2, [first, second])

    phase.looked_at.clear()
    run(cycle_of(memory, phase))
    assert phase.looked_at == []

    memory.update(second, content="屋顶修好了。")
    third = memory.add_note("The cellar is dry.")
    run(cycle_of(memory, phase))
    assert phase.looked_at == [second, third]


def test_what_one_phase_wrote_is_no_news_to_the_next(memory: AgenticMemorySystem) -> None:
    changed = memory.add_note("The boiler hums.")
    first, second = Marking(memory.parts.store), Marking(memory.parts.store, name="again")
    run(cycle_of(memory, first))
    memory.update(changed, category="Heating")
    second.looked_at.clear()
    run(cycle_of(memory, first, second))
    assert second.looked_at == [changed]


def test_nothing_is_written_when_nothing_changed(memory: AgenticMemorySystem) -> None:
    memory.add_note("The boiler hums.")
    cycle = cycle_of(memory, Marking(memory.parts.store))
    run(cycle)
    before, log = counter(memory), memory.log()
    report = run(cycle)
    assert report.operation is None
    assert list(report.counts()) == []
    assert (counter(memory), memory.log()) == (before, log)


def test_a_dry_run_says_what_would_be_done_and_does_nothing(memory: AgenticMemorySystem) -> None:
    note = memory.add_note("The boiler hums.")
    cycle = cycle_of(memory, Marking(memory.parts.store))
    before = dump(memory), counter(memory), memory.log()
    rehearsed = run(cycle, dry_run=True)
    assert (rehearsed.promoted, rehearsed.dry_run, rehearsed.operation) == (1, True, None)
    assert [reason.id for reason in rehearsed.reasons] == [note]
    assert (dump(memory), counter(memory), memory.log()) == before
    assert run(cycle).promoted == 1


def test_undoing_a_run_restores_every_note_byte_for_byte(memory: AgenticMemorySystem) -> None:
    for text in ("The boiler hums.", "屋顶漏水。", "The cellar is dry."):
        memory.add_note(text)
    before = dump(memory)
    report = run(cycle_of(memory, Marking(memory.parts.store), Marking(memory.parts.store, "twice", "again")))
    assert report.operation is not None
    assert dump(memory) != before
    (root,) = [operation for operation in memory.log() if operation.action == "maintain"]
    assert (root.id, root.actor, root.parent) == (report.operation, "amem", None)
    assert {op.parent for op in memory.log() if op.action == "mark"} == {root.id}
    memory.undo(report.operation)
    assert dump(memory) == before


def test_undo_without_a_number_is_of_what_somebody_asked_for(memory: AgenticMemorySystem) -> None:
    note = memory.add_note("The boiler hums.")
    report = run(cycle_of(memory, Marking(memory.parts.store)))
    undone = memory.undo()
    assert undone.undone != report.operation
    assert undone.passed_over == report.operation
    assert memory.read(note) is None
    with pytest.raises(NothingToUndo) as caught:
        memory.undo()
    assert f"amem undo {report.operation}" in caught.value.hint


def test_what_was_taken_back_is_known_to_the_next_run(memory: AgenticMemorySystem) -> None:
    one, other = memory.add_note("The boiler hums."), memory.add_note("The cellar is dry.")
    report = run(cycle_of(memory, Marking(memory.parts.store)))
    assert report.operation is not None
    known: list[set[int]] = []

    class Asking:
        name = "asking"

        def run(self, run: PhaseRun) -> PhaseReport:
            with memory.parts.store.read() as session:
                known.append(run.taken_back(session, "mark", run.changed(session)))
            return PhaseReport()

    memory.undo(report.operation)
    run(cycle_of(memory, Asking()))
    memory.redo()
    run(cycle_of(memory, Asking()))
    with memory.parts.store.read() as session:
        assert known == [set(session.notes.keys_of([one, other]).values()), set()]


def test_what_others_write_meanwhile_is_looked_at_next_time_even_where_the_run_wrote_over_it(
    memory: AgenticMemorySystem,
) -> None:
    notes = [memory.add_note(f"Note {number} of six.") for number in range(6)]
    added: list[str] = []

    def another_writes(number: int) -> None:
        if number == 1:
            thread = threading.Thread(
                target=lambda: (memory.update(notes[4], content="Changed."), added.append(memory.add_note("New.")))
            )
            thread.start()
            thread.join()

    phase = Marking(memory.parts.store, meanwhile=another_writes)
    run(cycle_of(memory, phase))
    assert phase.looked_at == notes
    later = Marking(memory.parts.store)
    run(cycle_of(memory, later))
    # What it wrote before anybody else did, it need not see again; what came after, it does not tell apart.
    assert later.looked_at == [*notes[2:], *added]
    again = Marking(memory.parts.store)
    run(cycle_of(memory, again))
    assert again.looked_at == []


def test_a_run_that_is_called_off_goes_on_under_the_same_operation_with_what_changed_meanwhile(
    memory: AgenticMemorySystem,
) -> None:
    notes = [memory.add_note(f"Note {number} of six.") for number in range(6)]
    called_off = threading.Event()
    first = Marking(memory.parts.store, meanwhile=lambda number: number == 2 and called_off.set())
    with pytest.raises(Cancelled):
        run(cycle_of(memory, first), cancelled=called_off)
    added = memory.add_note("Note seven.")
    second = Marking(memory.parts.store)
    report = run(cycle_of(memory, second))
    assert second.looked_at == [*notes[3:], added]
    assert (report.resumed, report.promoted, len(report.reasons)) == (True, 7, 4)
    assert [operation.id for operation in memory.log() if operation.action == "maintain"] == [report.operation]
    assert {note.category for note in memory.list()} == {"seen"}


def test_phases_that_were_finished_are_not_done_again(memory: AgenticMemorySystem) -> None:
    memory.add_note("The boiler hums.")
    called_off = threading.Event()
    first, second = (
        Marking(memory.parts.store),
        Marking(memory.parts.store, "twice", "again", meanwhile=lambda n: called_off.set()),
    )
    with pytest.raises(Cancelled):
        run(cycle_of(memory, first, second), cancelled=called_off)
    report = run(cycle_of(memory, first, Marking(memory.parts.store, "twice", "again")))
    assert len(first.looked_at) == 1
    assert report.promoted == 2


def test_one_run_at_a_time(open_memory: Open, clock: FrozenClock) -> None:
    mine, other = open_memory(), open_memory()
    mine.add_note("The boiler hums.")
    refused: list[MaintenanceRunning] = []

    def another_tries(number: int) -> None:
        with pytest.raises(MaintenanceRunning) as caught:
            run(cycle_of(other, Marking(other.parts.store)))
        refused.append(caught.value)

    run(cycle_of(mine, Marking(mine.parts.store, meanwhile=another_tries)))
    assert "2026-03-01 10:00" in str(refused[0])
    assert refused[0].hint
    run(cycle_of(other, Marking(other.parts.store)))


def test_a_run_whose_owner_died_or_fell_silent_is_taken_over(open_memory: Open, clock: FrozenClock) -> None:
    mine, other = open_memory(), open_memory()
    for number in range(3):
        mine.add_note(f"Note {number} of three.")
    taken: list[int] = []

    def another_takes_over(number: int) -> None:
        if number == 0:
            clock.advance(minutes=11)
            taken.append(run(cycle_of(other, Marking(other.parts.store))).promoted)

    with pytest.raises(Cancelled):
        run(cycle_of(mine, Marking(mine.parts.store, meanwhile=another_takes_over)))
    assert taken == [3]
    # With its process gone, nobody waits for the lease to end.
    left = mine.parts.store
    with left.write() as session:
        session.runs.start("nightly", 0, {"seen": 0, "keys": "", "phases": {}}, "gone", seconds=600)
    with pytest.raises(MaintenanceRunning):
        run(cycle_of(other, Marking(left)))
    assert run(cycle_of(other, Marking(left), gone=lambda owner: owner == "gone")).resumed


def test_a_phase_that_fails_keeps_no_other_from_its_work_and_is_given_the_same_again(
    memory: AgenticMemorySystem,
) -> None:
    note = memory.add_note("The boiler hums.")
    asked: list[list[int]] = []

    class Failing:
        name = "failing"

        def run(self, run: PhaseRun) -> PhaseReport:
            with memory.parts.store.read() as session:
                asked.append(run.changed(session))
            raise ServiceUnavailable("the model is down", hint="start it")

    after = Marking(memory.parts.store)
    report = run(cycle_of(memory, Failing(), after))
    assert report.problems == ("failing: the model is down (start it)",)
    assert after.looked_at == [note]
    run(cycle_of(memory, Failing(), after))
    assert asked[0] == asked[1] != []


def test_closing_the_collection_calls_a_run_off_and_leaves_it_to_the_next(open_memory: Open) -> None:
    memory = open_memory()
    notes = [memory.add_note(f"Note {number} of three.") for number in range(3)]
    ended: list[BaseException] = []
    midway, closing = threading.Event(), threading.Event()

    def wait_for_closing(number: int) -> None:
        midway.set()
        assert closing.wait(10)

    def maintain() -> None:
        try:
            cycle = cycle_of(memory, Marking(memory.parts.store, meanwhile=wait_for_closing))
            run(cycle, cancelled=memory.parts.called_off)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=maintain)
    thread.start()
    assert midway.wait(10)
    memory.close()
    closing.set()
    thread.join(10)
    assert isinstance(ended[0], Cancelled)
    # This very process lives on, and yet nobody has to wait for the lease.
    again = open_memory()
    phase = Marking(again.parts.store)
    assert run(cycle_of(again, phase)).resumed
    assert phase.looked_at == notes[1:]


@pytest.mark.parametrize("keys", [[], [7], [1, 2, 3], [1, 3, 4, 5, 9], list(range(1, 10_001))])
def test_keys_survive_being_packed(keys: list[int]) -> None:
    assert unpacked(packed(keys)) == keys


def test_ten_thousand_new_notes_take_a_few_characters() -> None:
    assert packed(range(1, 10_001)) == "1-10000"


@pytest.mark.parametrize("cycle", ["yearly", ""])
def test_the_first_argument_is_the_cycle_and_anything_else_is_refused_by_name(
    memory: AgenticMemorySystem, cycle: Any
) -> None:
    with pytest.raises(InvalidInput, match="there is no cycle") as refused:
        memory.maintain(cycle)
    assert "nightly, weekly, monthly" in refused.value.hint
    report = memory.maintain("weekly")
    assert (report.cycle, report.dry_run) == ("weekly", False)
    assert memory.maintain(dry_run=True).dry_run

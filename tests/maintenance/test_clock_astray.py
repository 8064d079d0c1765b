"""A clock that once stood in 2099 and stands right again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysts.rules import OfflineAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]


def test_maintenance_is_not_put_off_for_a_lifetime(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    memory.add("Green tea at 80 degrees.")
    clock.advance(days=73 * 365)
    memory.add("The kettle is new.")
    memory.maintain()
    clock.advance(days=-73 * 365)
    clock.advance(days=2)

    assert memory.maintenance_due() == "nightly"
    memory.maintain()
    assert memory.maintenance_due() is None


def test_doctor_says_so_and_dates_the_notes_today_and_undo_takes_that_back(
    open_memory: Open, clock: FrozenClock
) -> None:
    memory = open_memory()
    clock.advance(days=73 * 365)
    astray = memory.add("I live in Rome.").id
    told = memory.add("The comet comes back.", time="2099-05-01").id
    clock.advance(days=-73 * 365)

    (found,) = [each for each in memory.doctor() if each.about == "clock"]
    assert found.what.startswith("1 note recorded by a clock")
    (mended,) = [each for each in memory.doctor(repair=True) if each.about == "clock"]
    assert "or today" in mended.what
    note = memory.read(astray)
    assert note is not None
    assert note.at == clock.now()
    other = memory.read(told)
    assert other is not None
    assert other.timestamp == "2099-05-01"
    assert not [each for each in memory.doctor() if each.about == "clock"]
    memory.undo(int(mended.what.rsplit("amem undo ", 1)[1].split()[0]))
    note = memory.read(astray)
    assert note is not None
    assert note.at is not None
    assert note.at.year == 2099


def test_a_note_of_2099_overturns_nothing_that_is_told_later_even_before_doctor_mends_it(
    open_memory: Open, clock: FrozenClock
) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    first = memory.add("I live in Rome.").id
    clock.advance(days=73 * 365)
    astray = memory.add("I live in Oslo.").id
    clock.advance(days=-73 * 365)
    clock.advance(days=30)

    receipt = memory.add("I live in Berlin.")

    assert receipt.superseded_by is None
    assert receipt.superseded == (astray,)
    assert receipt.astray == (astray,)
    assert receipt.to_dict()["astray"] == [astray]
    (left,) = [note for note in memory.list() if note.id in (first, astray, receipt.id)]
    assert left.content == "I live in Berlin."
    ended = memory.read(astray)
    assert ended is not None
    assert ended.valid_to == clock.now()
    # And a note of a right clock says nothing of clocks.
    assert memory.add("I live in Madrid.").astray == ()


def test_a_day_reckoned_by_the_wrong_clock_counts_no_more_than_the_clock(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    memory.add("Green tea at 80 degrees.")
    clock.advance(days=73 * 365)
    astray = memory.add("I moved to Oslo yesterday.").id
    clock.advance(days=-73 * 365)
    clock.advance(days=30)
    receipt = memory.add("I moved to Berlin yesterday.")
    assert receipt.superseded_by is None
    assert receipt.superseded == (astray,)


def test_what_is_planned_for_a_far_year_keeps_its_date(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    planned = memory.add("I live in Oslo.", time="2099-05-01").id
    receipt = memory.add("I live in Berlin.")
    assert receipt.astray == ()
    assert receipt.superseded_by == planned


def test_a_mended_note_is_not_newer_than_what_came_after_it(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    clock.advance(days=73 * 365)
    astray = memory.add("I live in Rome.").id
    clock.advance(days=-73 * 365)
    memory.add("The kettle is new.")
    came = clock.now()
    clock.advance(days=9)
    memory.doctor(repair=True)
    note = memory.read(astray)
    assert note is not None
    assert note.at == came

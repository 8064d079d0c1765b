"""A clock that once stood in 2099 and stands right again."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    assert "dated today" in mended.what
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

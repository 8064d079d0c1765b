"""Items of a numbered list, told one by one, neither contradict nor replace each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.analysts.rules import OfflineAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock


@pytest.mark.parametrize("hours", [1, 40])
def test_ten_items_that_differ_in_a_number_are_ten_things(
    open_memory: Callable[..., AgenticMemorySystem], clock: FrozenClock, hours: int
) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    for line in (
        "Seat {0} is reserved for guest {1}.",
        "Locker {0}: code {2}",
        "Step {0}: wait {2} minutes",
        "{0}. Row {1} has {2} plants.",
        "{0}号柜的密码是{2}",
        "第{0}步：等{2}分钟",
    ):
        for number in range(1, 11):
            receipt = memory.add(line.format(number, number + 3, number * 37 % 1000))
            assert (receipt.conflicts, receipt.superseded) == ((), ()), line.format(number, number + 3, number)
            clock.advance(hours=hours)


def test_another_value_for_one_and_the_same_item_still_counts(
    open_memory: Callable[..., AgenticMemorySystem], clock: FrozenClock
) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    old = memory.add("Seat 4 is reserved for guest 7.").id
    clock.advance(days=2)
    receipt = memory.add("Seat 4 is now reserved for guest 9.")
    assert old in {*receipt.superseded, *(each.earlier for each in receipt.conflicts)}

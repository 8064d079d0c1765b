"""What is to become of one note: the days on which something happens are those on which maintenance does it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from amem.errors import NoteNotFound
from amem.note import Layer, Status

if TYPE_CHECKING:
    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock


def test_a_note_fades_on_the_day_that_was_foretold_and_not_before(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    id = memory.add("哈哈，今天天气真好", kind="chitchat", importance=0.3).id
    foretold = memory.outlook(id)
    assert foretold.fades is not None
    assert foretold.stays == ""
    clock.advance((foretold.fades - clock.now()) - timedelta(days=1))
    assert memory.maintain().faded == 0
    clock.advance(timedelta(days=1))
    assert memory.maintain().faded == 1
    assert memory.outlook(id).status is Status.ARCHIVED
    assert memory.outlook(id).stays == "it is archived already"


def test_a_note_leaves_its_layer_on_the_day_that_was_foretold(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = memory.add("The gym opens at six.", importance=0.6, layer="long_term").id
    foretold = memory.outlook(id)
    assert foretold.moves is not None
    assert foretold.moves_to is Layer.SHORT_TERM
    clock.advance((foretold.moves - clock.now()) - timedelta(days=1))
    assert memory.maintain().demoted == 0
    clock.advance(timedelta(days=1))
    assert memory.maintain().demoted == 1


def test_a_strong_note_rises_at_once(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = memory.add("Standup is at half past nine.", importance=1.0).id
    for _ in range(6):
        clock.advance(days=1)
        memory.opened([id])
    foretold = memory.outlook(id)
    assert (foretold.moves, foretold.moves_to) == (clock.now(), Layer.LONG_TERM)


def test_it_says_why_a_note_stays(memory: AgenticMemorySystem) -> None:
    allergy = memory.add("我对花生过敏", kind="constraint", importance=0.9).id
    error = memory.add("Traceback: cost $5", kind="error", importance=0.4).id
    assert memory.outlook(allergy).stays == "a constraint never fades by time alone"
    assert memory.outlook(error).fades is not None
    memory.pin(error)
    pinned = memory.outlook(error)
    assert (pinned.fades, pinned.stays, pinned.pinned) == (None, "it is pinned", True)
    assert pinned.kept.min() == 1.0


def test_what_somebody_brought_back_is_left_alone(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = memory.add("Nice weather", kind="chitchat", importance=0.3).id
    clock.advance(days=90)
    memory.undo(memory.maintain().operation)
    assert memory.outlook(id).stays == "somebody wanted it to stay"


def test_the_curve_reaches_from_the_last_use_past_what_happens(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = memory.add("Nice weather", kind="chitchat", importance=0.3).id
    clock.advance(days=5)
    foretold = memory.outlook(id)
    assert foretold.fades is not None
    assert foretold.days[0] == pytest.approx(-5)
    assert foretold.days[-1] > (foretold.fades - foretold.at).days
    assert foretold.kept[0] == 1.0
    assert (foretold.kept[1:] < foretold.kept[:-1]).all()
    assert memory.outlook(id, ahead=30).days[-1] == 30


def test_a_note_that_is_not_there_has_none(memory: AgenticMemorySystem) -> None:
    with pytest.raises(NoteNotFound):
        memory.outlook("nobody")


def test_a_preview_that_names_few_counts_all(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    for number in range(5):
        memory.add(f"Nice weather {number}", kind="chitchat", importance=0.3)
    clock.advance(days=90)
    whole, few = memory.fade(1), memory.fade(1, most=2)
    assert (few.counts, len(few.notes)) == (whole.counts, 2)
    assert few.counts["faded"] == 5
    assert few.notes == whole.notes[:2]

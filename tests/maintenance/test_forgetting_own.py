"""What a person wrote by hand moves between the layers but is archived only where they opt in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Kind, Settings
from amem.maintenance.forgetting_phases import OWN
from amem.note import Message, Role

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

BY_HAND = {
    "df.groupby('day').sum()": Kind.CODE,
    "The train to Porto leaves on 3 May at 09:40, seat 21.": Kind.EPISODE,
    "今天去爬了香山，看了红叶。": Kind.EPISODE,
}


@pytest.fixture(autouse=True)
def own_notes_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AMEM_ARCHIVE_OWN_NOTES", raising=False)


def written(memory: AgenticMemorySystem) -> list[str]:
    return [memory.add(text, kind=str(kind), importance=0.3).id for text, kind in BY_HAND.items()]


def statuses(memory: AgenticMemorySystem, ids: list[str]) -> set[str]:
    return {str(memory.memories[id].status) for id in ids}


def test_what_a_person_wrote_stays_and_what_chats_and_agents_left_is_archived(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    mine = written(memory)
    theirs = [
        memory.acting_as("agent:scout").add("A scouting trip to the harbour.", kind="episode", importance=0.3).id,
        memory.add("哈哈，好的", kind="chitchat", importance=0.2, conversation_id="chat-1").id,
    ]
    long_term = memory.add("x = compute(y)", kind="code", importance=0.4, layer="long_term").id

    preview = memory.fade(days=200)
    assert {note.id for note in preview.notes if note.what == "faded"} == set(theirs)
    assert preview.own == len(mine) + 1
    assert preview.to_dict()["own"] == preview.own
    (note,) = memory.fade(days=200, ids=mine[:1]).notes
    assert (note.what, OWN in note.why) == ("stays", True)
    assert memory.outlook(mine[2]).stays == OWN

    clock.advance(days=200)
    report = memory.maintain("weekly")
    assert (report.faded + report.compressed, report.demoted) == (2, 1), "layers are not the archive"
    assert statuses(memory, theirs) == {"archived"}
    assert statuses(memory, [*mine, long_term]) == {"active"}


def test_who_opts_in_has_it_fade_like_the_rest(home: Path, open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory(settings=Settings(home=home, archive_own_notes=True))
    mine = written(memory)
    clock.advance(days=200)

    assert memory.fade().own == 0
    assert memory.maintain().faded == len(mine)
    assert statuses(memory, mine) == {"archived"}


def test_a_chat_that_was_remembered_is_not_by_hand(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    memory.remember([Message(Role.USER, "哈哈，今天天气真不错啊")], conversation="rain")
    clock.advance(days=400)

    assert memory.fade().own == 0

"""Notes move between layers and fade as their strength says; pins and people's decisions hold."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, Filter, Kind, Settings, Status
from amem.errors import InvalidInput
from amem.note import Fact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

ARCHIVED = Filter(statuses=(Status.ARCHIVED,))


def add(memory: AgenticMemorySystem, text: str, kind: Kind = Kind.FACT, **fields: Any) -> str:
    return memory.add(text, kind=str(kind), **fields).id


def standing(memory: AgenticMemorySystem, id: str) -> tuple[str, str]:
    note = memory.read(id)
    assert note is not None
    return str(note.layer), str(note.status)


def use(memory: AgenticMemorySystem, clock: FrozenClock, id: str, days: int) -> None:
    for _ in range(days):
        memory.opened([id])
        clock.advance(days=1)


def versions(memory: AgenticMemorySystem) -> dict[str, Any]:
    return {id: memory.read(id) for id in memory.memories}


def test_what_is_used_moves_to_long_term_memory_and_back_when_it_is_not(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    id = add(memory, "The gym opens at six.", importance=0.8)
    assert memory.maintain().promoted == 0
    use(memory, clock, id, 3)

    assert memory.maintain().promoted == 1
    assert standing(memory, id) == ("long_term", "active")
    clock.advance(days=60)
    assert memory.maintain().operation is None

    clock.advance(days=400)
    report = memory.maintain()
    assert (report.demoted, report.faded) == (1, 0)
    assert standing(memory, id) == ("short_term", "active")
    assert "is down to 0.3" in report.reasons[0].why
    assert [version.cause for version in memory.history(id)][-1] == report.reasons[0].why


def test_a_note_that_was_weak_from_the_start_is_demoted_for_lost_time_alone(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    id = add(memory, "Lena's cousin plays the oboe.", importance=0.3, layer="long_term")
    assert memory.strength(id).value < 0.3
    assert memory.maintain().demoted == 0

    clock.advance(days=89)
    assert memory.maintain().demoted == 0
    clock.advance(days=30)
    assert memory.maintain().demoted == 1


def test_small_talk_questions_errors_code_and_episodes_fade_and_nothing_else(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    ids = {kind: add(memory, f"A note of the kind {kind}.", kind, importance=0.3) for kind in Kind}
    clock.advance(days=59)
    assert memory.maintain().faded == 0

    clock.advance(days=300)
    memory.maintain()

    faded = {kind for kind, id in ids.items() if standing(memory, id)[1] == "archived"}
    assert faded == {Kind.CHITCHAT, Kind.QUESTION, Kind.ERROR, Kind.CODE, Kind.EPISODE}
    assert memory.count() == len(Kind)


def test_a_pin_holds(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = add(memory, "haha, good one", Kind.CHITCHAT, importance=0.1)
    memory.pin(id)
    clock.advance(days=1_000)

    assert memory.maintain().operation is None
    assert memory.strength(id).retention == 1.0


def test_what_was_used_lately_does_not_fade(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = add(memory, "good morning", Kind.CHITCHAT, importance=0.1)
    clock.advance(days=200)
    memory.opened([id])
    clock.advance(days=59)

    assert memory.maintain().faded == 0


def test_a_layer_or_status_that_a_person_set_stays(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    kept = add(memory, "Kestrel was a good ship.", importance=0.5)
    memory.update(kept, layer="long_term")
    clock.advance(days=300)
    faded = add(memory, "see you tomorrow", Kind.CHITCHAT, importance=0.2)
    clock.advance(days=100)
    assert memory.maintain().faded == 1
    memory.restore(faded)
    clock.advance(days=400)

    assert memory.maintain().operation is None
    assert standing(memory, kept)[0] == "long_term"
    assert standing(memory, faded)[1] == "active"


def test_a_note_that_an_agent_brings_back_is_left_in_peace_again(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    id = add(memory, "see you tomorrow", Kind.CHITCHAT, importance=0.2)
    clock.advance(days=100)
    memory.maintain()
    memory.acting_as("agent").restore(id)

    clock.advance(days=50)
    assert memory.maintain().faded == 0
    clock.advance(days=50)
    assert memory.maintain().faded == 1


def test_what_somebody_took_back_is_not_done_again(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    ids = [add(memory, f"lol {n}", Kind.CHITCHAT, importance=0.2) for n in range(3)]
    clock.advance(days=100)
    memory.maintain()
    (mine,) = [
        operation.id for operation in memory.log() if operation.action == "fade" and operation.notes == (ids[1],)
    ]
    memory.undo(mine)

    assert [standing(memory, id)[1] for id in ids] == ["archived", "active", "archived"]
    clock.advance(days=1)
    assert memory.maintain().operation is None


def test_undoing_a_maintenance_restores_every_note(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    strong = add(memory, "We ship on Fridays.", Kind.DECISION, importance=0.9)
    for n in range(4):
        add(memory, f"hm {n}", Kind.CHITCHAT, importance=0.2)
    use(memory, clock, strong, 4)
    clock.advance(days=70)
    use(memory, clock, strong, 1)
    before = versions(memory)

    report = memory.maintain()
    assert (report.promoted, report.faded) == (1, 4)
    memory.undo(report.operation)

    after = versions(memory)
    for id, note in before.items():
        note.evolution_history = after[id].evolution_history = []
        note.version = after[id].version = 0
    assert after == before


def test_a_dry_run_says_the_same_and_writes_nothing(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    demoted_and_faded = add(memory, "raise KeyError", Kind.ERROR, importance=0.5, layer="long_term")
    clock.advance(days=61)
    dry = memory.maintain(dry_run=True)
    assert standing(memory, demoted_and_faded) == ("long_term", "active")

    real = memory.maintain()
    assert dry.reasons == real.reasons
    assert (real.demoted, real.faded) == (1, 1)
    assert standing(memory, demoted_and_faded) == ("short_term", "archived")


def test_a_run_that_was_called_off_is_finished_by_the_next(
    memory: AgenticMemorySystem, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amem.errors import Cancelled
    from amem.storage import rows as chunks

    monkeypatch.setattr(chunks, "AT_ONCE", 2)
    ids = [add(memory, f"hm {n}", Kind.CHITCHAT, importance=0.2) for n in range(5)]
    clock.advance(days=100)
    stop = threading.Event()

    def after_the_first_page(phase: str, done: int, of: int) -> None:
        if phase == "fade" and done:
            stop.set()

    with pytest.raises(Cancelled):
        memory.maintain(progress=after_the_first_page, cancelled=stop)
    assert [standing(memory, id)[1] for id in ids].count("archived") == 2

    report = memory.maintain()
    assert (report.resumed, report.faded) == (True, 5)
    memory.undo(report.operation)
    assert {standing(memory, id)[1] for id in ids} == {"active"}


def test_one_rate_of_forgetting_for_all_is_honoured_everywhere(
    open_memory: Open, home: Path, clock: FrozenClock
) -> None:
    memory = open_memory(settings=Settings(home=home, decay_rate=0.5))
    id = add(memory, "The bins go out on Tuesday.", importance=0.9)
    lasting = add(memory, "To take the bins out, roll them down the drive.", Kind.PROCEDURE)
    clock.advance(days=10)

    kept = memory.strength(id).retention
    assert kept == pytest.approx(2.718281828 ** (-0.5 * 10**1.2))
    assert memory.explain("bins", id).prior.retention == pytest.approx(kept)
    assert memory.strength(lasting).retention == 1.0


def test_lines_that_would_have_notes_flap_are_refused() -> None:
    with pytest.raises(InvalidInput, match="short_term_below"):
        Settings().replaced(short_term_below=0.8)


def test_looking_at_a_note_a_hundred_times_changes_nothing(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = add(memory, "The gym opens at six.")
    clock.advance(days=5)
    first = memory.strength(id), memory.read(id)

    for _ in range(100):
        assert (memory.strength(id), memory.read(id)) == first
        memory.fade(30, [id])
        memory.explain("gym", id)
    assert (memory.strength(id), memory.read(id)) == first


def test_strength_tells_of_other_times(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = add(memory, "thanks!", Kind.CHITCHAT, importance=0.4)

    now, later = memory.strength(id), memory.strength(id, at="2026-03-31T10:00")
    clock.advance(days=30)

    assert later == memory.strength(id)
    assert later.value < now.value / 10
    assert (later.age_days, later.stability_days) == (30.0, 3.0)


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value", "holds"),
    [
        ("I moved back to Lyon.", "user", "lives_in", "Lyon", True),
        ("我搬回里昂了。", "user", "lives_in", "里昂", True),
        ("我辞职了", "user", "works_at", "", False),
        ("Ana is my boss now.", "user", "manager", "Ana", True),
    ],
)
@pytest.mark.parametrize("cycle", ["nightly", "weekly"])
def test_what_says_how_things_are_now_does_not_fade(
    memory: AgenticMemorySystem,
    clock: FrozenClock,
    text: str,
    subject: str,
    predicate: str,
    value: str,
    holds: bool,
    cycle: str,
) -> None:
    told = {"importance": 0.1, "conversation_id": "talk"}
    states = add(memory, text, Kind.EPISODE, facts=[Fact(subject, predicate, value, holds)], **told)
    over = add(memory, "Back then Tom lived in Rome.", Kind.EPISODE, facts=[Fact("Tom", "lives_in", "Rome")], **told)
    memory.update(over, valid_to="2026-03-02")
    likes = add(memory, "Blue sky today.", Kind.EPISODE, facts=[Fact("user", "likes", "blue sky")], **told)
    rain = add(memory, "It rained.", Kind.EPISODE, **told)
    clock.advance(days=200)
    (stays, fades) = memory.fade(0, [states, rain]).notes[::-1]
    assert (stays.id, stays.what, fades.what) == (states, "stays", "faded")
    assert f"it says how things are now: {subject} {predicate} {value}".rstrip() in stays.why
    memory.maintain(cycle=cycle)
    assert [str(memory.read(id).status) for id in (states, over, likes, rain)] == ["active", *["archived"] * 3]


def test_what_took_the_place_of_another_note_does_not_fade(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    fields = {"importance": 0.1}
    old = add(memory, "The bins go out on Monday.", Kind.EPISODE, **fields)
    new = add(memory, "垃圾改成周四倒了。", Kind.EPISODE, **fields)
    memory.supersede(old, new)
    clock.advance(days=200)
    assert memory.maintain().faded == 0
    assert "it took the place of another note" in memory.fade(0, [new]).notes[0].why
    memory.unsupersede(old)
    assert memory.maintain().faded == 1
    assert standing(memory, new)[1] == "archived"

"""What is true now: chains by when things were true, whatever order they arrive, are undone and redone in."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from amem import Filter
from amem.note import Fact, LinkType, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.note import Receipt

    Open = Callable[..., AgenticMemorySystem]

CITIES = {2018: "Porto", 2020: "Lisbon", 2022: "Berlin", 2024: "Vienna"}


def lives(memory: AgenticMemorySystem, city: str, year: int) -> Receipt:
    """Somebody says on New Year's Day of `year` where they live."""
    return memory.add(f"I moved to {city}.", time=f"{year}-01-01", facts=[Fact("user", "lives_in", city)])


def standing(memory: AgenticMemorySystem) -> dict[str, tuple[str, str | None, int | None]]:
    """City: status, the city that took its place, the year in which it ended."""
    notes = {note.id: note for note in memory.list(Filter(statuses=tuple(Status)), limit=100)}
    names = {id: note.facts[0].object for id, note in notes.items()}
    return {
        names[id]: (
            str(note.status),
            names.get(note.superseded_by or ""),
            None if note.valid_to is None else note.valid_to.year,
        )
        for id, note in notes.items()
    }


def chained(*years: int) -> dict[str, tuple[str, str | None, int | None]]:
    """What `standing` must be when these cities were told and nothing else."""
    ordered = sorted(years)
    following = {year: ordered[at + 1] for at, year in enumerate(ordered[:-1])}
    return {
        CITIES[year]: (
            "superseded" if year in following else "active",
            CITIES.get(following.get(year, 0)),
            following.get(year),
        )
        for year in ordered
    }


def consistent(memory: AgenticMemorySystem) -> None:
    """No active note has a successor, and none is superseded by a note that is not there."""
    for note in memory.list(Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED)), limit=100):
        if note.status is Status.ACTIVE:
            assert note.superseded_by is None
            assert note.valid_to is None
        else:
            assert note.superseded_by is not None
            assert memory.read(note.superseded_by) is not None


@pytest.mark.parametrize("order", list(permutations(CITIES)))
def test_a_chain_is_ordered_by_when_it_was_true_whatever_order_it_is_told_in(memory: AgenticMemorySystem, order):
    for year in order:
        lives(memory, CITIES[year], year)
    assert standing(memory) == chained(*CITIES)


def test_an_old_diary_is_superseded_the_moment_it_arrives_and_overturns_nothing(memory: AgenticMemorySystem):
    now = lives(memory, "Vienna", 2024)
    old = lives(memory, "Porto", 2018)
    assert old.superseded == ()
    assert old.superseded_by == now.id
    assert old.conflicts[0].hides
    assert old.to_dict()["conflicts"][0]["judge"] == "slot"
    assert memory.read(now.id).status is Status.ACTIVE
    assert [hit.id for hit in memory.search("moved to Porto")] == [now.id]


def test_the_superseded_note_is_found_when_asked_for_and_in_its_own_time(memory: AgenticMemorySystem):
    old, new = lives(memory, "Porto", 2018), lives(memory, "Vienna", 2024)
    assert new.superseded == (old.id,)
    assert [hit.id for hit in memory.search("moved to")] == [new.id]
    everything = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED))
    assert {hit.id for hit in memory.search("moved to", filter=everything)} == {old.id, new.id}
    then = Filter(as_of=datetime(2020, 5, 1, tzinfo=UTC))
    assert [hit.id for hit in memory.search("moved to", filter=then)] == [old.id]
    assert memory.history(old.id)[-1].action == "supersede"
    (link,) = memory.backlinks(old.id)
    assert (link.source, link.type, link.made_by) == (new.id, LinkType.SUPERSEDES, "amem")
    assert link.confidence > 0.8
    assert "Porto" in link.reason


def test_moving_back_starts_anew_and_does_not_raise_the_old_note(memory: AgenticMemorySystem):
    first, berlin = lives(memory, "Porto", 2018), lives(memory, "Berlin", 2022)
    again = lives(memory, "Porto", 2024)  # in the very words of the first
    assert again.stored
    assert again.id != first.id
    assert again.superseded == (berlin.id,)
    assert memory.read(first.id).status is Status.SUPERSEDED
    assert memory.read(first.id).superseded_by == berlin.id


def test_two_people_may_live_in_two_places(memory: AgenticMemorySystem):
    memory.add("Ana lives in Porto", facts=[Fact("Ana", "lives_in", "Porto")])
    receipt = memory.add("Ben lives in Berlin", facts=[Fact("Ben", "lives_in", "Berlin")])
    assert (receipt.superseded, receipt.superseded_by) == ((), None)


@pytest.mark.parametrize("kind", ["question", "topic"])
def test_what_states_nothing_supersedes_nothing(memory: AgenticMemorySystem, kind: str):
    old = lives(memory, "Porto", 2018)
    receipt = memory.add("So I moved to Berlin", kind=kind, facts=[Fact("user", "lives_in", "Berlin")])
    assert receipt.superseded == ()
    assert memory.read(old.id).status is Status.ACTIVE


def test_mates_of_one_batch_supersede_each_other(memory: AgenticMemorySystem):
    items = [
        {"content": f"I moved to {city}.", "time": f"{year}-01-01", "facts": [Fact("user", "lives_in", city)]}
        for year, city in sorted(CITIES.items(), key=lambda each: each[1])
    ]
    memory.add_notes(items)
    assert standing(memory) == chained(*CITIES)
    memory.undo()
    assert len(memory.memories) == 0


YEARS = (2020, 2024, 2022)  # as they arrive: a third comes between the two


@pytest.mark.parametrize("undone", [order for count in (1, 2, 3) for order in permutations(YEARS, count)])
def test_undoing_any_part_of_a_chain_in_any_order_leaves_a_chain(memory: AgenticMemorySystem, undone):
    told = {year: lives(memory, CITIES[year], year) for year in YEARS}
    left = set(YEARS)
    for year in undone:
        memory.undo(told[year].operation)
        left.remove(year)
        gone = {CITIES[each]: standing(memory)[CITIES[each]][0] for each in set(YEARS) - left}
        assert set(gone.values()) <= {"deleted"}
        assert {city: state for city, state in standing(memory).items() if city not in gone} == chained(*left)
        consistent(memory)
    for _ in undone:
        memory.redo()
        consistent(memory)
    assert standing(memory) == chained(*YEARS)


def test_undoing_the_newest_brings_back_exactly_what_was(memory: AgenticMemorySystem):
    old = lives(memory, "Porto", 2018)
    before = memory.read(old.id)
    new = lives(memory, "Vienna", 2024)
    report = memory.undo()
    after = memory.read(old.id)
    assert report.kept == ()
    assert (after.status, after.superseded_by, after.valid_to) == (Status.ACTIVE, None, before.valid_to)
    assert memory.backlinks(old.id) == []
    assert memory.read(new.id) is None
    memory.redo()
    assert standing(memory) == chained(2018, 2024)


def test_what_came_while_a_note_did_not_count_is_weighed_when_it_counts_again(memory: AgenticMemorySystem):
    lives(memory, "Porto", 2018)
    middle = lives(memory, "Lisbon", 2020)
    lives(memory, "Vienna", 2024)
    memory.undo(middle.operation)  # Vienna came when Porto was hidden already
    assert standing(memory)["Porto"] == ("superseded", "Vienna", 2024)
    memory.redo()
    assert standing(memory) == chained(2018, 2020, 2024)


def test_deleting_the_successor_by_hand_gives_the_place_back(memory: AgenticMemorySystem):
    lives(memory, "Porto", 2018)
    new = lives(memory, "Vienna", 2024)
    memory.delete(new.id)
    assert standing(memory)["Porto"] == ("active", None, None)
    memory.undo()
    assert standing(memory) == chained(2018, 2024)


def test_a_note_whose_successor_is_purged_stands_again_and_is_weighed_again(memory: AgenticMemorySystem):
    old = lives(memory, "Porto", 2018)
    assert memory.purge(lives(memory, "Vienna", 2024).id).stands_again == (old.id,)
    assert standing(memory)["Porto"][:2] == ("active", None)
    assert memory.read(old.id).valid_to is None
    assert lives(memory, "Berlin", 2022).superseded == (old.id,)


def test_rolling_a_superseded_note_back_to_its_first_text_leaves_it_superseded(memory: AgenticMemorySystem):
    old, new = lives(memory, "Porto", 2018), lives(memory, "Vienna", 2024)
    memory.update(old.id, context="where it began")
    memory.rollback(old.id, 1)
    assert memory.read(old.id).context != "where it began"
    assert memory.read(old.id).superseded_by == new.id


@pytest.mark.thorough
def test_hundreds_of_values_of_one_slot_are_one_chain(memory: AgenticMemorySystem):
    items = [
        {
            "content": f"Release {number} is out",
            "time": datetime.fromtimestamp(1_600_000_000 + 86_400 * ((number * 37) % 200), UTC),
            "facts": [Fact("amem", "version", f"{number}.0")],
        }
        for number in range(200)
    ]
    memory.add_notes(items)
    ordered = memory.list(Filter(statuses=tuple(Status)), limit=2000)
    assert [note.superseded_by for note in ordered] == [None, *(note.id for note in ordered[:-1])]

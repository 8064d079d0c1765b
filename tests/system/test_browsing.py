"""Looking through a collection: what tells that somebody wrote, lists, places, and what is counted."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import NoteNotFound
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind, LinkType, Status
from amem.query import Filter
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from amem.analysis import Draft, Neighbour

    Open = Callable[..., AgenticMemorySystem]

TEXTS = ("Green tea at 80 degrees", "The kettle holds green tea", "芝麻是只猫")


def relate(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
    """Link what is near, and propose a context without being sure."""
    return Evolution(
        links=tuple(ProposedLink(each.handle, LinkType.SUPPORTS, "near", 0.9) for each in neighbours[:1]),
        rewrites=tuple(Rewrite(each.handle, "Another context", None, "unsure", 0.5) for each in neighbours[:1]),
    )


@pytest.fixture
def open_home(tmp_path: Path) -> Iterator[Open]:
    opened: list[AgenticMemorySystem] = []

    def open_one(**options: Any) -> AgenticMemorySystem:
        memory = AgenticMemorySystem(
            settings=Settings(home=tmp_path / "home", dense_base="exact", timezone="Europe/Lisbon"),
            clock=FrozenClock("2026-03-01T09:00", seed=str(len(opened))),
            embedder=HashEmbedder(),
            analyst=ScriptedAnalyst(lambda draft: Analysis(("word",), "About it", ("tea",), Kind.FACT), relate),
            **options,
        )
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_home: Open) -> AgenticMemorySystem:
    """Three notes, the newest the last; the second is linked to the first and proposes to change it."""
    memory = open_home()
    for text in TEXTS:
        memory.add(text)
        memory.parts.clock.advance(timedelta(days=1))
    return memory


def ids(memory: AgenticMemorySystem) -> list[str]:
    return [note.id for note in reversed(memory.list())]


# -- the pulse -------------------------------------------------------------------------------------------------------

WRITES: dict[str, Callable[[AgenticMemorySystem], object]] = {
    "add": lambda memory: memory.add("White tea"),
    "add without waiting": lambda memory: memory.add("White tea", wait=False),
    "add what is known already": lambda memory: memory.add(TEXTS[0], speaker="Ana"),
    "add many": lambda memory: memory.add_notes([NewNote("one"), NewNote("two")]),
    "update": lambda memory: memory.update(ids(memory)[0], content="Cold tea"),
    "update its tags": lambda memory: memory.update(ids(memory)[0], tags=["cold"]),
    "pin": lambda memory: memory.pin(ids(memory)[0]),
    "link": lambda memory: memory.link(ids(memory)[2], ids(memory)[0]),
    "unlink": lambda memory: memory.unlink(ids(memory)[1], ids(memory)[0], "supports"),
    "delete": lambda memory: memory.delete(ids(memory)[0]),
    "purge": lambda memory: memory.purge(ids(memory)[0]),
    "rename a tag": lambda memory: memory.rename_tag("tea", "drinks"),
    "supersede": lambda memory: memory.supersede(ids(memory)[0], ids(memory)[2]),
    "retract": lambda memory: memory.retract(ids(memory)[0]),
    "undo": lambda memory: memory.undo(),
    "accept": lambda memory: memory.accept(memory.reviews()[0].id),
    "reject": lambda memory: memory.reject(memory.reviews()[0].id),
    "maintain": lambda memory: memory.maintain(),
    "another's write": lambda memory: memory.acting_as("agent:x").add("White tea"),
}
_AFTERWARDS: dict[str, tuple[Callable[[AgenticMemorySystem], object], Callable[[AgenticMemorySystem], object]]] = {
    "redo": (lambda memory: memory.undo(), lambda memory: memory.redo()),
    "restore": (lambda memory: memory.delete(ids(memory)[0]), lambda memory: memory.restore(memory.log()[0].notes[0])),
    "roll back": (
        lambda memory: memory.update(ids(memory)[0], context="Changed"),
        lambda memory: memory.rollback(ids(memory)[0], 1),
    ),
    "unsupersede": (
        lambda memory: memory.supersede(ids(memory)[0], ids(memory)[2]),
        lambda memory: memory.unsupersede(memory.log()[0].notes[0]),
    ),
    "keep what was flagged": (
        lambda memory: memory.supersede(ids(memory)[0], ids(memory)[2]),
        lambda memory: memory.keep(memory.flags()[0].note),
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_every_write_moves_the_pulse(
    memory: AgenticMemorySystem, write: Callable[[AgenticMemorySystem], object]
) -> None:
    before = memory.pulse()
    assert memory.pulse() == before
    write(memory)
    memory.wait()
    assert memory.pulse() != before
    assert memory.pulse() >= before


@pytest.mark.parametrize(("first", "then"), _AFTERWARDS.values(), ids=_AFTERWARDS)
def test_taking_back_moves_the_pulse_as_well(
    memory: AgenticMemorySystem,
    first: Callable[[AgenticMemorySystem], object],
    then: Callable[[AgenticMemorySystem], object],
) -> None:
    first(memory)
    before = memory.pulse()
    then(memory)
    assert memory.pulse() != before


def test_the_pulse_moves_when_another_process_writes(memory: AgenticMemorySystem, open_home: Open) -> None:
    before = memory.pulse()
    open_home().add("Written elsewhere")
    assert memory.pulse() != before


def test_each_step_of_a_chat_moves_the_pulse(memory: AgenticMemorySystem, open_home: Open) -> None:
    seen = [memory.pulse()]
    with open_home().assistant(chat=lambda: ScriptedChat("All right.")) as talk:
        for said in ("Is the tea green?", "芝麻是猫吗？") * 11:  # more turns than are looked at for their end
            pieces = talk.stream(said)
            next(pieces)
            seen.append(memory.pulse())
            list(pieces)
            seen.append(memory.pulse())
    assert seen == sorted(set(seen))


def test_looking_leaves_the_pulse_where_it_was(memory: AgenticMemorySystem) -> None:
    before = memory.pulse()
    shelf = memory.shelf(order="strength")
    memory.cards(shelf, 0, 9)
    memory.census(), memory.days(), memory.tags(), memory.similar(ids(memory)[0])
    memory.search("tea", touch=False)
    assert memory.pulse() == before


def test_a_copy_has_a_pulse_of_its_own(memory: AgenticMemorySystem) -> None:
    memory.copy("other")
    before = memory.pulse()
    with AgenticMemorySystem(
        settings=Settings(home=memory.settings.home, collection="other", dense_base="exact", timezone="UTC"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(),
    ) as other:
        held = other.pulse()
        assert held == before
        other.add("In the copy alone")
        assert other.pulse() != held
    assert memory.pulse() == before


# -- lists -----------------------------------------------------------------------------------------------------------


def test_rows_of_a_shelf_are_read_from_any_place_and_beyond_its_ends_there_are_none(
    memory: AgenticMemorySystem,
) -> None:
    shelf = memory.shelf()
    assert len(shelf) == 3
    assert [card.text for card in memory.cards(shelf, 1, 3)] == [TEXTS[1], TEXTS[0]]
    assert [card.text for card in memory.cards(shelf, -5, 1)] == [TEXTS[2]]
    assert memory.cards(shelf, 3, 9) == memory.cards(shelf, 2, 1) == []


def test_a_note_knows_its_place_on_the_shelves_it_stands_on(memory: AgenticMemorySystem) -> None:
    first, *_, last = ids(memory)
    assert memory.place(memory.shelf(), first) == 2
    assert memory.place(memory.shelf(), last) == 0
    assert memory.place(memory.shelf(starting="green"), last) is None
    assert memory.place(memory.shelf(), "nobody") is None


def test_cards_by_id_keep_their_order_and_know_the_deleted(memory: AgenticMemorySystem) -> None:
    first, second, third = ids(memory)
    memory.delete(second)
    found = memory.cards_of([third, "nobody", second, first])
    assert list(found) == [third, second, first]
    assert found[second].status is Status.DELETED


def test_what_others_delete_stays_on_the_shelf_until_it_is_asked_for_anew(
    memory: AgenticMemorySystem, open_home: Open
) -> None:
    shelf, gone = memory.shelf(), ids(memory)[1]
    open_home().delete(gone)
    assert [card.status for card in memory.cards(shelf, 0, 3)] == [Status.ACTIVE, Status.DELETED, Status.ACTIVE]
    assert len(memory.shelf()) == 2
    memory.purge(gone)
    assert [card.text for card in memory.cards(shelf, 0, 3)] == [TEXTS[2], TEXTS[0]]


def test_times_without_a_zone_are_the_collections_own(memory: AgenticMemorySystem) -> None:
    memory.add("In summer", time=datetime(2025, 7, 1, 23, 30, tzinfo=UTC))
    assert len(memory.shelf(Filter(since=datetime(2025, 7, 2), until=datetime(2025, 7, 3)))) == 1
    assert len(memory.shelf(Filter(until=datetime(2025, 7, 2)))) == 0


# -- counts ----------------------------------------------------------------------------------------------------------


def test_census_and_days_are_those_of_now_whoever_wrote(memory: AgenticMemorySystem, open_home: Open) -> None:
    assert memory.census().statuses[Status.ACTIVE] == 3
    days = {date(2026, 3, day): 1 for day in (1, 2, 3)}
    assert memory.days() == days
    other = open_home()
    other.add("Late at night in Lisbon", time=datetime(2025, 7, 1, 23, 30, tzinfo=UTC))
    other.delete(ids(memory)[-1])
    assert memory.census().statuses == {Status.ACTIVE: 3, Status.DELETED: 1}
    assert next(iter(memory.days().items())) == (date(2025, 7, 2), 1)
    assert len(memory.days()) == 3


def test_what_is_counted_may_be_changed_by_whoever_asked(memory: AgenticMemorySystem) -> None:
    memory.days().clear()
    assert len(memory.days()) == 3


def test_days_are_those_of_the_notes_that_pass(memory: AgenticMemorySystem) -> None:
    memory.update(ids(memory)[0], kind="code")
    assert memory.days(Filter(kinds=(Kind.CODE,))) == {date(2026, 3, 1): 1}


# -- one note --------------------------------------------------------------------------------------------------------


def test_what_is_near_in_meaning_comes_with_its_cosine_and_without_the_note_itself(
    memory: AgenticMemorySystem,
) -> None:
    tea, kettle, _ = ids(memory)
    (card, cosine), *_ = memory.similar(tea, 1)
    assert card.id == kettle
    assert 0 < cosine < 1
    with pytest.raises(NoteNotFound):
        memory.similar("nobody")


def test_fields_that_are_a_persons_own_are_told(memory: AgenticMemorySystem) -> None:
    tea = ids(memory)[0]
    memory.update(tea, context="Mine")
    assert memory.owned_fields(tea)["context"] == "edited"
    with pytest.raises(NoteNotFound):
        memory.owned_fields("nobody")


def test_what_is_typed_finds_what_was_written_between_two_letters(memory: AgenticMemorySystem, open_home: Open) -> None:
    for order in ("time", "recorded", "importance", "strength", "recalls"):
        assert len(memory.shelf(starting="gre", order=order)) == 2
    open_home().add("The greenhouse")
    memory.delete(ids(memory)[0])
    for order in ("time", "recorded", "importance", "strength", "recalls"):
        found = memory.cards(memory.shelf(starting="gre", order=order), 0, 9)
        assert {card.text for card in found} == {"The greenhouse", TEXTS[1]}

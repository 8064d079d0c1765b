"""What somebody who browses chooses: the notes of a topic, and several notes to delete at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Filter
from amem.errors import InvalidInput
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def memory() -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(
        llm_backend="offline", embedder=HashEmbedder(), clock=FrozenClock("2026-03-01T09:00")
    ) as made:
        yield made


def test_a_filter_names_the_note_whose_parts_may_answer(memory: AgenticMemorySystem) -> None:
    whole, part, other = (memory.add_note(text) for text in ("The garden", "Roses in the garden", "Roses are red"))
    memory.link(part, whole, "part_of")
    memory.link(other, whole, "related")
    wanted = Filter(part_of=whole)
    assert [note.id for note in memory.list(wanted)] == [part]
    assert memory.count(wanted) == len(memory.shelf(wanted)) == 1
    assert [hit.id for hit in memory.search("roses", filter=wanted)] == [part]
    assert not wanted.is_default


def test_several_notes_are_deleted_in_one_operation_and_come_back_together(memory: AgenticMemorySystem) -> None:
    ids = [memory.add_note(f"Note number {number}") for number in range(4)]
    assert memory.delete_notes([*ids[:3], ids[0], "nobody"]) == 3
    assert [note.id for note in memory.list()] == ids[3:]
    assert memory.delete_notes(ids[:3]) == 0
    memory.undo()
    assert memory.count(Filter()) == 4


def test_notes_are_deleted_by_a_filter_within_the_scope_and_never_all_by_mistake(memory: AgenticMemorySystem) -> None:
    memory.add("The shed leaks.", tags=["shed"], time="2025-02-01", user_id="ana")
    memory.add("工具房漏水。", tags=["shed"], time="2026-02-01", user_id="bo")
    memory.add("The kettle is green.", time="2025-02-01")
    assert memory.delete_notes(filter=Filter(tags=("shed",), until=datetime(2026, 1, 1, tzinfo=UTC))) == 1
    memory.undo()
    assert memory.count(Filter()) == 3
    for wrong in (Filter(), Filter(minimum_cosine=0.5)):
        with pytest.raises(InvalidInput, match="leaves out no note"):
            memory.delete_notes(filter=wrong)
    with pytest.raises(InvalidInput, match="exclude each other"):
        memory.delete_notes(["x"], filter=Filter(tags=("shed",)))
    assert memory.scoped(user_id="bo").delete_notes(filter=Filter()) == 1
    assert sorted(note.content for note in memory.list()) == ["The kettle is green.", "The shed leaks."]

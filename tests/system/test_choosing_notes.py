"""What somebody who browses chooses: the notes of a topic, and several notes to delete at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Filter
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

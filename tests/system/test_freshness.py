"""What was committed is found at once, by whoever asks, also in a collection that has grown large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.query import Query
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

MANY = 3_500


@pytest.mark.thorough
def test_a_word_that_was_asked_for_in_vain_is_found_as_soon_as_a_note_holds_it(open_memory: Open, home: Path):
    """Document frequencies are remembered between questions; that a word is unknown must not be."""
    settings = load_settings(home, neighbours=0, conflict_neighbours=0)
    memory = open_memory(settings=settings, embedder=HashEmbedder(16))
    memory.add_notes([f"w{number} filler" for number in range(MANY)])
    other = open_memory(settings=settings, embedder=HashEmbedder(16))
    question = Query("zebra", legs=("lexical",), touch=False)
    for each in (memory, other):
        assert each.ask(question) == []
    id = memory.add_note("a zebra crossed the road", entities=["Zebra"])
    for each in (memory, other):
        assert [hit.id for hit in each.ask(question)] == [id]
    memory.delete(id)
    for each in (memory, other):
        assert each.ask(question) == []


def test_each_change_is_seen_by_another_process_at_its_next_question(open_memory: Open):
    writer, reader = open_memory(), open_memory()
    question = "heron pond"

    def found() -> set[str]:
        dense, lexical = (
            {hit.id for hit in reader.ask(Query(question, legs=(leg,), touch=False))} for leg in ("dense", "lexical")
        )
        assert lexical <= dense
        return lexical

    assert found() == set()
    one = writer.add_note("the heron stands in the pond")
    assert found() == {one}
    two = writer.add_note("a second heron by the pond")
    assert found() == {one, two}
    writer.update(one, content="an empty field", keywords=[], context="")
    assert found() == {two}
    writer.delete(two)
    assert found() == set()
    writer.undo()
    assert found() == {two}
    writer.purge(two)
    assert found() == set()
    assert reader.memories[one].content == "an empty field"
    assert reader.links(one) == []

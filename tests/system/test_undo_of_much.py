"""Undo of a long conversation costs a few statements for each note and link that it takes back, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.analysts.rules import OfflineAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

ANIMALS = ("cat", "dog", "fish", "horse", "goat", "mouse", "rabbit", "parrot", "turtle", "hamster")
COLOURS = ("grey", "brown", "red", "white", "black", "golden")


class Statements:
    """Counts what the database of a memory is asked."""

    def __init__(self, memory: AgenticMemorySystem) -> None:
        self.count = 0
        with memory.parts.store.read() as session:  # the one connection of a collection in memory
            session.connection.set_trace_callback(self._one_more)

    def _one_more(self, sql: str) -> None:
        self.count += not sql.startswith("--")  # what a trigger runs is told as a comment

    def during(self, work: Callable[[], object]) -> int:
        before = self.count
        work()
        return self.count - before


@pytest.mark.thorough
def test_undo_and_redo_of_a_long_conversation_ask_a_few_statements_for_each_note_and_link(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())
    said = [
        {"role": "user", "content": f"My {colour} {animal} number {year} was born in Lisbon.", "id": str(year)}
        for year, (colour, animal) in enumerate((colour, animal) for colour in COLOURS for animal in ANIMALS)
    ]
    report = memory.remember(said, conversation="farm")
    before = {note.id: (note.content, note.links) for note in memory.list(limit=1000)}
    assert len(before) == report.stored + len(report.episodes) == len(said) + len(report.episodes)
    counted = Statements(memory)
    changed = []
    most = 0
    for work in (memory.undo, memory.redo):
        asked = counted.during(lambda work=work: changed.append(work()))
        links = sum(item.startswith("link") for _, item in changed[-1].reverted)
        assert links > len(said)
        most = max(most, asked - 4 * links)
    assert most < 26 * len(before)  # each row that is inserted counts
    assert changed[0].kept == ()
    assert {note.id: (note.content, note.links) for note in memory.list(limit=1000)} == before
    assert [found for found in memory.doctor() if found.level == "error"] == []

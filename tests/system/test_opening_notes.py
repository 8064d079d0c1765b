"""What is told of a note before any of it is read, and which notes the names in a text mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.errors import NoteNotFound
from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    settings = Settings(home=tmp_path, dense_base="exact", timezone="UTC", llm_backend="offline")
    with AgenticMemorySystem(settings=settings, clock=FrozenClock(), embedder=HashEmbedder()) as made:
        yield made


def test_links_sources_and_the_author_are_counted_without_being_read(memory: AgenticMemorySystem) -> None:
    tea, cup, gone = (memory.acting_as("agent:a").add(text).id for text in ("Green tea", "A cup", "Old kettle"))
    memory.link(tea, cup)
    memory.link(gone, tea)
    memory.link(tea, gone)
    around = memory.surroundings(tea)
    assert (around.links, around.backlinks, around.sources, around.author) == (2, 1, 0, "agent:a")
    memory.delete(gone)
    around = memory.surroundings(tea)
    assert (around.links, around.backlinks) == (1, 0)
    assert (len(memory.links(tea)), len(memory.backlinks(tea))) == (1, 0)
    said = memory.remember([{"role": "user", "content": "My cat is called Sesame."}])
    for receipt in said.learnt:
        assert memory.surroundings(receipt.id).sources == len(memory.sources([receipt.id])[receipt.id])
    with pytest.raises(NoteNotFound):
        memory.surroundings("nobody")


def test_a_name_means_the_note_of_that_title_file_alias_or_id(memory: AgenticMemorySystem) -> None:
    tea = memory.add("# Green tea\n\nAt 80 degrees").id
    memory.add("Something about green tea")
    cat = memory.add("芝麻\n是只橘猫").id
    kettle = memory.add("How it whistles: the kettle", metadata={"title": "Kettle", "path": "kitchen/Kettle.md"}).id
    pot = memory.add("The pot", metadata={"aliases": ["Samovar pot"]}).id
    names = ["green  TEA", "Green tea.md", "芝麻", "Kettle", "./kitchen/kettle", "green", "nobody", "", tea, cat[:8]]
    found = memory.named([*names, "samovar pot"])
    assert found == {
        "green  TEA": tea,
        "Green tea.md": tea,
        "芝麻": cat,
        "Kettle": kettle,
        "./kitchen/kettle": kettle,
        tea: tea,
        cat[:8]: cat,
    }
    assert pot not in found.values()  # its text says nothing of a samovar


def test_what_an_import_linked_is_found_by_the_name_it_was_linked_by(memory: AgenticMemorySystem) -> None:
    start, end = memory.add("See [[Somewhere]]").id, memory.add("Elsewhere").id
    assert memory.named(["Somewhere"], start) == {}
    memory.link(start, end, reason="[[Somewhere]]")
    assert memory.named(["Somewhere"], start) == {"Somewhere": end}
    assert memory.named(["Somewhere"]) == {}


def test_deleted_notes_are_meant_by_no_name(memory: AgenticMemorySystem) -> None:
    gone = memory.add("Green tea").id
    memory.delete(gone)
    assert memory.named(["Green tea", gone]) == {}

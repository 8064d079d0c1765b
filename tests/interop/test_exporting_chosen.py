"""Chosen notes as a file: Markdown to read, or JSON Lines that import reads back."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.errors import InvalidInput
from amem.interop.exporting import export_chosen
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory() -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(
        llm_backend="offline", embedder=HashEmbedder(), clock=FrozenClock("2026-03-01T09:00")
    ) as made:
        yield made


def test_several_notes_become_one_markdown_file_in_the_order_asked_for(
    memory: AgenticMemorySystem, tmp_path: Path
) -> None:
    tea = memory.add_note("Green tea at 80 degrees", tags=["tea"])
    cat = memory.add_note("芝麻是只六岁的橘白猫")
    memory.link(tea, cat, "related", "both live\nin the kitchen")
    path = tmp_path / "out.md"

    assert export_chosen(memory, [cat, tea], path, UTC) == 2

    text = path.read_text(encoding="utf-8")
    assert text.index("芝麻") < text.index("Green tea at 80 degrees")
    assert f"- related [[{cat}]]: both live in the kitchen" in text
    assert "#tea" in text
    assert tea in text


def test_a_note_alone_is_a_page_that_import_reads_back(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    tea = memory.add_note("# Tea\n\nGreen tea at 80: never boiling", tags=["tea", "a: b"], time="2025-12-24T18:30")
    path = tmp_path / "tea.md"
    export_chosen(memory, [tea], path, UTC)
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder()) as other:
        Importer(other, cause="import").run(read_path(path, other.settings))
        (note,) = other.list()
    assert note.content == "# Tea\n\nGreen tea at 80: never boiling"
    assert {"tea", "a: b"} <= set(note.tags)
    assert note.at is not None
    assert note.at.year == 2025


def test_json_lines_hold_what_import_needs(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    tea = memory.add_note("Green tea")
    memory.add_note("not this one")
    path = tmp_path / "out.jsonl"
    assert export_chosen(memory, [tea, "nobody"], path, UTC) == 1
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["id"] == tea
    assert json.loads(line)["links_out"] == []


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    tea = memory.add_note("Green tea")
    path = tmp_path / "out.md"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="there already"):
        export_chosen(memory, [tea], path, UTC)
    assert path.read_text() == "mine"
    assert export_chosen(memory, [tea], path, UTC, replace=True) == 1
    assert "Green tea" in path.read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["out.md"]


def test_an_ending_that_says_nothing_is_refused(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not say in what form"):
        export_chosen(memory, [], tmp_path / "out.doc", UTC)

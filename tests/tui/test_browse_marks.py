"""What is done with the open note and with marked ones: copy, pin, delete, write to a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_list import NoteList
from amem_tui.dialogs import Prompt, Question
from conftest import CAT, KETTLE, TEA
from driving import browsing, hint, listed, opened, said, screen_text, titles, toasts, wait_until
from textual.widgets import Input

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem


async def asked(pilot: Pilot[None], screen: type) -> None:
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, screen))


async def test_delete_asks_once_and_undo_and_redo_say_what_they_did(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("d")
        await asked(pilot, Question)
        assert KETTLE in said(pilot, "#details")
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, Question))
        assert memory.count() == 3
        await pilot.press("d")
        await asked(pilot, Question)
        await pilot.press("d")
        await wait_until(pilot, lambda: titles(pilot) == [CAT, TEA] and opened(pilot) == CAT)
        assert f"Deleted “{KETTLE}”; u brings it back" in toasts(pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: titles(pilot) == [CAT, TEA])


async def test_marked_notes_are_deleted_together_and_come_back_together(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("space", "space")
        await wait_until(pilot, lambda: "2 marked" in screen_text(pilot))
        assert listed(pilot).cursor == 2
        assert screen_text(pilot).count("✓") >= 2
        await pilot.press("d")
        await asked(pilot, Question)
        assert "Delete 2 notes?" in screen_text(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: titles(pilot) == [TEA])
        assert "Deleted 2 notes; u brings them back" in toasts(pilot)
        assert "marked" not in screen_text(pilot)
        assert opened(pilot) == TEA
        await pilot.press("u")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)


@pytest.mark.thorough
async def test_all_that_are_listed_are_marked_and_unmarked(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("f", *"tea", "enter")
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, TEA])
        await pilot.press("A")
        await wait_until(pilot, lambda: "2 marked" in screen_text(pilot))
        await pilot.press("A")
        await wait_until(pilot, lambda: "marked" not in screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(titles(pilot)) == 3)
        await pilot.press("slash", *"kettle", "enter")
        await wait_until(pilot, lambda: "Search “kettle”" in screen_text(pilot) and listed(pilot).count < 4)
        await pilot.press("A")
        await wait_until(pilot, lambda: f"{listed(pilot).count} marked" in screen_text(pilot))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: "marked" not in screen_text(pilot))


async def test_a_click_in_the_margin_marks(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.click(NoteList, offset=(1, 2))
        await wait_until(pilot, lambda: "1 marked" in screen_text(pilot))
        assert listed(pilot).marked == {memory.list()[1].id}


async def test_text_and_id_are_copied(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("y")
        await wait_until(pilot, lambda: pilot.app.clipboard == KETTLE)
        await wait_until(pilot, lambda: "Copied the text" in toasts(pilot))
        await pilot.press("Y")
        await wait_until(pilot, lambda: pilot.app.clipboard == memory.list()[0].id)


async def test_pin_marks_the_note_and_pin_again_unmarks_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("p")
        await wait_until(pilot, lambda: bool((row := listed(pilot).line) and row.card.pinned))
        assert "Pinned" in toasts(pilot)
        await wait_until(pilot, lambda: "▪" in screen_text(pilot))
        await pilot.press("p")
        await wait_until(pilot, lambda: bool((row := listed(pilot).line) and not row.card.pinned))


async def test_one_note_that_is_deleted_leaves_the_hint(empty: AgenticMemorySystem) -> None:
    empty.add(TEA)
    async with browsing(empty) as pilot:
        await pilot.press("d")
        await asked(pilot, Question)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "No notes yet" in hint(pilot))


@pytest.mark.thorough
async def test_notes_are_written_to_a_file_which_is_replaced_only_when_asked_twice(
    memory: AgenticMemorySystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with browsing(memory) as pilot:
        await pilot.press("x")
        await asked(pilot, Prompt)
        assert pilot.app.screen.query_one(Input).value == "The-new-kettle-holds-green-tea-at-80-deg.md"
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, Prompt))
        await pilot.press("space", "space", "x")
        await asked(pilot, Prompt)
        assert "Write 2 notes to a file" in screen_text(pilot)
        path = pilot.app.screen.query_one(Input)
        for name, words in (("out.doc", ".md to read"), ("nowhere/out.md", "cannot be written")):
            path.value = name
            await pilot.press("enter")
            await wait_until(pilot, lambda words=words: words in said(pilot, ".answers"))
        path.value = "out.jsonl"
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, Prompt))
        assert f"Wrote 2 notes to {tmp_path / 'out.jsonl'}" in toasts(pilot)
        lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["content"] for line in lines] == [KETTLE, CAT]

        await pilot.press("x")
        await asked(pilot, Prompt)
        pilot.app.screen.query_one(Input).value = "out.jsonl"
        (tmp_path / "out.jsonl").write_text("mine")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "enter once more replaces it" in said(pilot, ".answers"))
        assert (tmp_path / "out.jsonl").read_text() == "mine"
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, Prompt))
        assert "芝麻" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")

"""What is always there: the bar, the footer, help; and how the browser begins and ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import amem_tui
import pytest
from amem_tui.dialogs import HelpScreen
from amem_tui.keymap import every_key
from amem_tui.rooms import ROOMS, RoomBar
from driving import PATIENCE, browsing, offset_of, screen_text, settled, wait_until
from textual.widgets import Markdown
from textual.widgets._footer import FooterKey
from textual.widgets._key_panel import BindingsTable

from amem.errors import CollectionNotFound, InvalidInput
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

HEAVY = ("chromadb", "torch", "litellm", "sentence_transformers", "onnxruntime", "nltk", "mcp")


async def help_of(pilot: Pilot[None], key: str = "question_mark") -> str:
    """All that help says, seen or not."""
    await pilot.press(key)
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
    await settled(pilot)
    table = pilot.app.screen.query_one(BindingsTable)
    lines = pilot.app.console.render_lines(table.render(), pilot.app.console.options.update(width=100))
    keys = "\n".join("".join(segment.text for segment in line) for line in lines)
    return f"{keys}\n{pilot.app.screen.query_one(Markdown).source}"


def footer(pilot: Pilot[None]) -> list[str]:
    return [f"{key.key_display} {key.description}" for key in pilot.app.screen.query(FooterKey)]


async def click_on(pilot: Pilot[None], room: str) -> None:
    bar = pilot.app.screen.query_one(RoomBar)
    await pilot.click(bar, offset=(offset_of(bar, room) + 1, 0))


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_help_names_the_keys_of_the_room_then_those_of_every_room_and_the_signs(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    async with browsing(memory, size) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 2)
        told = await help_of(pilot)
        for what in ("Log", "Undo this one", "Graph", "Everywhere", "New note", "Go to a note", "Quit"):
            assert what in told
        assert "● a person wrote it" in " ".join(told.split())
        assert "λ code" in told
        await settled(pilot)
        top = screen_text(pilot)
        await pilot.press("down", "j", "pagedown", "space")
        if size[1] < 20:
            assert screen_text(pilot) != top
            await pilot.press("up", "k", *["pageup"] * 9)
            await wait_until(pilot, lambda: screen_text(pilot) == top)
        await pilot.press("q")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))


async def test_help_of_every_room_holds_all_of_its_keys(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        for room in ROOMS:
            pilot.app.visit(room)
            await wait_until(pilot, lambda room=room: getattr(pilot.app.screen, "ROOM", "") == room)
            told = await help_of(pilot, "f1")
            for id, binding in every_key().items():
                if id.split(".")[0] in (room, "app") and not binding.system:
                    assert binding.description in told, id
            await pilot.press("escape")
            await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))


async def test_what_cannot_be_done_now_is_said_in_help_and_left_out_below(empty: AgenticMemorySystem) -> None:
    async with browsing(empty) as pilot:
        assert not any("Delete" in hint for hint in footer(pilot))
        told = await help_of(pilot)
        assert "Delete (not now)" in told
        assert "Search (not now)" not in told


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 12)])
async def test_the_footer_fits_and_help_is_always_there(memory: AgenticMemorySystem, size: tuple[int, int]) -> None:
    async with browsing(memory, size) as pilot:
        await wait_until(pilot, lambda: any("Help" in hint for hint in footer(pilot)))
        await wait_until(pilot, lambda: screen_text(pilot).rstrip().endswith("? Help"))
        last = screen_text(pilot).splitlines()[-1]
        assert "/ Search" in last
        assert all(hint in last for hint in footer(pilot))


async def test_a_click_on_a_key_in_the_footer_presses_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await wait_until(pilot, lambda: any("Help" in hint for hint in footer(pilot)))
        (key,) = (key for key in pilot.app.screen.query(FooterKey) if key.description == "Help")
        await pilot.click(key)
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))


async def test_every_room_is_named_with_its_key_and_reached_by_key_and_by_click(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (120, 36)) as pilot:
        bar = screen_text(pilot).splitlines()[0]
        for room, key in zip(ROOMS, "bghtcrlH", strict=True):
            assert f"{key} {room.title()}" in bar
        for room in [*ROOMS][::-1]:
            await click_on(pilot, room)
            await wait_until(pilot, lambda room=room: getattr(pilot.app.screen, "ROOM", "") == room)
        for room in ("graph", "history", "timeline", "log", "health"):
            pilot.app.visit("browse")
            await wait_until(pilot, lambda: getattr(pilot.app.screen, "ROOM", "") == "browse")
            await pilot.press(every_key()[f"app.{room}"].key)
            await wait_until(pilot, lambda room=room: getattr(pilot.app.screen, "ROOM", "") == room)


async def test_at_80_columns_every_room_is_in_sight_with_its_key_and_writing_a_note_is_offered(
    memory: AgenticMemorySystem,
) -> None:
    async with browsing(memory, (80, 24)) as pilot:
        bar, *_, last = screen_text(pilot).splitlines()
        assert "browse graph history timeline chat review log Health" in bar
        assert bar.rstrip().endswith("3 notes")
        assert "n New note" in last
        await click_on(pilot, "review")
        await wait_until(pilot, lambda: getattr(pilot.app.screen, "ROOM", "") == "review")


async def test_a_small_terminal_names_the_room_it_is_in(memory: AgenticMemorySystem) -> None:
    async with browsing(memory, (40, 12)) as pilot:
        bar = screen_text(pilot).splitlines()[0]
        assert "Browse" in bar
        assert "Graph" not in bar


@pytest.mark.thorough
async def test_ctrl_r_redoes_from_any_room(memory: AgenticMemorySystem) -> None:
    memory.undo()
    async with browsing(memory) as pilot:
        await pilot.press("l")
        await wait_until(pilot, lambda: getattr(pilot.app.screen, "ROOM", "") == "log")
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: memory.count() == 3)


async def test_q_quits(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        # The pilot's own press would wait for an answer of an app that may be gone by then.
        pilot.app.simulate_key("q")
        async with asyncio.timeout(PATIENCE):
            while pilot.app.is_running:
                await asyncio.sleep(0.01)
    assert pilot.app.return_code == 0


async def test_what_another_process_writes_is_there_within_a_moment(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        memory.acting_as("agent:writer").add("Written elsewhere", time="2026-03-09")
        await wait_until(pilot, lambda: "Written elsewhere" in screen_text(pilot))


# -- beginning ---------------------------------------------------------------------------------------------------------


def test_the_browser_imports_no_index_and_no_model() -> None:
    loaded = f"[name for name in {HEAVY!r} if name in sys.modules]"
    lines = f"import sys, amem_tui.browser_app, amem.memory_system; print({loaded})"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("setting", [{"tui_theme": "none"}, {"tui_keys": {"browse.delete": "nokey"}}])
def test_settings_that_cannot_be_used_are_refused_before_anything_is_drawn(
    tmp_path: Path, setting: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        amem_tui.run(Settings(home=tmp_path).replaced(**setting))
    assert raised.value.hint
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_collection_that_is_not_there_is_refused_where_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amem_tui.browser_app import NotesApp

    run = NotesApp.run
    monkeypatch.setattr(NotesApp, "run", lambda self: run(self, headless=True))
    with pytest.raises(CollectionNotFound):
        amem_tui.run(Settings(home=tmp_path, collection="nowhere"), create=False)
    assert list(tmp_path.iterdir()) == []

"""A store that fails while somebody browses it: what is said, what is kept, and how it comes back."""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from amem_tui.browse.note_list import NoteList
from amem_tui.browser_app import NotesApp
from amem_tui.collections_screen import CollectionsScreen
from amem_tui.failures import FILE_NAME, UnreadableScreen, logging_to_home
from amem_tui.note_form import NoteForm
from amem_tui.page import Page
from conftest import KETTLE
from driving import browsing, burst, listed, opened, screen_text, settled, titles, toasts, wait_until
from textual.widgets import TextArea

from amem.errors import InvalidInput, StorageBusy, StorageFull

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody move a file that is open"),
]


def folder_of(memory: AgenticMemorySystem) -> Path:
    folder = memory.folder
    assert folder is not None
    return folder


def failing(pilot: Pilot[None]) -> bool:
    return isinstance(pilot.app.screen, UnreadableScreen)


@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_a_collection_that_is_moved_away_is_said_on_a_screen_that_goes_when_it_is_back(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    folder = folder_of(memory)
    async with browsing(memory, size) as pilot:
        folder.rename(folder.with_name("elsewhere"))
        await wait_until(pilot, lambda: failing(pilot) and "The collection is gone" in screen_text(pilot))
        await wait_until(pilot, lambda: "memories" in screen_text(pilot))
        if size[0] > 100:
            assert "moved, removed or replaced" in " ".join(pilot.app.screen.query_one(Page).text.split())
            await wait_until(pilot, lambda: "doctor" in screen_text(pilot))
        assert not folder.exists()
        folder.with_name("elsewhere").rename(folder)
        await wait_until(pilot, lambda: not failing(pilot))
        await wait_until(pilot, lambda: "can be read again" in toasts(pilot))
        await pilot.press("end")
        memory.add("Written after", time="2026-03-09")
        await wait_until(pilot, lambda: "Written after" in titles(pilot))


async def test_what_is_being_typed_survives_and_is_saved_when_the_store_is_back(memory: AgenticMemorySystem) -> None:
    folder = folder_of(memory)
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Kept")
        folder.rename(folder.with_name("elsewhere"))
        await wait_until(pilot, lambda: failing(pilot))
        folder.with_name("elsewhere").rename(folder)
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm))
        assert pilot.app.screen.query_one(TextArea).text == "Kept"
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Kept")


async def test_a_file_put_back_from_a_copy_is_opened_anew_by_r(memory: AgenticMemorySystem) -> None:
    folder = folder_of(memory)
    memory.copy("saved")
    async with browsing(memory) as pilot:
        shutil.rmtree(folder)
        await wait_until(pilot, lambda: failing(pilot))
        await pilot.press("r")
        await wait_until(pilot, lambda: "there is no collection" in toasts(pilot))
        assert failing(pilot)
        assert not folder.exists()
        shutil.copytree(folder.with_name("saved"), folder)
        burst(pilot, "r", "r", "r")
        await wait_until(pilot, lambda: bool(pilot.app.screen.query(NoteList)))
        await wait_until(pilot, lambda: listed(pilot).count == 3 and opened(pilot) == KETTLE)
        assert "unforeseen" not in toasts(pilot)


async def test_from_a_collection_that_fails_one_can_go_to_another_or_quit(memory: AgenticMemorySystem) -> None:
    folder = folder_of(memory)
    memory.copy("other")
    async with browsing(memory) as pilot:
        folder.rename(folder.with_name("elsewhere"))
        await wait_until(pilot, lambda: failing(pilot))
        await pilot.press("ctrl+k", "ctrl+p", "n", "escape")
        assert failing(pilot)
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, CollectionsScreen))
        await wait_until(pilot, lambda: "other" in screen_text(pilot) and "3 notes" in screen_text(pilot))
        await pilot.press("home", "down", "enter")
        await wait_until(pilot, lambda: "This is other now" in toasts(pilot) and bool(pilot.app.screen.query(NoteList)))
        await wait_until(pilot, lambda: listed(pilot).count == 3)
        assert not failing(pilot)


async def test_q_quits_from_a_collection_that_fails(memory: AgenticMemorySystem) -> None:
    folder = folder_of(memory)
    async with browsing(memory) as pilot:
        folder.rename(folder.with_name("elsewhere"))
        await wait_until(pilot, lambda: failing(pilot))
        pilot.app.simulate_key("q")
        await wait_until(pilot, lambda: not pilot.app.is_running)


async def test_a_damaged_page_is_said_and_one_may_go_on_without(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        with memory.parts.store.write() as session:  # as SQLite finds a table whose pages are overwritten
            session.change("DROP TABLE versions")
        await pilot.press("down", "up", "down")
        await pilot.press("h")
        await wait_until(pilot, lambda: failing(pilot))
        assert "amem" in screen_text(pilot)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not failing(pilot))


async def test_a_full_disk_costs_no_word(memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with memory.parts.store.read() as session:
        pages = session.value("PRAGMA page_count")

    database, room = memory.parts.store.database, [pages]
    write = database.write

    @contextmanager
    def write_within_bounds(**options: Any) -> Iterator[sqlite3.Connection]:
        with write(**options) as connection:
            connection.execute(f"PRAGMA max_page_count = {room[0]}").fetchall()
            yield connection

    monkeypatch.setattr(database, "write", write_within_bounds)
    async with browsing(memory) as pilot:
        await pilot.press("n")
        pilot.app.screen.query_one(TextArea).text = "much to say " * 1500
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: failing(pilot) and "The disk is full" in screen_text(pilot))
        assert "free some space" in screen_text(pilot)
        room[0] = 1_000_000
        await pilot.press("r")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm))
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: (opened(pilot) or "").startswith("much to say"))
    assert memory.count() == 4


async def test_a_store_that_is_busy_is_a_toast(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        pilot.app.client.refuse(StorageBusy("busy: another process is writing", hint="try again in a moment"))
        await wait_until(pilot, lambda: "try again in a moment" in toasts(pilot))
        assert not failing(pilot)


async def test_a_second_failure_is_said_in_place_of_the_first(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        pilot.app.unreadable(StorageFull("first", hint="free some"), for_now=False)
        await wait_until(pilot, lambda: failing(pilot) and "first" in screen_text(pilot))
        pilot.app.unreadable(StorageFull("second", hint="free some"), for_now=False)
        await wait_until(pilot, lambda: "second" in screen_text(pilot))
        await pilot.press("r")
        await wait_until(pilot, lambda: not failing(pilot))


# -- what nobody foresaw ------------------------------------------------------------------------------------------


async def test_an_unexpected_exception_is_said_and_written_down_and_the_browser_goes_on(
    memory: AgenticMemorySystem,
) -> None:
    home = memory.settings.home

    async def break_down() -> None:
        raise RuntimeError("nobody\x1b[2J foresaw")

    with logging_to_home(home):
        app = NotesApp(memory)
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await wait_until(pilot, lambda: bool(app.screen.query(NoteList)) and listed(pilot).count == 3)
            app.run_worker(break_down())
            await wait_until(pilot, lambda: "RuntimeError: nobody" in toasts(pilot))
            assert FILE_NAME in toasts(pilot)
            assert "Traceback" not in screen_text(pilot)
            assert "\x1b" not in toasts(pilot)
            app._exception = None  # which is kept for those who drive the app in a test
            app._exception_event.clear()
            await pilot.press("l")
            await wait_until(pilot, lambda: len(app.screen_stack) > 2)
            await settled(pilot)
    log = home / FILE_NAME
    assert "RuntimeError" in log.read_text(encoding="utf-8")
    assert "break_down" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


async def test_a_refusal_that_nobody_took_is_said_as_one(memory: AgenticMemorySystem) -> None:
    async def refused() -> None:
        raise InvalidInput("that will not do", hint="do this instead")

    async with browsing(memory) as pilot:
        pilot.app.run_worker(refused())
        await wait_until(pilot, lambda: "that will not do\ndo this instead" in toasts(pilot))


async def test_what_stops_the_browser_ends_it_with_a_sentence_instead_of_a_traceback(
    memory: AgenticMemorySystem, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down() -> None:
        raise RuntimeError("nobody [bold]foresaw[/]")

    app = NotesApp(memory)
    with logging_to_home(memory.settings.home), pytest.raises(RuntimeError, match="nobody"):  # noqa: PT012
        async with app.run_test(size=(80, 24)) as pilot:
            await wait_until(pilot, lambda: bool(app.screen.query(NoteList)) and listed(pilot).count == 3)
            app.call_later(break_down)
            await wait_until(pilot, lambda: not app.is_running)
    assert app.return_code == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "RuntimeError: nobody [bold]foresaw[/]" in told
    assert "Traceback" not in told
    assert "break_down" in (memory.settings.home / FILE_NAME).read_text(encoding="utf-8")


async def test_the_loop_that_follows_the_collection_survives_what_nobody_foresaw(
    memory: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_home("agent")
    async with browsing(memory) as pilot:
        pulse = memory.pulse

        def strange() -> tuple[int, int]:
            raise OSError("strange")

        monkeypatch.setattr(memory, "pulse", strange)
        await wait_until(pilot, lambda: toasts(pilot).count("OSError: strange") == 1)
        monkeypatch.setattr(memory, "pulse", pulse)
        other.add("Written elsewhere", time="2026-03-09")
        await wait_until(pilot, lambda: "Written elsewhere" in titles(pilot))
        assert toasts(pilot).count("OSError: strange") == 1


def test_nothing_is_written_down_while_nothing_happens(tmp_path: Path) -> None:
    with logging_to_home(tmp_path):
        logging.getLogger("amem").info("all is well")
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_is_full_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"x" * 1_000_001)
    with logging_to_home(tmp_path):
        logging.getLogger("amem").warning("something")
    assert (tmp_path / FILE_NAME).stat().st_size < 1000
    assert (tmp_path / "tui.log.1").stat().st_size == 1_000_001


def test_the_log_holds_no_key_and_drives_no_terminal_that_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "ollama-key-of-mine")
    with logging_to_home(tmp_path, "sk-of-the-settings"):
        try:
            raise RuntimeError("keys ollama-key-of-mine and sk-of-the-settings \x1b]52;c;eA==\x07")
        except RuntimeError:
            logging.getLogger("amem").exception("a server said \x9b2K")
    told = (tmp_path / FILE_NAME).read_text(encoding="utf-8")
    assert "keys *** and *** ␛]52" in told
    assert told.replace("\n", "").isprintable()

"""The health room, key by key, on real collections and with a model server that fails."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model
from amem_tui.browser_app import NotesApp
from amem_tui.dialogs import Lines, Picker, Question
from amem_tui.health.health_room import HealthScreen
from amem_tui.page import Page
from driving import opened, said, screen_text, settled, toasts, wait_until
from visiting import enter, in_room, visiting

from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FakeOllama, Fault, FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

CHAT = "哈哈，今天天气真好 ☀"


@pytest.fixture
def aged(memory: AgenticMemorySystem) -> AgenticMemorySystem:
    """Small talk of 90 days ago that maintenance lets fade, beside three notes that stay."""
    memory.add(CHAT, kind="chitchat", importance=0.3)
    clock = memory.parts.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(timedelta(days=90))
    return memory


def words(pilot: Pilot[None], selector: str = "#state") -> str:
    """What a pane says, wherever its lines end."""
    shown = pilot.app.screen.query_one(selector)
    return " ".join((shown.text if isinstance(shown, Page) else str(shown.render())).split())


def report(pilot: Pilot[None]) -> list[str]:
    heads = [str(each.prompt).partition("\n")[0] for each in pilot.app.screen.query_one(Lines).options]
    return [f"{head[:13].strip()}: {head[13:]}" for head in heads]


def health(pilot: Pilot[None]) -> HealthScreen:
    screen = pilot.app.get_screen("health")
    assert isinstance(screen, HealthScreen)
    return screen


@contextmanager
def held_up(memory: AgenticMemorySystem) -> Iterator[None]:
    """While the block lasts, another writer holds the collection, and maintenance waits for it."""
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with memory.parts.store.write():
            holding.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(30)
    try:
        yield
    finally:
        done.set()
        thread.join()


def at_work(pilot: Pilot[None]) -> bool:
    return health(pilot).job is not None


async def test_one_look_tells_notes_models_and_maintenance(memory: AgenticMemorySystem) -> None:
    async with visiting(memory, "H", "health") as pilot:
        shown = words(pilot)
        assert "3 notes" in shown
        assert "2 preference, 1 fact" in shown
        assert "3 short-term" in shown
        assert "1 proposed changes to decide" in shown
        assert "notes are analysed by built-in rules" in shown
        assert "due nightly maintenance m" in shown
        assert "Nothing was maintained here yet." in said(pilot, "#run-words")
        assert "Undo the run" not in screen_text(pilot)
        assert "Analyse what waits" not in screen_text(pilot)


@pytest.mark.thorough
async def test_an_empty_collection_is_well_and_a_full_check_says_what_it_found_and_repair_asks_first(
    empty: AgenticMemorySystem,
) -> None:
    async with visiting(empty, "H", "health") as pilot:
        assert "0 notes" in words(pilot)
        await pilot.press("enter", "u", "e", "x", "m", "enter")
        await wait_until(pilot, lambda: "nothing to do" in toasts(pilot) and not at_work(pilot))
        assert report(pilot) == []
        await pilot.press("f")
        await wait_until(pilot, lambda: "Full check" in words(pilot) and not at_work(pilot))
        assert "no damage found" in words(pilot)
        assert "every link resolves" in words(pilot)
        for no in ("escape", "n"):
            await pilot.press("F")
            await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
            assert "No note is changed." in said(pilot, "#details")
            await pilot.press(no)
            await wait_until(pilot, lambda: in_room(pilot, "health"))
            assert not at_work(pilot)
        await pilot.press("F")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
        await pilot.press("y")
        await wait_until(pilot, lambda: in_room(pilot, "health") and not at_work(pilot))
        await settled(pilot)


async def test_maintenance_is_rehearsed_run_reported_opened_and_undone(aged: AgenticMemorySystem) -> None:
    async with visiting(aged, "H", "health") as pilot:
        before = aged.pulse()
        await pilot.press("d")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        await pilot.press("w")
        await wait_until(pilot, lambda: report(pilot) == [f"would fade: {CHAT}"])
        assert "weekly maintenance, if it ran now nothing was changed" in words(pilot, "#run-words")
        assert "1 would fade into the archive" in words(pilot, "#run-words")
        assert "Dry run, weekly maintenance: 1 would fade into the archive." in toasts(pilot)
        assert aged.pulse() == before
        assert aged.health().last is None
        assert health(pilot).check_action("undo_run", ()) is False
        await pilot.press("m")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        await pilot.press("j", "j", "k", "escape")
        await wait_until(pilot, lambda: in_room(pilot, "health"))
        assert aged.health().last is None
        await pilot.press("m")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        await pilot.press("m")
        await wait_until(pilot, lambda: "monthly maintenance: 1 faded into the archive" in toasts(pilot))
        await wait_until(pilot, lambda: "✓ fade" in words(pilot, "#run-words"))
        assert report(pilot) == [f"faded: {CHAT}"]
        assert "✓ fade 1 faded into the archive" in words(pilot, "#run-words")
        assert "if amem work or amem chat runs then, or amem maintain --install was done" in words(pilot)
        assert "never recalled" in words(pilot, "#why")
        assert pilot.app.focused is pilot.app.screen.query_one(Lines)
        await pilot.press("u")
        await wait_until(pilot, lambda: "undone" in words(pilot, "#run-words"))
        assert aged.count() == 4
        await wait_until(pilot, lambda: health(pilot).check_action("undo_run", ()) is False)
        await pilot.press("enter")
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == CHAT)


@pytest.mark.thorough
async def test_the_last_report_outlives_the_browser_that_ran_it(
    aged: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    aged.maintain(cycle="weekly")
    aged.close()
    again = open_home()
    async with visiting(again, "H", "health") as pilot:
        await wait_until(pilot, lambda: report(pilot) == [f"faded: {CHAT}"])
        assert "weekly maintenance 2026-06-02 09:00" in words(pilot, "#run-words")
        await pilot.click("#run-lines", offset=(4, 0))
        await wait_until(pilot, lambda: in_room(pilot, "browse") and opened(pilot) == CHAT)
        await enter(pilot, "H", "health")
        await pilot.press("u")
        await wait_until(pilot, lambda: again.count() == 4)


@pytest.mark.thorough
async def test_a_run_goes_on_while_one_is_elsewhere_and_tells_its_end(aged: AgenticMemorySystem) -> None:
    async with visiting(aged, "H", "health", follow=60) as pilot:
        with held_up(aged):
            await pilot.press("m", "n")
            await wait_until(pilot, lambda: at_work(pilot))
            assert "nightly maintenance" in said(pilot, "#job")
            assert "Stop" in screen_text(pilot)
            assert health(pilot).check_action("maintain", ()) is False
            await pilot.press("l")
            await wait_until(pilot, lambda: in_room(pilot, "log"))
            await pilot.press("H")
            await wait_until(pilot, lambda: in_room(pilot, "health"))
            assert pilot.app.screen.query_one("#job").display
            await pilot.press("escape")
            await wait_until(pilot, lambda: in_room(pilot, "browse"))
        await wait_until(pilot, lambda: "1 faded into the archive" in toasts(pilot))
        await enter(pilot, "H", "health")
        assert report(pilot) == [f"faded: {CHAT}"]
        assert not pilot.app.screen.query_one("#job").display


@pytest.mark.thorough
async def test_a_run_that_is_stopped_says_so_and_the_next_goes_on(aged: AgenticMemorySystem) -> None:
    async with visiting(aged, "H", "health", follow=60) as pilot:
        with held_up(aged):
            await pilot.press("m", "n")
            await wait_until(pilot, lambda: at_work(pilot))
            await pilot.press("x")
            assert "stopping…" in said(pilot, "#job")
            assert health(pilot).check_action("stop", ()) is False
        await wait_until(pilot, lambda: "Stopped." in toasts(pilot))
        await wait_until(pilot, lambda: "was stopped" in words(pilot, "#run-words"))
        assert "m goes on with it" in words(pilot, "#run-words")
        assert aged.count() == 4
        await pilot.press("m", "n")
        await wait_until(pilot, lambda: "Went on with what was stopped." in toasts(pilot))
        await wait_until(pilot, lambda: report(pilot) == [f"faded: {CHAT}"])


@pytest.mark.thorough
async def test_quitting_calls_a_run_off_and_waits_for_nobody(aged: AgenticMemorySystem) -> None:
    with held_up(aged):
        async with visiting(aged, "H", "health", follow=60) as pilot:
            await pilot.press("m", "n")
            await wait_until(pilot, lambda: at_work(pilot))
            job = health(pilot).job
            assert job is not None
        assert not pilot.app.is_running
        assert job.cancelled.is_set()
    aged.close()


@pytest.mark.thorough
async def test_a_run_of_another_process_is_named_and_respected(
    aged: AgenticMemorySystem, open_home: Callable[..., AgenticMemorySystem]
) -> None:
    other = open_home("agent")
    with other.parts.store.write() as session:
        progress = {"seen": 0, "keys": "", "phases": {}}
        session.runs.start("weekly", 0, progress, other.parts.worker.owner.one_more(), seconds=1e9)
    async with visiting(aged, "H", "health") as pilot:
        assert "is at it: weekly, since 2026-03-01 09:00" in words(pilot, "#run-words")
        assert "process" in words(pilot, "#run-words")
        await pilot.press("m", "n")
        await wait_until(pilot, lambda: "maintenance is running since" in toasts(pilot))
        assert aged.health().last is None


# -- models --------------------------------------------------------------------------------------------------------


def with_model(home: Path, host: str) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=Settings(
            home=home,
            dense_base="exact",
            timezone="UTC",
            llm_backend="ollama",
            llm_model="llama3.2",
            ollama_host=host,
            llm_timeout=5,
        ),
        clock=FrozenClock("2026-03-01T09:00"),
        embedder=HashEmbedder(),
        background=False,
    )


@pytest.mark.thorough
async def test_what_waits_is_analysed_and_what_fails_says_why(tmp_path: Path) -> None:
    with FakeOllama(judging_model) as ollama, with_model(tmp_path, ollama.host) as memory:
        memory.add("The boiler hums.", wait=False)
        async with visiting(memory, "H", "health") as pilot:
            await wait_until(pilot, lambda: "answers at" in words(pilot))
            assert "1 to be analysed e" in words(pilot)
            ollama.fault = Fault.ERROR
            await pilot.press("e")
            await wait_until(pilot, lambda: "The last try" in words(pilot))
            assert "1 failed" in toasts(pilot)
            assert "failed" in words(pilot).partition("The last try")[2]
            assert memory.health().degraded == 1
            ollama.fault = None
            await wait_until(pilot, lambda: "1 whose analysis failed e" in words(pilot))
            await pilot.press("e")
            await wait_until(pilot, lambda: memory.health().degraded == 0 and not at_work(pilot))
            await wait_until(pilot, lambda: "1 analysed" in words(pilot))
            await wait_until(pilot, lambda: health(pilot).check_action("retry", ()) is False)


@pytest.mark.thorough
async def test_a_server_that_never_answers_keeps_nobody_waiting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with with_model(tmp_path, host) as memory:
            memory.add("The boiler hums.", wait=False)
            app = NotesApp(memory, follow_every=60)
            async with app.run_test(size=(120, 36), notifications=True) as pilot:
                await wait_until(pilot, lambda: in_room(pilot, "browse"))
                await pilot.press("H")
                await wait_until(pilot, lambda: in_room(pilot, "health") and "asking…" in words(pilot))
                assert "1 note" in words(pilot)
                await pilot.press("tab", "shift+tab", "escape")
                await wait_until(pilot, lambda: in_room(pilot, "browse"))
                await pilot.press("H")
                await wait_until(pilot, lambda: "no Ollama answers at" in words(pilot))
                assert "ollama serve" in words(pilot)


# -- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_small_terminal_shows_one_side_at_a_time(aged: AgenticMemorySystem) -> None:
    aged.maintain()
    async with visiting(aged, "H", "health", (40, 12)) as pilot:
        assert "active" in screen_text(pilot)
        assert "nightly maintenance" not in screen_text(pilot)
        await pilot.press("tab")
        await wait_until(pilot, lambda: "nightly maintenance" in screen_text(pilot))
        await pilot.click("TabStrip", offset=(2, 0))
        await wait_until(pilot, lambda: "active" in screen_text(pilot))
        await pilot.press("shift+tab")
        await wait_until(pilot, lambda: "faded" in screen_text(pilot))
        await pilot.press("m")
        await wait_until(pilot, lambda: "weekly" in screen_text(pilot))
        await pilot.press("escape")

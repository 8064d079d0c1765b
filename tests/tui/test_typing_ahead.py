"""Keys that come faster than they are worked off are not lost, and none reaches what it was not meant for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from amem_tui import browser_app
from amem_tui.dialogs import found_by
from amem_tui.timeline.timeline_room import TimelineScreen
from conftest import KETTLE
from driving import browsing, listed, opened, screen_text, titles, wait_until
from textual import events
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card


def burst(pilot: Pilot[None], *keys: str) -> None:
    """Press keys without waiting for anything between them, as a paste or a slow machine makes of typing."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        driver.send_message(events.Key(key, "/" if key == "slash" else key if len(key) == 1 else None))


async def test_a_question_typed_in_one_go_is_searched_for(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "slash", *"kettle", "enter")
        await wait_until(pilot, lambda: "by words (kettle)" in screen_text(pilot))
        assert titles(pilot)[0] == KETTLE
        assert pilot.app.screen.query_one("#search", Input).value == "kettle"


async def test_letters_behind_a_key_that_opens_a_dialog_go_into_the_dialog(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "ctrl+k", *"kettle")
        await wait_until(pilot, lambda: any(each.value == "kettle" for each in pilot.app.screen.query(Input)))
        assert len(pilot.app.screen_stack) == 3


async def test_a_key_that_closes_a_dialog_does_not_hold_up_the_next(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "question_mark", "escape", "down", "down")
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 2 and listed(pilot).has_focus)
        await wait_until(pilot, lambda: listed(pilot).cursor == 2)


@pytest.mark.thorough
async def test_letters_behind_the_key_that_edits_go_into_the_note(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "e", *"again", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == f"{KETTLE}again")
        assert memory.count() == 3


async def test_what_a_key_sets_off_may_fail_and_is_heard_of(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise ZeroDivisionError("what a key set off")

    async with browsing(memory) as pilot:
        heard: list[Exception] = []
        monkeypatch.setattr(pilot.app, "_handle_exception", heard.append)
        monkeypatch.setattr(pilot.app, "action_switch_note", fails)
        burst(pilot, "ctrl+k")
        await wait_until(pilot, lambda: [type(each) for each in heard] == [ZeroDivisionError])


async def test_words_typed_right_behind_the_key_of_the_palette_are_looked_up_before_enter_chooses(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*args: Any, **named: Any) -> list[Card]:
        time.sleep(0.4)
        return found_by(*args, **named)

    monkeypatch.setattr(browser_app, "found_by", slowly)
    async with browsing(memory) as pilot:
        burst(pilot, "ctrl+p", *"timeline", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen))

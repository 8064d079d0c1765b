"""Every key of every room and sheet, whatever is there to press it on: nothing breaks, and one gets away again.

What each key does is said by the tests of its room. These take the keys from the keymap, so none can be left out.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from amem_tui import keymap
from amem_tui.collections_screen import CollectionsScreen, ForkScreen
from amem_tui.failures import UnreadableScreen
from amem_tui.note_form import NoteForm
from driving import toasts
from visiting import in_room, visiting

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from amem.memory_system import AgenticMemorySystem

pytestmark = pytest.mark.thorough

#: The keys that lead to each from the start room; what opens above a room is known by its class.
WAYS = {
    "browse": "b", "graph": "g", "history": "h", "timeline": "t", "chat": "c", "review": "r", "log": "l",
    "health": "H", "form": "n", "collections": "ctrl+o", "fork": "ctrl+o home d",
}  # fmt: skip
SHEETS = {"form": NoteForm, "collections": CollectionsScreen, "fork": ForkScreen}
#: These end the program or hand the terminal over; tested where that is seen.
NOT_HERE = {"app.quit"}


def keys_of(room: str) -> list[tuple[str, str]]:
    """Ids and keys, one for each way to press it."""
    ids = ((id, binding) for id, binding in keymap.every_key().items() if id.partition(".")[0] == room)
    return [(id, key.strip()) for id, binding in ids if id not in NOT_HERE for key in binding.key.split(",")]


def test_there_is_a_way_to_every_room_that_has_keys() -> None:
    assert {id.partition(".")[0] for id in keymap.every_key()} == {"app", *WAYS}


def there(pilot: Pilot[None], room: str) -> bool:
    return type(pilot.app.screen) is SHEETS[room] if room in SHEETS else in_room(pilot, room)


async def rest(pilot: Pilot[None]) -> None:
    """Let a key do what it does, without waiting for what may wait for an answer itself."""
    await pilot.pause()
    for _ in range(20):
        if all(worker.is_finished or worker.group == "follow" for worker in pilot.app.workers):
            return
        await pilot.pause(0.01)


async def go(pilot: Pilot[None], room: str) -> None:
    """From wherever a key led to the room, by keys."""
    for _ in range(12):
        if there(pilot, room):
            return
        for key in WAYS[room].split() if in_room(pilot, "browse") else ["escape"]:
            await pilot.press(key)
            await rest(pilot)
    raise AssertionError(f"no way back to {room} from {pilot.app.screen!r}")


def well(pilot: Pilot[None], caplog: pytest.LogCaptureFixture, pressed: str) -> None:
    """Nothing that nobody foresaw."""
    assert pilot.app.is_running, pressed
    assert pilot.app._exception is None, (pressed, pilot.app._exception)
    assert not isinstance(pilot.app.screen, UnreadableScreen), pressed
    assert "unforeseen" not in toasts(pilot), (pressed, toasts(pilot))
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == [], pressed


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that leaves the text as it is."""
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("VISUAL", "true")


@pytest.mark.parametrize("room", ["app", *WAYS])
@pytest.mark.parametrize(("kept", "size"), [("memory", (120, 36)), ("empty", (40, 12))])
async def test_every_key_can_be_pressed_and_its_room_left(
    kept: str,
    size: tuple[int, int],
    room: str,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    memory: AgenticMemorySystem = request.getfixturevalue(kept)
    entered = "browse" if room == "app" else room
    if room == "fork":
        memory.copy("draft")
    async with visiting(memory, "b", "browse", size) as pilot:
        for id, key in keys_of(room):
            await go(pilot, entered)
            await pilot.press(key)
            await rest(pilot)
            well(pilot, caplog, f"{id} by {key}")
        await go(pilot, "browse")

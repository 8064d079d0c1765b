"""Driving the browser in tests: wait for what should become true instead of sleeping; say what is on the screen."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from amem_tui.browse.note_list import NoteList
from amem_tui.browse.note_pane import NotePane
from amem_tui.browser_app import NotesApp
from amem_tui.keymap import OneKeyAtATime
from textual import events
from textual._context import active_app
from textual.css.query import NoMatches
from textual.widgets import OptionList, Static

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from amem_tui.rooms import WordLine
    from textual.app import App
    from textual.message_pump import MessagePump
    from textual.pilot import Pilot
    from textual.screen import Screen

    from amem.memory_system import AgenticMemorySystem

PATIENCE = 20.0
_MOMENT = 0.05


def offset_of(line: WordLine, id: str) -> int:
    """The first cell of a word on a line of words."""
    words = line.words(line.size.width)
    place = next(place for place, word in enumerate(words) if word.id == id)
    return sum(word.text.cell_length for word in words[:place])


@asynccontextmanager
async def browsing(
    memory: AgenticMemorySystem, size: tuple[int, int] = (120, 40), *, notes: int | None = None
) -> AsyncIterator[Pilot[None]]:
    """The app on this collection, once its list is there."""
    app = NotesApp(memory, follow_every=0.2)
    expected = memory.count() if notes is None else notes
    async with app.run_test(size=size, notifications=True) as pilot:
        await wait_until(pilot, lambda: bool(app.screen.query(NoteList)))
        await wait_until(pilot, lambda: listed(pilot).count == expected)
        await wait_until(pilot, lambda: opened(pilot) is not None or hint(pilot) != "")
        yield pilot


async def wait_until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Let the app work until `true` holds; fail when it never does. What it looks at may not be there yet."""
    async with asyncio.timeout(PATIENCE):
        while not _holds(true):
            await asyncio.sleep(_MOMENT / 10)
    given_up = monotonic() + 1  # a screen that is in front may have been furnished only in part
    while not all(_waits(pump) for pump in _pumps(pilot.app)) and monotonic() < given_up:
        await asyncio.sleep(0)


def _holds(true: Callable[[], bool]) -> bool:
    with suppress(NoMatches, IndexError):  # while one collection takes the place of another there is no room at all
        return true()
    return False


def burst(pilot: Pilot[None], *keys: str) -> None:
    """Press keys without waiting for anything between them, as a paste or a slow machine makes of typing."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        driver.send_message(events.Key(key, "/" if key == "slash" else key if len(key) == 1 else None))


def listed(pilot: Pilot[None]) -> NoteList:
    return pilot.app.screen_stack[1].query_one(NoteList)


def titles(pilot: Pilot[None]) -> list[str]:
    """What the list shows, from the top."""
    rows = [listed(pilot).entry_at(place) for place in range(listed(pilot).count)]
    return [row.title for row in rows if row is not None]


def opened(pilot: Pilot[None]) -> str | None:
    """The text of the open note."""
    opened_note = pilot.app.screen_stack[1].query_one(NotePane).opened_note
    return None if opened_note is None else opened_note.note.content


def hint(pilot: Pilot[None]) -> str:
    return said(pilot, "#hint", screen=1)


def said(pilot: Pilot[None], selector: str, *, screen: int = -1) -> str:
    """The words of a Static."""
    return str(pilot.app.screen_stack[screen].query_one(selector, Static).visual)


def options(pilot: Pilot[None], selector: str) -> list[str]:
    """The lines of an option list on the screen in front."""
    shown = pilot.app.screen.query_one(selector, OptionList)
    return [str(option.prompt) for option in shown.options]


def toasts(pilot: Pilot[None]) -> str:
    """Everything that was said in a corner of the screen and is still there."""
    return "\n".join(each.message for each in pilot.app._notifications)


def screen_text(pilot: Pilot[None]) -> str:
    """The whole screen as lines of text."""
    width, height = pilot.app.size
    strips = pilot.app.screen._compositor.render_strips(pilot.app.size)
    assert all(strip.cell_length == width for strip in strips[:height])
    return "\n".join(strip.text for strip in strips)


async def settled(pilot: Pilot[None]) -> None:
    """Let the app finish what it has begun: only the loop that follows the collection is left."""
    for _ in range(3):  # what a worker has just shown may set off another
        await pilot.pause(0.05)
        await wait_until(pilot, lambda: _at_rest(pilot.app))


async def calm(*_times: float) -> None:
    """Wait until the app in front has worked off its keys, and has finished and painted what they set off.

    It takes the place of Textual's own waits, which sleep 20 ms or more for every key and send every widget a message.
    An assistant's answer is not waited for, nor what else goes on and on while the process does nothing.
    """
    app = active_app.get()
    given_up = monotonic() + 1
    looks = 0
    since, computed = monotonic(), process_time()
    while looks < 2 and app._exception is None and monotonic() < given_up:
        for _ in range(4):  # until a message that was sent from elsewhere stands in a queue
            await asyncio.sleep(0)
        if _at_rest(app, but="answer") and all(_waits(pump) for pump in _pumps(app)):
            looks = 0 if _to_paint(app.screen) else looks + 1
            app.screen._on_timer_update()
            continue
        looks = 0
        await asyncio.sleep(_MOMENT / 20)
        if monotonic() > since + _MOMENT:
            if process_time() - computed < _MOMENT / 8:
                return
            since, computed = monotonic(), process_time()


async def calmed(pilot: Pilot[None], timeout: float = 0) -> bool:
    """`calm` in place of the pilot's own wait for all widgets."""
    await calm()
    return pilot.app._exception is None


def _at_rest(app: App[Any], but: str = "") -> bool:
    """Whether no key is worked off and no worker at work, but for the one that follows the collection and a group.

    Those behind a dialog wait for what is answered there.
    """
    front = app.screen
    return not (isinstance(app, OneKeyAtATime) and app.typing) and all(
        worker.is_finished
        or worker.group in ("follow", but)
        or (front.is_modal and worker.node is not front and front not in worker.node.ancestors)
        for worker in app.workers
    )


def _pumps(app: App[Any]) -> list[MessagePump]:
    return [app, *(node for screen in app.screen_stack for node in screen.walk_children(with_self=True))]


def _waits(pump: MessagePump) -> bool:
    """Whether it has nothing to do but to wait for a message, or is gone."""
    if pump._closing or pump._closed:
        return True
    ready: asyncio.Event = pump._message_queue.ready_event
    return pump._is_mounted and pump._pending_message is None and bool(ready._waiters) and not ready.is_set()


def _to_paint(screen: Screen[Any]) -> bool:
    """Whether anything waits for the next picture, or for it to be painted."""
    laid_out = not (screen._layout_required or screen._scroll_required) and screen.app._resize_event is None
    painted = not (screen._repaint_required or screen._recompose_required or screen._dirty_widgets)
    return not (laid_out and painted) or bool(screen._callbacks)

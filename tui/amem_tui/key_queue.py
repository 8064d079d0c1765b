"""Keys in the order they were pressed: each is done with before the next.

Textual hands every key at once to the widget that has the keyboard now. Where keys come faster than they are worked
off, as in a fast typist's "/kettle" on a busy machine, the letters would go to the list that "/" was about to leave.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import events
from textual.app import App
from textual.message import Message

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.worker import Worker


Result = TypeVar("Result")

#: Seconds to wait for a key whose widget is at work, or is going away with what the key closed.
_PATIENCE = 0.25
#: How often an echo follows: a key sets off messages of its own (something was submitted; it is to be searched for).
_ROUNDS = 4
#: Seconds between two looks whether a screen is there.
_AGAIN = 0.01


class Echo(Message, bubble=True):
    """Follows a key through the same queues; when it has reached the app, the key is done with."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = asyncio.Event()


class OneKeyAtATime(App[Result], Generic[Result]):
    """An app that loses no key that was typed ahead."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: asyncio.Queue[events.Key] = asyncio.Queue()
        self._typing: asyncio.Task[None] | None = None
        self._awaited: Worker[None] | None = None
        #: The key that is worked off, and the how manieth it is.
        self.key, self.keys_pressed = "", 0

    @property
    def takes_keys(self) -> bool:
        """Whether what is in front is there yet, and not `settling`: about to show what the next key is meant for."""
        screen = self.screen
        opened = self._awaited is None or self._awaited.is_finished
        return opened and screen.is_mounted and not getattr(screen, "settling", False)

    @property
    def typing(self) -> bool:
        """Whether a key is being worked off, or waits."""
        return self._typing is not None and not self._typing.done()

    def hold_keys(self, opening: Worker[None]) -> None:
        """Let keys wait until this has opened what they are meant for, or has failed to."""
        self._awaited = opening

    def ends(self, key: str) -> bool:
        """Whether a key need not wait, since it leads out of what keys would have to wait for."""
        return False

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or event.is_forwarded or self.ends(event.key):
            return await super().on_event(event)
        self._typed.put_nowait(event)
        if not self.typing:
            self._typing = asyncio.create_task(self._work_off())
            self._typing.add_done_callback(self._told)

    async def _work_off(self) -> None:
        while not self._typed.empty():
            while not self.takes_keys:
                if not self.is_running:
                    return
                await asyncio.sleep(_AGAIN)
            key = self._typed.get_nowait()
            self.key, self.keys_pressed = key.key, self.keys_pressed + 1
            there: MessagePump = self.focused or self.screen
            await super().on_event(key)
            for _ in range(_ROUNDS):
                if not await self._echoes(there):
                    break

    async def _echoes(self, there: MessagePump) -> bool:
        """Whether all that stood in the queues between there and here is done with; False where nothing comes back."""
        echo = Echo()
        if not there.post_message(echo):
            return False
        for _ in range(round(_PATIENCE / _AGAIN)):
            with suppress(TimeoutError):
                await asyncio.wait_for(echo.arrived.wait(), _AGAIN)
            if echo.arrived.is_set() or not there.is_running:
                break
        return echo.arrived.is_set()

    def _told(self, typing: asyncio.Task[None]) -> None:
        """What fails in a task that nobody waits for would otherwise not be heard of."""
        if not typing.cancelled() and isinstance(error := typing.exception(), Exception):
            self._handle_exception(error)

    def on_echo(self, echo: Echo) -> None:
        echo.arrived.set()

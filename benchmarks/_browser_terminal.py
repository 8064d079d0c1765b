"""A terminal without a screen for timing a Textual app: it takes keys as one does, and knows when what was painted."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.keys import _character_to_key
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.app import App

SIZE = (120, 40)
_PATIENCE = 30.0


class Taken(NamedTuple):
    """Milliseconds by the clock, and of the processor, which a busy machine hardly changes."""

    clock: float
    processor: float


class Painting:
    """What is written to the terminal, seen as it is written; `painted` counts the writes."""

    def __init__(self) -> None:
        self.painted = 0
        self._wanted: Callable[[], bool] | None = None
        self._seen: asyncio.Future[float] | None = None

    def wrote(self) -> None:
        """A frame, or part of one, went out."""
        self.painted += 1
        if self._wanted is not None and self._seen is not None and not self._seen.done() and self._wanted():
            self._seen.set_result(time.perf_counter())

    async def until(self, wanted: Callable[[], bool], begin: Callable[[], object] | None = None) -> float:
        """When (perf_counter) something was painted while `wanted` held, for the first time since `begin`."""
        self._wanted, self._seen = wanted, asyncio.get_running_loop().create_future()
        if begin is not None:
            begin()
        return await asyncio.wait_for(self._seen, _PATIENCE)


class Terminal:
    """An app that runs in such a terminal."""

    def __init__(self, app: App[Any], painting: Painting) -> None:
        self.app = app
        self.painting = painting

    def press(self, key: str) -> None:
        """Send a key: its name, or the character it gives."""
        name, character = (_character_to_key(key), key) if len(key) == 1 else (key, None)
        assert self.app._driver is not None
        self.app._driver.process_message(events.Key(name, character))

    async def to_type(self, key: str) -> None:
        """Press the key that leads to an input, and wait until the keyboard is there."""
        self.press(key)
        while not isinstance(self.app.focused, Input):
            await asyncio.sleep(0.01)

    async def timed(self, key: str, shown: Callable[[], bool]) -> Taken:
        """What it takes from a key to the first frame in which it is `shown` what it brings about."""
        start, begun = time.perf_counter(), time.process_time()
        try:
            clock = await self.painting.until(shown, lambda: self.press(key)) - start
            return Taken(clock * 1000, (time.process_time() - begun) * 1000)
        except TimeoutError as error:
            what = f"{key!r} brought about nothing that was waited for; {self.app.focused} has focus"
            raise TimeoutError(what) from error


@asynccontextmanager
async def terminal(app: App[Any]) -> AsyncIterator[Terminal]:
    """Run the app, painting every frame in full, until left."""
    painting = Painting()

    class Unseen(HeadlessDriver):
        """Paints as for a real terminal; a headless app would not lay out its frames as text at all."""

        @property
        def is_headless(self) -> bool:
            return False

        def write(self, data: str) -> None:
            painting.wrote()

    app.driver_class = Unseen
    running = asyncio.create_task(app.run_async(size=SIZE))
    try:
        yield Terminal(app, painting)
    finally:
        app.exit()
        await running

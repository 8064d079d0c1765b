"""Where screens meet the collection: every call in a thread, every refusal said, every outside change announced."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from textual.message import Message

from amem.clock import zone
from amem.errors import AmemError, StorageBusy, StorageError, StorageGone, StorageReadOnly
from amem_tui.formatting import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from amem.memory_system import AgenticMemorySystem
    from amem_tui.browser_app import NotesApp

    Look: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

Answer = TypeVar("Answer")
Given = ParamSpec("Given")

#: A look that takes longer than this (in seconds) is followed by a rest, at most so long.
_LONG, _LONGEST_REST = 0.3, 10.0


async def in_own_thread(work: Callable[[], Answer]) -> Answer:
    """Do the work in a thread of its own that nobody waits for when the program ends."""
    answer: Future[Answer] = Future()
    threading.Thread(target=settle, args=(answer, work), name="amem-apart", daemon=True).start()
    return await asyncio.wrap_future(answer)


def settle(answer: Future[Answer], work: Callable[[], Answer]) -> None:
    """Do the work, unless nobody waits for it any more, and hand on what comes of it."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work())
    except BaseException as error:
        answer.set_exception(error)


class Refresher:
    """Looks as often as somebody wants to know, one look at a time, and rests as long as a slow look took.

    `start` runs what it is given beside all else, as `Widget.run_worker` does.
    """

    def __init__(self, look: Look, start: Callable[[Look], object]) -> None:
        self._look, self._start = look, start
        #: Whether what was seen may be old.
        self.stale = self.looking = False
        self._urged = asyncio.Event()

    def want(self, *, now: bool = False) -> None:
        """Have it looked once more; what a person wants to know `now` cuts the rest short."""
        self.stale = True
        if now:
            self._urged.set()
        if not self.looking:
            self.looking = True
            self._start(self._keep_looking)

    async def _keep_looking(self) -> None:
        try:
            while self.stale:
                self.stale = False
                self._urged.clear()
                began = monotonic()
                await self._look()
                took = monotonic() - began
                if self.stale and took > _LONG:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._urged.wait(), min(took, _LONGEST_REST))
        finally:
            self.looking = False


class CollectionChanged(Message):
    """Somebody wrote to the collection: this browser, or another process."""


class CollectionClient:
    """One open collection, shared by the app's rooms; `note` is the id of the open note.

    Once it is `left` for another collection its rooms need show nothing more.
    """

    def __init__(self, app: NotesApp, memory: AgenticMemorySystem) -> None:
        self.app = app
        self.memory = memory
        self.zone = zone(memory.settings.timezone)
        self.note: str | None = None
        self.left = False
        self._pulse: tuple[int, int] | None = None
        self._failing = False

    async def ask(self, work: Callable[Given, Answer], *args: Given.args, **named: Given.kwargs) -> Answer:
        return await asyncio.to_thread(work, *args, **named)

    async def carry_out(self, change: Callable[Given, str], *args: Given.args, **named: Given.kwargs) -> bool:
        """Make a change, say what it did (or why it could not be made); True when it was made."""
        with self.refusals():
            self.say(await self.ask(change, *args, **named))
            await self.look()
            return True
        return False

    async def look(self) -> None:
        """Compare the collection with what was seen last, and tell every open screen when it changed."""
        seen, self._pulse = self._pulse, await self.ask(self.memory.pulse)
        if seen is not None and seen != self._pulse:
            self.app.announce()

    async def follow(self, every: float) -> None:
        """Look again and again, whatever happens. A store that fails is said once, and once more when it is back."""
        told: type[Exception] | None = None
        while True:
            try:
                await self.look()
            except StorageBusy:
                pass  # somebody writes much; the next look will do
            except AmemError as error:
                self._failing = True
                self.app.unreadable(error, for_now=True)
            except Exception as error:
                if told is not type(error):
                    self.app.report_error(error)
                told = type(error)
            else:
                told = None
                if self._failing:
                    self._failing = False
                    self.app.readable()
            await asyncio.sleep(every)

    def say(self, message: str) -> None:
        self.app.toast(clean(message))

    def refuse(self, error: AmemError) -> None:
        """Say what went wrong and what to do next; where the store itself fails, on a screen of its own."""
        # What is only read here, all of it or its catalogs, refuses changes and fails in nothing.
        kept = isinstance(error, StorageReadOnly) and (self.memory.read_only or self.memory.catalogs)
        if isinstance(error, StorageError) and not isinstance(error, StorageBusy) and not kept:
            # Whoever reads may learn before `follow` that the folder went; it may be back before `follow` looks.
            self._failing = self._failing or isinstance(error, StorageGone)
            self.app.unreadable(error, for_now=self._failing)
        else:
            self.app.toast(words(error), error=True)

    @contextmanager
    def refusals(self, show: Callable[[str], None] | None = None) -> Iterator[None]:
        """Turn an AmemError of the block into a toast, and hand its words to `show` as well."""
        try:
            yield
        except AmemError as error:
            self.refuse(error)
            if show is not None:
                show(words(error))


def words(error: AmemError) -> str:
    """What went wrong and, on the next line, what to do about it."""
    return clean(f"{error}\n{error.hint}" if error.hint else str(error))

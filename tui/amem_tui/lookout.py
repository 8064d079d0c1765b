"""Questions that take long: asked beside everything else, never twice at once, and not again at once."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Answer = TypeVar("Answer")

#: A look that takes longer than this (in seconds) is followed by a rest, at most so long.
_LONG, _LONGEST_REST = 0.3, 10.0


async def apart(work: Callable[[], Answer]) -> Answer:
    """Do the work in a thread of its own that nobody waits for when the program ends."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()

    def settle(result: Answer | None, error: BaseException | None) -> None:
        if answer.done():  # whoever waited has gone
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]  # None only where work answers None

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:
            failed = error
        try:
            loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:  # the loop has ended meanwhile
            return

    threading.Thread(target=run, name="amem-apart", daemon=True).start()
    return await answer


class Lookout:
    """Looks as often as somebody wants to know, one look at a time, and rests as long as a slow look took.

    `want` says that what was seen may be old, and whether a worker has to `keep` looking; that ends when nothing more
    was wanted. What a person wants to know `now` cuts the rest short.
    """

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look
        self._stale = self._looking = False
        self._urged = asyncio.Event()

    def want(self, *, now: bool = False) -> bool:
        """True when nobody is looking yet."""
        self._stale = True
        if now:
            self._urged.set()
        return not self._looking

    async def keep(self) -> None:
        """Look until nothing more is wanted."""
        self._looking = True
        try:
            while self._stale:
                self._stale = False
                self._urged.clear()
                began = monotonic()
                await self._look()
                took = monotonic() - began
                if self._stale and took > _LONG:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._urged.wait(), min(took, _LONGEST_REST))
        finally:
            self._looking = False

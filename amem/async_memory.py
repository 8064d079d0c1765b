"""``AsyncMemory``: the same memory for asyncio, each call in a thread so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from amem.checks import validated
from amem.memory_system import AgenticMemorySystem

if TYPE_CHECKING:
    from types import TracebackType


@validated
class AsyncMemory:
    """Every method of AgenticMemorySystem as a coroutine: ``await memory.add("...")``.

    Takes the arguments of AgenticMemorySystem, or an open one as `system`, which it then closes. Use it in an
    ``async with`` statement; opening happens in a thread there, too.
    """

    def __init__(self, *args: Any, system: AgenticMemorySystem | None = None, **options: Any) -> None:
        self._open = functools.partial(AgenticMemorySystem, *args, **options)
        self._system = system
        self._opening = asyncio.Lock()

    async def system(self) -> AgenticMemorySystem:
        """The memory system behind this, opened at first need."""
        async with self._opening:
            if self._system is None:
                self._system = await asyncio.to_thread(self._open)
        return self._system

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not callable(getattr(AgenticMemorySystem, name, None)):
            raise AttributeError(f"AsyncMemory has no method {name!r}")

        @functools.wraps(getattr(AgenticMemorySystem, name))
        async def call(*args: Any, **options: Any) -> Any:
            method = getattr(await self.system(), name)
            return await asyncio.to_thread(method, *args, **options)

        return call

    async def aclose(self) -> None:
        """Close the memory system if it was opened."""
        if self._system is not None:
            await asyncio.to_thread(self._system.close)

    async def __aenter__(self) -> AsyncMemory:
        await self.system()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

"""One open page and the browser that runs behind it, which ends with the page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from amem_tui.serving.driver import CHOSEN, DRIVER, OPENED, STAYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Cells a page may be wide and high: a large screen full of small letters. What is drawn takes memory by the cell.
_WIDEST, _HIGHEST = 1_000, 400
_WIDTH, _HEIGHT = 80, 24
#: Seconds between two signs of life of a page.
_HEARTBEAT = 15.0
#: Seconds a browser is given to end by itself.
_PATIENCE = 5.0


class Watcher:
    """What a window wants to know of the browser behind it; a page in a web browser wants to know nothing."""

    def opened(self, collection: str) -> None:
        """This collection is shown from now on."""

    def stays(self) -> None:
        """The browser was told to quit, and asks whether what was typed may be lost."""

    def ended(self, code: int) -> None:
        """The browser ended, by itself or by somebody's signal, with this exit code (minus the signal)."""


class Session(AppService):
    """The browser that `command` runs, shown on `page`."""

    def __init__(self, command: Sequence[str], page: web.WebSocketResponse, watcher: Watcher) -> None:
        # The shell gives way to the browser, so that what is ended is the browser.
        begun = "exec " if os.name == "posix" else ""
        super().__init__(
            f"{begun}{shlex.join(command)}",
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=self._close,
            download_manager=DownloadManager(),
        )
        self._page = page
        self._watcher = watcher
        self._left = False

    async def run(self) -> None:
        """Show the browser until it ends; the page then says so, also where somebody killed it."""
        await super().run()
        if not self._left and self._process is not None:
            code = await self._process.wait()
            self._watcher.ended(code)
            await self._page.close()

    async def choose(self, what: str) -> None:
        """Do what was chosen in a menu: ``new``, ``search``, ``collections`` or ``quit``."""
        await self.send_meta({"type": CHOSEN, "what": what})

    async def on_meta(self, data: bytes) -> None:
        """Hear what the browser says besides what it draws."""
        told = json.loads(data)
        if told["type"] == OPENED:
            self._watcher.opened(str(told["collection"]))
        elif told["type"] == STAYS:
            self._watcher.stays()
        else:
            await super().on_meta(data)

    def _build_environment(self, width: int = _WIDTH, height: int = _HEIGHT) -> dict[str, str]:
        return {**super()._build_environment(width, height), "TEXTUAL_DRIVER": DRIVER}

    async def take(self, message: str) -> None:
        """Hand what the page says on to the browser. Raises ValueError, TypeError or LookupError for what it may not
        say."""
        what, *given = json.loads(message)
        if what == "stdin":
            await self.send_bytes(given[0].encode())
        elif what == "resize":
            await self.set_terminal_size(*bounded(given[0]))
        elif what == "ping":
            await self._page.send_json(["pong", given[0]])
        elif what == "blur":
            await self.blur()
        elif what == "focus":
            await self.focus()

    async def stop(self) -> None:
        """Ask the browser to end, and end it where it does not."""
        self._left = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await super().stop()
                if self._process is not None:
                    await self._process.wait()
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _close(self) -> None:
        await self._page.close()


async def show(
    command: Sequence[str], request: web.Request, watcher: Watcher, sessions: set[Session]
) -> web.WebSocketResponse:
    """Run the browser for as long as the page that asks is open; it is one of the `sessions` meanwhile."""
    page = web.WebSocketResponse(heartbeat=_HEARTBEAT)
    await page.prepare(request)
    session = Session(command, page, watcher)
    await session.start(*bounded(request.query))
    sessions.add(session)
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT:
                await session.take(message.data)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        await page.close(code=WSCloseCode.INVALID_TEXT, message=b"that is no message of this page")
    finally:
        sessions.discard(session)
        await session.stop()
    return page


def bounded(size: Mapping[str, Any]) -> tuple[int, int]:
    """The width and height that a page asks for, in cells, no more than can be drawn; what it does not say is usual."""
    width, height = (int(size.get(name, usual)) for name, usual in (("width", _WIDTH), ("height", _HEIGHT)))
    return max(1, min(width, _WIDEST)), max(1, min(height, _HIGHEST))

"""The browser on a web page of this machine: what runs behind it, and the session of each open page."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import html
import json
import logging
import os
import secrets
import shlex
import signal
import socket
import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from amem.errors import InvalidInput
from amem_tui.serving.driver import CHOSEN, DRIVER, OPENED, STAYS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from amem.settings import Settings


#: Cells a page may be wide and high: a large screen full of small letters. What is drawn takes memory by the cell.
_WIDEST, _HIGHEST = 1_000, 400
_WIDTH, _HEIGHT = 80, 24
#: Seconds between two signs of life of a page.
_HEARTBEAT = 15.0
#: Seconds a browser is given to end by itself.
_SESSION_PATIENCE = 5.0


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
            close=self._close_page,
            download_manager=DownloadManager(),
        )
        self._page, self._watcher, self._left = page, watcher, False

    async def _close_page(self) -> None:
        await self._page.close()

    async def run(self) -> None:
        """Show the browser until it ends; the page then says so, also where somebody killed it."""
        await super().run()
        if not self._left and self._process is not None:
            code = await self._process.wait()
            self._watcher.ended(code)
            await self._page.close()

    async def choose(self, what: str) -> None:
        await self.send_meta({"type": CHOSEN, "what": what})

    async def on_meta(self, data: bytes) -> None:
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
        """Hand on what the page says. Raises ValueError, TypeError or LookupError for what it may not say."""
        what, *given = json.loads(message)
        match what:
            case "stdin":
                await self.send_bytes(given[0].encode())
            case "resize":
                await self.set_terminal_size(*bounded(given[0]))
            case "ping":
                await self._page.send_json(["pong", given[0]])
            case "blur" | "focus":
                await getattr(self, what)()

    async def stop(self) -> None:
        """Ask the browser to end, and end it where it does not."""
        self._left = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SESSION_PATIENCE):
                await super().stop()
                if self._process is not None:
                    await self._process.wait()
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def bounded(size: Mapping[str, Any]) -> tuple[int, int]:
    """The width and height that a page asks for, in cells, no more than can be drawn; what it does not say is usual."""
    width, height = (int(size.get(name, usual)) for name, usual in (("width", _WIDTH), ("height", _HEIGHT)))
    return max(1, min(width, _WIDEST)), max(1, min(height, _HIGHEST))


#: Runs ``amem`` in this Python, wherever it is called from.
_AMEM = "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"


def amem_command(settings: Settings, *words: str, env_file: str | None = None) -> list[str]:
    """The words that run ``amem`` on the settings' collection, from any folder and with any search path."""
    named = ["--home", str(settings.home), "--collection", settings.collection]
    env = [] if env_file is None else ["--env-file", os.path.abspath(env_file)]
    return [sys.executable, "-c", _AMEM, *named, *env, *words]


def serve(settings: Settings, port: int, *, told: Callable[[str], None], env_file: str | None = None) -> None:
    """Serve the browser on a web page until Ctrl-C or SIGTERM; `told` hears its address. Raises InvalidInput."""
    page = page_of(settings, listening(port), env_file)
    asyncio.run(_until_stopped(page, lambda: told(page.url)))


def page_of(
    settings: Settings, heard: socket.socket, env_file: str | None = None, watcher: Watcher | None = None
) -> WebPage:
    """The page of the settings' collection, not yet served; `watcher` hears of the browser behind it."""
    # textual-serve tells of every page that closes, or whose browser is killed: the terminal is left to what we say.
    logging.getLogger("textual-serve").setLevel(logging.CRITICAL)
    command = amem_command(settings, "tui", "--served", env_file=env_file)
    return WebPage(command, heard, title=f"amem: {settings.collection}", watcher=watcher)


async def _until_stopped(page: WebPage, begun: Callable[[], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        # Windows has no handlers of this kind; Ctrl-C ends asyncio.run there.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(each, ended.set)
    await page.start()
    try:
        begun()
        await ended.wait()
    finally:
        await page.stop()


if TYPE_CHECKING:
    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HOST = "127.0.0.1"
PORT = 8765
FONT_SIZE = 16
_HIGHEST_PORT = 65_535
#: Seconds that open pages are given to close when the server ends.
_PATIENCE = 3.0


def listening(port: int) -> socket.socket:
    """A socket that listens on this port of 127.0.0.1; 0 takes any free one. Raises InvalidInput for a taken one."""
    if not 0 <= port <= _HIGHEST_PORT:
        raise InvalidInput(f"{port} is no port", hint=f"use one between 1 and {_HIGHEST_PORT}, or 0 for any free one")
    heard = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Or a server that was ended a moment ago would still hold its port.
    heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        heard.bind((HOST, port))
        heard.listen()
    except OSError as error:
        heard.close()
        words = f"port {port} cannot be used: {error.strerror}"
        raise InvalidInput(words, hint="--port 0 takes any free one") from error
    return heard


class WebPage:
    """Serves the browser that `command` runs; each page that is opened runs one, of which `watcher` hears.

    Whoever reaches the page can read and change every note, so nothing else may reach it: it listens on 127.0.0.1
    alone, is found only under a key made for this run, answers to no other host name (a foreign page may have pointed
    its own at this address) and takes a connection from no other page. The page asks nothing of any other host.
    """

    def __init__(
        self, command: Sequence[str], heard: socket.socket, *, title: str, watcher: Watcher | None = None
    ) -> None:
        self._socket, self._title, self._command = heard, title, command
        self._port: int = heard.getsockname()[1]
        self._key = secrets.token_urlsafe(24)
        self._watcher = Watcher() if watcher is None else watcher
        self._sessions: set[Session] = set()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it is found; holds the key of this run."""
        return f"http://{HOST}:{self._port}/{self._key}/"

    async def start(self) -> None:
        app = web.Application(middlewares=[self._guarded])
        pages = {"": self._page, "page.js": _script, "ws": self._session}
        app.add_routes([web.get(f"/{self._key}/{name}", handler) for name, handler in pages.items()])
        app.add_routes([web.static("/static", Path(textual_serve.__file__).parent / "static")])
        # A page's key would stand in every line of an access log.
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_PATIENCE)
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket).start()

    async def stop(self) -> None:
        """Close every page and end the browsers behind them."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def is_open(self) -> bool:
        return bool(self._sessions)

    async def choose(self, what: str) -> None:
        for session in list(self._sessions):
            await session.choose(what)

    @property
    def _hosts(self) -> tuple[str, str]:
        return f"{HOST}:{self._port}", f"localhost:{self._port}"

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if request.host not in self._hosts:
            raise web.HTTPForbidden(text="amem answers here under no other name")
        if origin is not None and origin not in [f"http://{host}" for host in self._hosts]:
            raise web.HTTPForbidden(text="amem answers to no other page")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(self._headers)
        return response

    @property
    def _headers(self) -> dict[str, str]:
        sockets = " ".join(f"ws://{host}" for host in self._hosts)
        return {
            # Styles stand in the page and are set by the terminal as it draws; scripts come from this server alone.
            "Content-Security-Policy": f"default-src 'self'; connect-src 'self' {sockets}; img-src 'self' data:;"
            " style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    async def _session(self, request: web.Request) -> web.WebSocketResponse:
        """Run the browser for as long as the page that asks is open."""
        page = web.WebSocketResponse(heartbeat=_HEARTBEAT)
        await page.prepare(request)
        session = Session(self._command, page, self._watcher)
        await session.start(*bounded(request.query))
        self._sessions.add(session)
        try:
            async for message in page:
                if message.type is WSMsgType.TEXT:
                    await session.take(message.data)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            await page.close(code=WSCloseCode.INVALID_TEXT, message=b"that is no message of this page")
        finally:
            self._sessions.discard(session)
            await session.stop()
        return page

    async def _page(self, request: web.Request) -> web.Response:
        room = files("amem_tui.serving")
        size = request.query.get("fontsize", "")
        filled = Template(room.joinpath("page.html").read_text(encoding="utf-8")).substitute(
            title=html.escape(self._title),
            icon=base64.b64encode(room.joinpath("icon.svg").read_bytes()).decode(),
            socket=f"ws://{request.host}/{self._key}/ws",
            font_size=size if size.isascii() and size.isdigit() and len(size) <= 2 else FONT_SIZE,
        )
        return web.Response(text=filled, content_type="text/html")


async def _script(_: web.Request) -> web.Response:
    text = files("amem_tui.serving").joinpath("page.js").read_text(encoding="utf-8")
    return web.Response(text=text, content_type="text/javascript")

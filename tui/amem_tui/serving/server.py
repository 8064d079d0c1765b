"""The browser on a web page of this machine: textual-serve runs it, a page of our own shows it.

Whoever reaches the page can read and change every note, so nothing else may reach it: it listens on 127.0.0.1 alone, is
found only under a key made for this run, answers to no other host name (a foreign page may have pointed its own at this
address) and takes a connection from no other page. The page asks nothing of any other host.
"""

from __future__ import annotations

import base64
import logging
import secrets
import socket
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import textual_serve
from aiohttp import web

from amem.errors import InvalidInput
from amem_tui.serving.session import Session, Watcher, show

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

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


class Page:
    """Serves the browser that `command` runs; each page that is opened runs one, of which `watcher` hears."""

    def __init__(
        self, command: Sequence[str], heard: socket.socket, *, title: str, watcher: Watcher | None = None
    ) -> None:
        self._socket = heard
        self._title = title
        self._port: int = heard.getsockname()[1]
        self._key = secrets.token_urlsafe(24)
        self._command = command
        self._watcher = Watcher() if watcher is None else watcher
        self._sessions: set[Session] = set()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it is found; holds the key of this run."""
        return f"http://{HOST}:{self._port}/{self._key}/"

    async def start(self) -> None:
        """Begin to serve."""
        app = web.Application(middlewares=[self._guarded])
        app.add_routes(
            [
                web.get(f"/{self._key}/", self._page),
                web.get(f"/{self._key}/page.js", _script),
                web.get(f"/{self._key}/ws", self._session),
                web.static("/static", Path(textual_serve.__file__).parent / "static"),
            ]
        )
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
        """Whether anybody has the page open."""
        return bool(self._sessions)

    async def choose(self, what: str) -> None:
        """Do in every open page what was chosen in a menu."""
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

    async def _session(self, request: web.Request) -> web.StreamResponse:
        return await show(self._command, request, self._watcher, self._sessions)

    async def _page(self, request: web.Request) -> web.Response:
        room = files("amem_tui.serving")
        size = request.query.get("fontsize", "")
        filled = Template(room.joinpath("page.html").read_text(encoding="utf-8")).substitute(
            title=_escaped(self._title),
            icon=base64.b64encode(room.joinpath("icon.svg").read_bytes()).decode(),
            socket=f"ws://{request.host}/{self._key}/ws",
            font_size=size if size.isascii() and size.isdigit() and len(size) <= 2 else FONT_SIZE,
        )
        return web.Response(text=filled, content_type="text/html")


async def _script(_: web.Request) -> web.Response:
    text = files("amem_tui.serving").joinpath("page.js").read_text(encoding="utf-8")
    return web.Response(text=text, content_type="text/javascript")


def quiet() -> None:
    """Leave the terminal to what we say: textual-serve tells of every page that closes, or whose browser is killed."""
    logging.getLogger("textual-serve").setLevel(logging.CRITICAL)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")

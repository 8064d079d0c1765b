"""How clients reach the server: over stdin and stdout, or over HTTP on this machine with a token."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from amem.errors import InvalidInput
from amem.mcp.rest import refusal, routes
from amem.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from amem.mcp.collections import Collections

HOST = "127.0.0.1"
PATH = "/mcp"
#: Port of HTTP, unless another is asked for.
PORT = 8377
_TOKEN = "mcp.token"
_UNKNOWN = refusal(
    401,
    "the token is missing or wrong",
    "send the header Authorization: Bearer TOKEN (amem mcp --http says where the token is)",
    {"WWW-Authenticate": "Bearer"},
)


def serve_stdio(collections: Collections) -> None:
    """Serve one client until it closes its end. Whatever else writes to stdout meanwhile is sent to stderr."""

    async def serve() -> None:
        server = make_server(collections)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        collections.close()


def serve_http(collections: Collections, port: int, token: str, *, told: Callable[[str], None]) -> None:
    """Serve MCP clients and, by plain HTTP, others on this machine until Ctrl-C or SIGTERM; `told` hears the address.

    Answers only who sends the token, and calls the server by a name of this machine (which a page of some web site in
    a browser, or a name that was made to lead here, does not). Raises InvalidInput for a port that cannot be had.
    """
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    heard = _listening(port)
    port = heard.getsockname()[1]
    names = [f"{host}:{port}" for host in (HOST, "localhost")]
    allowed = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    app = make_server(collections).streamable_http_app(
        streamable_http_path=PATH, transport_security=allowed, custom_starlette_routes=routes(collections, allowed)
    )
    config = uvicorn.Config(
        WithToken(app, token), log_config=None, access_log=False, timeout_graceful_shutdown=5, ws="none"
    )
    told(f"http://{HOST}:{port}{PATH}")
    try:
        with heard:
            uvicorn.Server(config).run(sockets=[heard])
    finally:
        collections.close()


class WithToken:
    """Hands on requests that carry the bearer token; all others are answered 401, and nothing is done for them."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the events of the server's start and end, as ASGI has them."""
        if scope["type"] == "http":
            headers: dict[bytes, bytes] = dict(scope["headers"])
            if not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
                return await _UNKNOWN(scope, receive, send)
        await self._app(scope, receive, send)


def token_of(home: Path) -> tuple[str, Path]:
    """The token of a home and the file that holds it, made where there is none, for its owner's eyes only.

    Raises InvalidInput for a file that holds none.
    """
    path = home / _TOKEN
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        token = path.read_text(encoding="utf-8").strip()
    else:
        token = secrets.token_urlsafe(32)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(token + "\n")
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput(f"{path} holds no token", hint="remove the file to have a new one made")
    return token, path


def _listening(port: int) -> socket.socket:
    heard = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        heard.bind((HOST, port))
        heard.listen()  # who connects from now on is heard, a moment later at most
    except (OSError, OverflowError) as error:
        heard.close()
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"port {port} cannot be used: {why}", hint="choose another with --port") from error
    return heard

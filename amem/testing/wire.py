"""A loopback HTTP server that can also fail: replies cut short, streams that stall, connections that are reset."""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

NDJSON, EVENTS = "application/x-ndjson", "text/event-stream"
_PAGE = b"<!doctype html><title>It works!</title><p>This is some other server."
_LOOK = 0.02  # seconds between looks at whether the client is still there


class HungUp(Exception):
    """The client left, or the server stops, before the answer's end."""


class LoopbackServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1 (any free port for 0), one thread per connection."""

    daemon_threads = True

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), handler)

    def break_off(self) -> None:
        """End every answer that is being given."""
        self.stopping.set()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # one that has ended by itself
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


class Wire(BaseHTTPRequestHandler):
    """One request at a time, one connection for each, so that a fault ends with the request that had it."""

    protocol_version = "HTTP/1.1"
    server: LoopbackServer

    def read_json(self) -> dict[str, Any]:
        """The request's body."""
        request: dict[str, Any] = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        return request

    def reply(
        self, value: object, status: int = 200, headers: Mapping[str, str] | None = None, *, cut: bool = False
    ) -> None:
        """A whole reply; only the first half of it when it is `cut`."""
        body = json.dumps(value).encode()
        self._start(status, "application/json", {"Content-Length": str(len(body)), **(headers or {})})
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def reply_page(self) -> None:
        """A web page, as a server that is something else would send."""
        self._start(200, "text/html", {"Content-Length": str(len(_PAGE))})
        self.wfile.write(_PAGE)

    def begin(self, content_type: str) -> None:
        """Begin a stream, either of JSON lines (`NDJSON`) or of server-sent events (`EVENTS`)."""
        self._content_type = content_type
        self._start(200, content_type, {"Transfer-Encoding": "chunked"})

    def part(self, value: object) -> None:
        """The stream's next part."""
        line = json.dumps(value).encode()
        self._chunk(b"data: %s\n\n" % line if self._content_type == EVENTS else line + b"\n")

    def end(self) -> None:
        """End the stream; one that is not ended looks to the client as if the connection broke."""
        if self._content_type == EVENTS:
            self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def pause(self, seconds: float | None) -> None:
        """Wait (None: for ever). Raises HungUp when the client leaves or the server stops meanwhile."""
        end = None if seconds is None else time.monotonic() + seconds
        while end is None or time.monotonic() < end:
            left = _LOOK if end is None else max(0.0, min(_LOOK, end - time.monotonic()))
            # A client that waits sends nothing, so that something to read can only be its farewell.
            if self.server.stopping.is_set() or select.select([self.connection], [], [], left)[0]:
                raise HungUp

    def reset(self) -> None:
        """End the connection with a reset instead of a farewell."""
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        socket.close(self.connection.detach())
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests are kept by the server."""

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _start(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

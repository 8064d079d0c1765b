"""A real HTTP server on loopback that speaks Ollama's protocol, with scripted answers and faults."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

from amem.testing import ollama_replies as replies
from amem.testing.script import Script

Said: TypeAlias = str | Mapping[str, object]

_SAID = {"/api/chat": replies.chat, "/api/generate": replies.generate}
_TOLD = {"/api/embed": replies.embed, "/api/show": replies.show}
#: A slow server answers after this many seconds; a client that waits so long has no time limit.
_SLOW_SECONDS = 30


class Fault(StrEnum):
    """What may go wrong with an answer."""

    ERROR = "error"
    """Status 500 with Ollama's error body."""
    RESET = "reset"
    """The connection ends before an answer."""
    SLOW = "slow"
    """Nothing comes for half a minute."""
    TRUNCATED = "truncated"
    """The model stops half-way through its text."""
    FENCED = "fenced"
    """The model wraps its text in prose and a code fence."""


class FakeOllama:
    """``with FakeOllama(["first answer", {"keywords": []}]) as ollama:`` serves at ``ollama.host`` to the block's end.

    `answers` are what the model says, in chat and generate alike: one for every call, a list used up in order, or a
    function of the request's JSON. A mapping is said as JSON. `models` have been pulled; any other is a 404. `fault`
    may be changed at any time. `requests` keeps each (path, JSON) that came, ``format`` included.
    """

    def __init__(
        self,
        answers: Said | Sequence[Said] | Callable[[dict[str, Any]], Said] = (),
        *,
        models: Sequence[str] = ("llama3.2:latest",),
        fault: Fault | None = None,
    ) -> None:
        self.fault = fault
        self.models = list(models)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._script = Script[Said]("answers", answers)
        self._stopping = threading.Event()
        self._server = _Server(self)
        self._thread: threading.Thread | None = None

    @property
    def host(self) -> str:
        """The base URL, as ``OLLAMA_HOST`` takes it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening: from now on connections to `host` are refused."""
        self._stopping.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The JSON of every request to that path."""
        return [body for where, body in self.requests if where == path]

    def _has(self, model: str) -> bool:
        return model in self.models or f"{model}:latest" in self.models

    def _text(self, request: dict[str, Any]) -> str:
        said = self._script.next(request)
        text = said if isinstance(said, str) else json.dumps(dict(said), ensure_ascii=False)
        if self.fault is Fault.TRUNCATED:
            return text[: len(text) // 2]
        return f"Sure! Here it is:\n```json\n{text}\n```\nAnything else?" if self.fault is Fault.FENCED else text


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeOllama) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            self._send({"models": [replies.listed(name) for name in self.server.fake.models]})
        else:
            self._send({"version": "0.0.0"}, 200 if self.path in ("/", "/api/version") else 404)

    def do_POST(self) -> None:
        fake = self.server.fake
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        fake.requests.append((self.path, request))
        model = str(request.get("model") or request.get("name") or "")
        if fake.fault is Fault.SLOW:
            fake._stopping.wait(_SLOW_SECONDS)
        if fake.fault is Fault.RESET:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fake.fault is Fault.ERROR:
            self._send({"error": "llama runner process has terminated"}, 500)
        elif not fake._has(model):
            self._send({"error": f"model '{model}' not found"}, 404)
        elif self.path in _SAID:
            self._say(request)
        elif self.path in _TOLD:
            self._send(_TOLD[self.path](request))
        else:
            self._send({"error": f"no such path: {self.path}"}, 404)

    def _say(self, request: dict[str, Any]) -> None:
        try:
            text = self.server.fake._text(request)
        except LookupError as error:
            self._send({"error": str(error)}, 500)
            return
        parts = _SAID[self.path](request, text)
        if request.get("stream", True):
            self._stream(parts)
        else:
            self._send(replies.joined(parts))

    def _send(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self._start(status, "application/json", {"Content-Length": str(len(body))})
        self.wfile.write(body)

    def _stream(self, parts: list[dict[str, Any]]) -> None:
        self._start(200, "application/x-ndjson", {"Transfer-Encoding": "chunked"})
        for part in parts:
            line = json.dumps(part).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def _start(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests are kept by the server."""

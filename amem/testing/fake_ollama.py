"""A real HTTP server on loopback that speaks Ollama's protocol, with scripted answers and faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from amem.testing import replies
from amem.testing.scripted import Script
from amem.testing.willing import willing_model
from amem.testing.wire import EVENTS, NDJSON, Fault, HungUp, LoopbackServer, Wire, spoil

# The paths of `FakeOllama`: which request gets which reply, and which fault breaks it.

_SAYING = ("/api/chat", "/api/generate", "/v1/chat/completions")
_DIED = "llama runner process has terminated"
#: Faults that are a whole reply, by their status and reason.
_REFUSALS = {
    Fault.ERROR: (500, _DIED),
    Fault.BUSY: (503, "server busy, please try again. maximum pending requests exceeded"),
    Fault.LIMITED: (429, "rate limit reached, please try again later"),
    Fault.DENIED: (401, "incorrect API key provided"),
}
_NO_MANIFEST = {"error": "pull model manifest: file does not exist"}


class OllamaServer(LoopbackServer):
    """Asks `fake` what to answer."""

    def __init__(self, fake: FakeOllama, port: int) -> None:
        self.fake = fake
        super().__init__(port, _Handler)


class _Handler(Wire):
    server: OllamaServer

    def do_GET(self) -> None:
        fake = self.server.fake
        if fake.fault is Fault.NOT_OLLAMA:
            self.reply_page()
        elif self.path == "/api/tags":
            self.reply({"models": [replies.listed(name) for name in fake.models]})
        elif self.path == "/v1/models":
            self.reply(replies.models(fake.models))
        else:
            self.reply({"version": "0.12.0"}, 200 if self.path in ("/", "/api/version") else 404)

    def do_DELETE(self) -> None:
        request = self.read_json()
        known = self._known(request)
        if self.path == "/api/delete" and known:
            self.server.fake.models.remove(known)
            self.reply({})
        else:
            self._not_found(request)

    def do_POST(self) -> None:
        fake = self.server.fake
        request = self.read_json()
        fake.requests.append((self.path, request))
        try:
            self._answer(request)
        except (HungUp, OSError):
            self.close_connection = True
            if not self.server.stopping.is_set():
                fake.hung_up += 1

    def _answer(self, request: dict[str, Any]) -> None:
        known = self._known(request)
        if self.path in _SAYING and known:
            self._say(request)
        elif self._broken(self.server.fake.fault):
            return
        elif self.path == "/api/pull":
            self._pull(request)
        elif not known:
            self._not_found(request)
        elif self.path == "/api/embed":
            self.reply(replies.embed(request))
        elif self.path == "/v1/embeddings":
            self.reply(replies.embeddings(request))
        elif self.path == "/api/show":
            self.reply(replies.show(known, self.server.fake.context))
        else:
            self._refuse(404, f"no such path: {self.path}")

    def _say(self, request: dict[str, Any]) -> None:
        try:
            text, fault = self.server.fake.next_answer(request)
        except Exception as error:  # the script is the test's own; whatever is wrong with it has to be seen
            self._refuse(500, f"{type(error).__name__}: {error}")
            return
        streamed = bool(request.get("stream", not self._openai))
        if self._broken(Fault.ERROR if fault is Fault.FAILING and not streamed else fault):
            return
        complete = fault is not Fault.TRUNCATED
        if self._openai:
            parts = replies.chunks(request, text, complete=complete)
        else:
            reply = replies.chat if self.path == "/api/chat" else replies.generate
            parts = reply(request, text, complete=complete)
        if streamed:
            if self._stream(parts, fault):
                self.end()
            return
        if fault is Fault.TRICKLE:  # the whole takes as long as its pieces would
            self.pause(self.server.fake.pace * (len(parts) - 1))
        whole = replies.completion(request, text, complete=complete) if self._openai else None
        self.reply(whole or replies.joined(parts), cut=fault is Fault.CUT)

    def _pull(self, request: dict[str, Any]) -> None:
        fake = self.server.fake
        name = str(request.get("model") or request.get("name") or "")
        name = name if ":" in name else f"{name}:latest"
        *progress, success = replies.pulled(name)
        found, streamed = name in fake.library, request.get("stream", True)
        if streamed and not self._stream(progress if found else progress[:1], fake.fault):
            return
        if found and name not in fake.models:
            fake.models.insert(0, name)  # before the last part says that it is there
        last = success if found else _NO_MANIFEST
        if streamed:
            self.part(last)
            self.end()
        else:
            self.reply(last, 200 if found else 500)

    def _stream(self, parts: Sequence[dict[str, Any]], fault: Fault | None) -> bool:
        """Begin a stream with these parts; False when the fault broke it off."""
        self.begin(EVENTS if self._openai else NDJSON)
        for number, part in enumerate(parts):
            if number and fault is Fault.TRICKLE:
                self.pause(self.server.fake.pace)
            if fault in (Fault.CUT, Fault.FAILING) and 2 * number >= len(parts):
                if fault is Fault.FAILING:
                    self.part(replies.refusal(_DIED) if self._openai else {"error": _DIED})
                    self.end()
                return False
            self.part(part)
        return True

    def _broken(self, fault: Fault | None) -> bool:
        """Break as `fault` says before anything is said; False when there is something to say."""
        if fault is Fault.SLOW:
            self.pause(None)
        elif fault is Fault.RESET:
            self.reset()
        elif fault is Fault.NOT_OLLAMA:
            self.reply_page()
        elif fault in _REFUSALS:
            status, reason = _REFUSALS[fault]
            if fault is Fault.DENIED:
                reason += f": {self.headers.get('Authorization', '').removeprefix('Bearer ')}"
            wait = {"Retry-After": f"{self.server.fake.retry_after:g}"} if status in (429, 503) else None
            self._refuse(status, reason, wait)
        else:
            return False
        return True

    @property
    def _openai(self) -> bool:
        return self.path.startswith("/v1/")

    def _known(self, request: dict[str, Any]) -> str | None:
        """The pulled model that a request names; without a tag, ``:latest`` is meant."""
        name = str(request.get("model") or request.get("name") or "")
        return next((known for known in self.server.fake.models if known in (name, f"{name}:latest")), None)

    def _not_found(self, request: dict[str, Any]) -> None:
        self._refuse(404, f"model '{request.get('model') or request.get('name') or ''}' not found")

    def _refuse(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        self.reply(replies.refusal(reason) if self._openai else {"error": reason}, status, headers)


Said: TypeAlias = str | Mapping[str, object]


class FakeOllama:
    """``with FakeOllama(["first answer", {"keywords": []}]) as ollama:`` serves at ``ollama.host`` to the block's end.

    `answers` are what the model says, in chat and generate alike: one for every call, a list used up in order, or a
    function of the request's JSON (`willing_model` unless told otherwise). A mapping is said as JSON. A `Fault` among
    them is that one call's fault, as in ``[Fault.ERROR, "well again"]``; what it spoils is `willing_model`'s answer.

    `models` have been pulled; any other is a 404 until ``/api/pull`` fetches it, which works for those in `library`.
    ``/api/show`` says that every model reads `context` tokens.

    May be changed at any time: `fault` (for every call), `pace` (seconds between the pieces of `Fault.TRICKLE`),
    `retry_after` (what `Fault.BUSY` and `Fault.LIMITED` ask for, in seconds), `models` and `library`.

    Faults concern what is posted: the lists of models and the version are told as ever, save by `Fault.NOT_OLLAMA`.
    Tokens are counted as words.

    `requests` keeps each (path, JSON) that came, ``format`` included; `hung_up` counts the answers whose client left
    before their end. The same server speaks OpenAI's protocol at ``ollama.host + "/v1"``.
    """

    def __init__(
        self,
        answers: Said | Sequence[Said] | Callable[[dict[str, Any]], Said] = willing_model,
        *,
        models: Sequence[str] = ("llama3.2:latest",),
        library: Sequence[str] = ("llama3.2:latest", "qwen3:4b", "nomic-embed-text:latest"),
        context: int = 8192,
        fault: Fault | None = None,
        pace: float = 0.05,
        retry_after: float = 1,
    ) -> None:
        self.fault = fault
        self.pace = pace
        self.retry_after = retry_after
        self.models = list(models)
        self.library = list(library)
        self.context = context
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.hung_up = 0
        self._script = Script[Said]("answers", answers)
        self._server: OllamaServer | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    @property
    def host(self) -> str:
        """The base URL, as ``OLLAMA_HOST`` takes it. The port stays the same when the server stops and starts again."""
        if not self._port:
            raise RuntimeError("a FakeOllama has no address before it is started")
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen, after a `stop` on the port of before. Nothing happens to a server that runs."""
        if self._server is not None:
            return
        self._server = OllamaServer(self, self._port)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening and break off what is being said: from now on connections to `host` are refused."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is None or thread is None:
            return
        server.break_off()
        server.shutdown()
        thread.join()
        server.server_close()

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The JSON of every request to that path."""
        return [body for where, body in self.requests if where == path]

    def next_answer(self, request: dict[str, Any]) -> tuple[str, Fault | None]:
        """What the model says to a request, and what goes wrong with it. Raises what the
        script raises: LookupError when nothing is left."""
        said = self._script.next(request)
        fault = self.fault
        if isinstance(said, Fault):
            fault, said = said, willing_model(request)
        text = said if isinstance(said, str) else json.dumps(dict(said), ensure_ascii=False)
        return spoil(fault, text), fault

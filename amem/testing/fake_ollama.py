"""A real HTTP server on loopback that speaks Ollama's protocol, with scripted answers and faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from amem.testing.faults import Fault, spoil
from amem.testing.ollama_server import OllamaServer
from amem.testing.script import Script
from amem.testing.willing import willing_model

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

"""One call to a model server: bounds on its time and size, no redirects to others, secrets masked in its errors.

A socket's own timeout begins anew with every byte, a line may have no end, a redirect takes the prompt along to
whomever it names, and an error may quote the key. So every call, Ollama's and those that LiteLLM makes, is followed
from its first connection to its last byte.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, Cancelled, MissingModel, ServiceUnavailable
from amem.labels import visible, visible_name

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator


#: Bytes of an answer where nobody says otherwise.
MOST_BYTES = 8_000_000
#: Characters of a server's words that an error quotes.
_QUOTED = 200
#: Variables that hold a secret by their name, and values too short to be one.
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_LEAST_SECRET = 6
_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")

#: The call that this thread makes through LiteLLM.
_CURRENT: ContextVar[ServerCall | None] = ContextVar("_CURRENT", default=None)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`seconds` for a whole answer, `silence` for the wait for its next part, None for no bound; `size` in bytes."""

    seconds: float | None = None
    silence: float | None = None
    size: int = MOST_BYTES


class ServerCall:
    """One call to `who` over connections of its own, within `bounds`, by an httpx client with the hooks `follow` and
    `receive`.

    Closing a socket does not wake a thread that waits for it; shutting it down does. httpx tells of the sockets it
    opens through its request tracing, also before any answer has come.
    """

    def __init__(self, who: str, bounds: Bounds) -> None:
        self._who = who
        self._bounds = bounds
        self._lock = threading.Lock()
        self._sockets: list[Any] = []
        self._over = threading.Event()
        #: Why the call was ended from this side; None when it was not.
        self.failure: AmemError | None = None
        self._began: float | None = None
        self._heard = 0.0
        self._size = 0

    def break_off(self) -> None:
        """End the call: whoever waits for it sees the connection reset. May be repeated, and come from any thread."""
        self._end(Cancelled(f"the call to {self._who} was called off"))

    def heard(self, *, anew: bool = False) -> None:
        """A part of the answer came: the silence is over. `anew` begins to count its bytes again, too."""
        self._heard = time.monotonic()
        if anew:
            self._size = 0

    def over(self) -> None:
        """The call has come to its end."""
        self._over.set()

    def follow(self, request: Any) -> None:
        """Hear of the connections of a request, as httpx's hook; with the first one the time begins to run."""
        if self._began is None:
            self._began = self._heard = time.monotonic()
            if self._bounds.seconds is not None or self._bounds.silence is not None:
                threading.Thread(target=self._look_after, name="amem-deadline", daemon=True).start()
        request.extensions["trace"] = self._trace
        # A connection that was open before has a socket that nobody told of; and a small answer packed may be a
        # large one unpacked.
        request.headers["Connection"] = "close"
        request.headers["Accept-Encoding"] = "identity"

    def receive(self, response: Any) -> None:
        """Refuse an answer that leads elsewhere or is packed, and count the bytes of any other, as httpx's hook."""
        if response.has_redirect_location and (there := _elsewhere(response)):
            raise self._ended(
                f"{self._who} sends on to {quoted(there)}, to which nothing was sent",
                "if you trust that server, set ollama_host or api_base to it",
            )
        packed = response.headers.get("Content-Encoding", "identity").strip().lower()
        if packed != "identity":
            raise self._ended(f"{self._who} packs its answer ({quoted(packed)}), unasked", "see what listens there")

        response.stream = _counted(response.stream, self._count)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._bounds.size:
            raise self._ended(
                f"{self._who} answered with more than {self._bounds.size:,} bytes",
                "see what listens there; llm_answer_bytes (AMEM_LLM_ANSWER_BYTES) is the limit",
            )

    def _trace(self, event: str, told: dict[str, Any]) -> None:
        # Encryption wraps the connection in another socket, which is the one to shut then.
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            opened = told["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.append(opened)
                if self.failure is not None:
                    _shut(opened)

    def _look_after(self) -> None:
        while True:
            bounds = self._bounds
            left = [
                (since + seconds - time.monotonic(), seconds)
                for since, seconds in ((self._began, bounds.seconds), (self._heard, bounds.silence))
                if since is not None and seconds is not None
            ]
            soonest, seconds = min(left)
            if soonest <= 0:
                self._end(late(self._who, seconds))
                return
            if self._over.wait(soonest):
                return

    def _ended(self, what: str, hint: str) -> AmemError:
        self._end(ServiceUnavailable(what, hint=hint))
        assert self.failure is not None
        return self.failure

    def _end(self, failure: AmemError) -> None:
        with self._lock:
            self.failure = self.failure or failure
            for each in self._sockets:
                _shut(each)


class ServerCalls:
    """The calls under way in all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[ServerCall] = set()

    @contextlib.contextmanager
    def begin(self, who: str, bounds: Bounds) -> Iterator[ServerCall]:
        """A new call, under way until the block ends."""
        call = ServerCall(who, bounds)
        with self._lock:
            self._open.add(call)
        try:
            yield call
        finally:
            call.over()
            with self._lock:
                self._open.discard(call)

    def break_off(self) -> None:
        """Break off every call that is under way now."""
        with self._lock:
            calls = list(self._open)
        for call in calls:
            call.break_off()


@contextlib.contextmanager
def made_within(call: ServerCall) -> Iterator[None]:
    """What clients with `watch` hooks ask for in the block, in this thread, is part of the call."""
    token = _CURRENT.set(call)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def watch(client: Any) -> None:
    """Make an httpx client tell the current call, if there is one, of its requests and responses."""
    if _follow in client.event_hooks["request"]:
        return
    client.event_hooks = {
        "request": [*client.event_hooks["request"], _follow],
        "response": [*client.event_hooks["response"], _receive],
    }


def late(who: str, seconds: float) -> ServiceUnavailable:
    """The error of a server that took longer than it may."""
    return ServiceUnavailable(
        f"{who} did not answer within {seconds:g} seconds",
        hint="raise llm_timeout (AMEM_LLM_TIMEOUT) or take a smaller model",
    )


def masked(text: str, *secrets: str | None) -> str:
    """The text without any secret that is known.

    Known are `secrets`, the variables of the environment that hold keys, and what stands before the host in a URL.
    """
    held = [value for name, value in os.environ.items() if _SECRET_NAME.search(name)]
    for secret in sorted({*held, *filter(None, secrets)}, key=len, reverse=True):
        if len(secret) >= _LEAST_SECRET:
            text = text.replace(secret, "***")
    return _IN_URL.sub("***", text)


class VisibleLines(logging.Formatter):
    """Lines of a log, tracebacks too, that drive no terminal and hold no secret: they may quote a note or a server."""

    def __init__(self, pattern: str, *secrets: str) -> None:
        super().__init__(pattern)
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return visible(masked(super().format(record), *self._secrets))


def quoted(said: object, *secrets: str | None) -> str:
    """A server's words in an error: one visible line of at most 200 characters, `masked`."""
    text = said if isinstance(said, str) else ""
    return visible_name(" ".join(masked(text, *secrets).split()))[:_QUOTED]


def _follow(request: Any) -> None:
    if (call := _CURRENT.get()) is not None:
        call.follow(request)


def _receive(response: Any) -> None:
    if (call := _CURRENT.get()) is not None:
        call.receive(response)


def _counted(received: Any, count: Callable[[int], None]) -> Any:
    """The stream of a response, whose chunks are counted as they arrive."""
    import httpx

    class Counted(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for chunk in received:
                count(len(chunk))
                yield chunk

        def close(self) -> None:
            received.close()

    return Counted()


def _elsewhere(response: Any) -> str:
    """The scheme, host and port that a redirect names; '' where they are those that were asked."""
    import httpx

    try:
        there = response.url.join(response.headers["Location"])
    except (httpx.InvalidURL, ValueError):
        return "an address that is none"
    if _origin(there) == _origin(response.url):
        return ""
    return f"{there.scheme}://{there.netloc.rpartition(b'@')[2].decode('ascii', 'replace')}"


def _origin(url: Any) -> tuple[str, str, int | None]:
    usual = {"http": 80, "https": 443}
    return url.scheme, url.host, url.port or usual.get(url.scheme)


def _shut(each: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already: there is nothing left to wait for
        each.shutdown(socket.SHUT_RDWR)


#: A server that is there accepts a connection long before this; one that is busy still does.
_CONNECT_SECONDS = 5.0


class OllamaServer:
    """The server at `host`. Each call has a connection of its own, so that it can be broken off alone and none is left
    open.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self._calls = ServerCalls()
        self._lock = threading.Lock()
        self._encryption: ssl.SSLContext | None = None

    def break_off(self) -> None:
        """End the calls that are under way, in whatever thread: they raise Cancelled."""
        self._calls.break_off()

    @contextmanager
    def call(self, model: str, bounds: Bounds) -> Iterator[tuple[Any, ServerCall]]:
        """A client of the ``ollama`` package for one call about `model` within `bounds`, and the call.

        Whatever it raises leaves the block as ServiceUnavailable, MissingModel or, when the call was broken off,
        Cancelled.
        """
        import httpx
        import ollama

        with self._calls.begin(f"ollama/{model}", bounds) as call:
            silence = bounds.silence or bounds.seconds
            limits = httpx.Timeout(silence, connect=min(silence or _CONNECT_SECONDS, _CONNECT_SECONDS))
            hooks = {"request": [call.follow], "response": [call.receive]}
            client: Any = ollama.Client(self.host, timeout=limits, verify=self._verified(), event_hooks=hooks)
            try:
                yield client, call
            except (
                ollama.ResponseError,
                httpx.HTTPError,
                ConnectionError,
                ValueError,
                TypeError,
                AttributeError,
                RecursionError,
            ) as error:
                nobody = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError))
                if call.failure is not None and (not nobody or isinstance(call.failure, Cancelled)):
                    raise call.failure from error
                raise self._meaning(error, model, silence) from error
            finally:
                client.close()

    def broke_off(self, model: str) -> ServiceUnavailable:
        """The error of an answer without an end."""
        return ServiceUnavailable(
            f"Ollama at {self.host} broke off before ollama/{model} had answered",
            hint="see Ollama's log; a model that does not fit into memory ends like this",
            passing=True,
        )

    def lacks(self, model: str) -> MissingModel:
        """The error of a model that was not pulled."""
        return MissingModel(
            f"Ollama at {self.host} does not have the model {model}", hint=f"run `amem models pull {model}`"
        )

    def absent(self) -> ServiceUnavailable:
        """The error when nobody listens."""
        return ServiceUnavailable(
            f"no Ollama answers at {self.host}", hint="start it with `ollama serve`, or set ollama_host (OLLAMA_HOST)"
        )

    def _meaning(self, error: Exception, model: str, silence: float | None) -> AmemError:
        import httpx
        import ollama

        if isinstance(error, ollama.ResponseError):
            return self._refused(error, model)
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError)):
            return self.absent()
        if isinstance(error, httpx.TimeoutException):
            return late(f"ollama/{model}", silence or _CONNECT_SECONDS)
        if isinstance(error, httpx.HTTPError):
            return self.broke_off(model)
        # json's, pydantic's and the package's own errors about a body that is not Ollama's, or is nested too deeply
        return ServiceUnavailable(
            f"what listens at {self.host} does not answer like Ollama", hint="check ollama_host (OLLAMA_HOST)"
        )

    def _refused(self, error: Any, model: str) -> AmemError:
        status = int(error.status_code)
        if status == 404:
            return self.lacks(model)
        if status in (401, 403):
            # The server's own words may repeat the key.
            return ServiceUnavailable(
                f"Ollama at {self.host} wants a key that it accepts", hint="set OLLAMA_API_KEY, or another ollama_host"
            )
        # An error in the middle of a stream has no status of its own: the runner behind the server died.
        in_passing = status < 0 or status == 429 or status >= 500
        reason = quoted(error.error) or status
        return ServiceUnavailable(
            f"Ollama at {self.host} could not answer with {model}: {reason}",
            hint=f"see Ollama's log, or try `ollama run {model}`",
            passing=in_passing,
        )

    def _verified(self) -> ssl.SSLContext:
        import httpx

        with self._lock:
            if self._encryption is None:
                self._encryption = httpx.create_ssl_context()  # takes longer than all else that a call needs
            return self._encryption

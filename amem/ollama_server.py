"""Calls to an Ollama server through its own Python package, and what their failures mean."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, Cancelled, MissingModel, ServiceUnavailable
from amem.server_call import ServerCalls, late, quoted

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from amem.server_call import Bounds, ServerCall

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
            client: Any = ollama.Client(self.host, timeout=limits, verify=self._verified(), **call.httpx_options)
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

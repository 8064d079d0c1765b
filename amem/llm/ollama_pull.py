"""Fetching a model into Ollama, with its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.llm.names import ollama_name
from amem.ollama_server import OllamaServer
from amem.server_call import Bounds, quoted

if TYPE_CHECKING:
    from collections.abc import Generator

_GOES_ON = "run it again: Ollama goes on where it stopped"
#: Seconds that a pull may be silent.
_SILENCE = 900.0


@dataclass(frozen=True, slots=True)
class Pulling:
    """How far a pull is: what Ollama does at the moment, and bytes over all layers that it has named so far."""

    status: str
    done: int
    total: int


def pull(host: str, name: str) -> Generator[Pulling, None, None]:
    """Have Ollama at `host` fetch the model `name` (``ollama/`` in front of it is fine).

    Raises MissingModel when Ollama finds no model of that name, InvalidInput for one of another backend, and
    ServiceUnavailable when no Ollama answers or the download breaks off; what was fetched is kept.
    """
    return _pulling(OllamaServer(host), ollama_name(name))


def _pulling(server: OllamaServer, model: str) -> Generator[Pulling, None, None]:
    import ollama

    layers: dict[str, tuple[int, int]] = {}
    # A large model takes hours, and checking it minutes without a word; each line has a bound, not all of them.
    with server.call(model, Bounds(silence=_SILENCE)) as (client, call):
        try:
            for part in client.pull(model, stream=True):
                call.heard(anew=True)
                if part.digest:
                    layers[part.digest] = (_bytes(part.completed), _bytes(part.total))
                done, total = (sum(column) for column in zip(*layers.values(), strict=True)) if layers else (0, 0)
                yield Pulling(quoted(part.status), done, total)
                if part.status == "success":
                    return
        except ollama.ResponseError as error:
            raise _refused(server.host, model, quoted(error.error)) from error
        except _broken() as error:
            raise call.failure or _broke_off(server.host, model) from error
    raise call.failure or _broke_off(server.host, model)


def _bytes(told: int | None) -> int:
    """Bytes of a layer as Ollama tells them; 0 for what no file has."""
    return told if told is not None and 0 <= told < 2**53 else 0


def _broken() -> tuple[type[Exception], ...]:
    import httpx

    return (httpx.ReadError, httpx.RemoteProtocolError)


def _broke_off(host: str, model: str) -> ServiceUnavailable:
    return ServiceUnavailable(f"Ollama at {host} broke off while it pulled {model}", hint=_GOES_ON, passing=True)


def _refused(host: str, model: str, reason: str) -> AmemError:
    if "manifest" in reason and any(sign in reason for sign in ("not exist", "not found", "unknown")):
        return MissingModel(
            f"Ollama finds no model {model}", hint="names look like llama3.2 or qwen3:4b; check this one"
        )
    return ServiceUnavailable(f"Ollama at {host} could not pull {model}: {reason}", hint=_GOES_ON, passing=True)

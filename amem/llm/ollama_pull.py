"""Fetching a model into Ollama, with its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.llm.names import ollama_name
from amem.llm.ollama_server import OllamaServer

if TYPE_CHECKING:
    from collections.abc import Generator

_GOES_ON = "run it again: Ollama goes on where it stopped"


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
    return _pulling(OllamaServer(host, timeout=None), ollama_name(name))


def _pulling(server: OllamaServer, model: str) -> Generator[Pulling, None, None]:
    import ollama

    layers: dict[str, tuple[int, int]] = {}
    with server.call(model) as client:
        try:
            for part in client.pull(model, stream=True):
                if part.digest:
                    layers[part.digest] = (part.completed or 0, part.total or 0)
                done, total = (sum(column) for column in zip(*layers.values(), strict=True)) if layers else (0, 0)
                yield Pulling(part.status or "", done, total)
                if part.status == "success":
                    return
        except ollama.ResponseError as error:
            raise _refused(server.host, model, str(error.error)) from error
        except _broken() as error:
            raise _broke_off(server.host, model) from error
    raise _broke_off(server.host, model)


def _broken() -> tuple[type[Exception], ...]:
    import httpx

    return (httpx.ReadError, httpx.RemoteProtocolError)


def _broke_off(host: str, model: str) -> ServiceUnavailable:
    return ServiceUnavailable(f"Ollama at {host} broke off while it pulled {model}", hint=_GOES_ON, passing=True)


def _refused(host: str, model: str, reason: str) -> AmemError:
    said = " ".join(reason.split())[:200]
    if "manifest" in said and any(sign in said for sign in ("not exist", "not found", "unknown")):
        return MissingModel(
            f"Ollama finds no model {model}", hint="names look like llama3.2 or qwen3:4b; check this one"
        )
    return ServiceUnavailable(f"Ollama at {host} could not pull {model}: {said}", hint=_GOES_ON, passing=True)

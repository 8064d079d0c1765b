"""The models of an Ollama server, and fetching one, without importing its package."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.labels import is_plain_name
from amem.llm.model_names import ollama_name
from amem.server_call import Bounds, OllamaServer, quoted

if TYPE_CHECKING:
    from collections.abc import Generator


# Asking an Ollama server which models it has, without importing its package.

#: Long enough for a server on this machine or in this house, too short to be felt when there is none.
PROBE_SECONDS = 0.3
_LARGEST_ANSWER = 4_000_000
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model that Ollama lists: `size` in bytes; `remote` when Ollama would ask a service on the network for it."""

    name: str
    chats: bool
    remote: bool
    size: int = 0

    def called(self, name: str) -> bool:
        """Whether `name` means this model; without a tag, ``:latest`` is meant."""
        return self.name in (name, f"{name}:latest")


def chat_models(host: str, timeout: float = PROBE_SECONDS) -> list[str] | None:
    """Names of the models at `host` that can chat, newest first as Ollama lists them; None when no Ollama answers.

    Models that only embed are left out, and so are those that Ollama would ask a remote service for: whoever lets amem
    choose does not expect notes to leave the machine.
    """
    found = models(host, timeout)
    return None if found is None else [model.name for model in found if model.chats and not model.remote]


def models(host: str, timeout: float = PROBE_SECONDS) -> list[OllamaModel] | None:
    """Every model at `host`, newest first; None when no Ollama answers."""
    listed = _ask(host, "GET", "/api/tags", None, timeout).get("models")
    if not isinstance(listed, list):
        return None
    named = [model for model in listed if isinstance(model, dict) and _is_name(model.get("name"))]
    return [OllamaModel(str(each["name"]), _chats(each), _remote(each), _whole(each.get("size"))) for each in named]


def window(host: str, name: str, timeout: float = PROBE_SECONDS) -> int:
    """How many tokens the model can read at most; 0 when Ollama does not say."""
    info = _ask(host, "POST", "/api/show", {"model": name}, timeout).get("model_info")
    if not isinstance(info, dict):
        return 0
    return max((_whole(value) for key, value in info.items() if key.endswith(".context_length")), default=0)


def _ask(host: str, method: str, path: str, body: dict[str, Any] | None, timeout: float) -> dict[str, Any]:
    """The JSON object that Ollama answers; an empty one when what listens there, if anything, is no Ollama.

    All of it, from looking the name up to the last byte, takes `timeout` seconds at most: a socket's own timeout begins
    anew with every byte, so that whatever lets its answer drip would hold up the first note for minutes.
    """
    try:
        address = urlsplit(host)
        secure = address.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(address.hostname or "", address.port or (443 if secure else 80), timeout=timeout)
    except (ValueError, http.client.InvalidURL):
        return {}
    answers: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def exchange() -> None:
        answers.put(_exchange(connection, method, f"{address.path.rstrip('/')}{path}", body))

    threading.Thread(target=exchange, name="amem-probe", daemon=True).start()
    try:
        return answers.get(timeout=timeout)
    except Empty:
        opened = connection.sock
        if opened is not None:
            with contextlib.suppress(OSError):  # closed by now: the thread is at its end already
                opened.shutdown(socket.SHUT_RDWR)
        return {}


def _exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: dict[str, Any] | None
) -> dict[str, Any]:
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Accept": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read(_LARGEST_ANSWER)) if response.status == 200 else {}
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return {}
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else {}


def _chats(model: dict[str, Any]) -> bool:
    capabilities = model.get("capabilities")
    if isinstance(capabilities, list) and capabilities:
        return "completion" in capabilities
    details = model.get("details")
    family = str(details.get("family", "")) if isinstance(details, dict) else ""
    name = str(model["name"]).rpartition("/")[2]
    return "bert" not in family and "embed" not in name and not name.startswith(("bge-", "all-minilm"))


def _remote(model: dict[str, Any]) -> bool:
    return bool(model.get("remote_host")) or str(model["name"]).endswith(("-cloud", ":cloud"))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and is_plain_name(value)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else 0


# Fetching a model into Ollama, with its progress.

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

"""Asking an Ollama server which chat models it has, without importing its package."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

#: Long enough for a server on this machine or in this house, too short to be felt when there is none.
PROBE_SECONDS = 0.3
_LARGEST_ANSWER = 4_000_000


def chat_models(host: str, timeout: float = PROBE_SECONDS) -> list[str] | None:
    """Names of the models at `host` that can chat, newest first as Ollama lists them; None when no Ollama answers.

    Models that only embed are left out, and so are those that Ollama would ask a remote service for: whoever lets amem
    choose does not expect notes to leave the machine.
    """
    listed = _listed(host, timeout)
    if listed is None:
        return None
    return [str(model["name"]) for model in listed if model.get("name") and _chats(model) and not _remote(model)]


def _listed(host: str, timeout: float) -> list[dict[str, Any]] | None:
    try:
        address = urlsplit(host)
        secure = address.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(address.hostname or "", address.port or (443 if secure else 80), timeout=timeout)
    except (ValueError, http.client.InvalidURL):
        return None
    try:
        connection.request("GET", f"{address.path.rstrip('/')}/api/tags", headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return None
        models = json.loads(response.read(_LARGEST_ANSWER))["models"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None  # whatever listens there, it is no Ollama
    finally:
        connection.close()
    return [model for model in models if isinstance(model, dict)] if isinstance(models, list) else None


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

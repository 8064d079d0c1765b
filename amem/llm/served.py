"""Where a model runs: what is served from this machine thinks about one thing at a time."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from amem.llm.names import is_ollama

if TYPE_CHECKING:
    from amem.settings import Settings


def served_here(model: str, settings: Settings) -> bool:
    """True when the model of that full name is asked over loopback; a hosted one (no ``api_base``) is elsewhere."""
    url = settings.ollama_host if is_ollama(model) else settings.api_base
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

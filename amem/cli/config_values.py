"""What `amem config set` refuses beyond what a setting's type says: names that no model, folder, address or theme has.

Only what this machine knows is asked: a name in the right form may still be one that its server or hub does not have.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

_HUB = re.compile(r"[\w.-]+/[\w.-]+")
_DURATION = re.compile(r"-?\d+|-?(\d+(\.\d+)?(h|m|s|ms))+")


def check_value(name: str, value: str) -> None:
    """Raise InvalidInput, with the forms there are, for a value that this setting cannot have. An empty one passes."""
    if value.strip() and (check := _CHECKS.get(name)) is not None:
        check(name, value)


def _embedding_model(name: str, value: str) -> None:
    from amem.embedding.embedder_choice import check_name

    check_name(value)


def _cross_encoder(name: str, value: str) -> None:
    folder = Path(value).expanduser()
    if not ((folder / "config.json").is_file() if folder.is_dir() else _HUB.fullmatch(value)):
        raise InvalidInput(
            f"{name}: there is no cross-encoder {value!r}",
            hint="name it as organisation/model, for example cross-encoder/ms-marco-MiniLM-L6-v2, or give its folder",
        )


def _chat_model(name: str, value: str) -> None:
    if "://" in value or any(char.isspace() for char in value):
        raise InvalidInput(
            f"{name}: {value!r} is no name of a model",
            hint="names look like llama3.2, qwen3:4b, openai/gpt-4o-mini or anthropic/claude-3-5-haiku-latest",
        )


def _folder(name: str, value: str) -> None:
    path = Path(value).expanduser()
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{name}: {value} is a file", hint="name a folder, or one that is not there yet")


def _collection(name: str, value: str) -> None:
    from amem.collection import folder_of

    folder_of(Path(), value)


def _address(name: str, value: str) -> None:
    from urllib.parse import urlsplit

    found = urlsplit(value if "://" in value or name == "api_base" else f"http://{value}")
    try:
        usable = found.scheme in ("http", "https") and found.hostname and found.port != 0 and " " not in value
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        form = "https://models.example.com/v1" if name == "api_base" else "http://127.0.0.1:11434 or host:port"
        raise InvalidInput(f"{name}: {value!r} is no address", hint=f"give it as {form}")


def _theme(name: str, value: str) -> None:
    from amem_tui.themes import known_theme

    known_theme(value)


def _duration(name: str, value: str) -> None:
    if not _DURATION.fullmatch(value):
        raise InvalidInput(f"{name}: {value!r} is no length of time", hint="give it as 90s, 15m, 1h, or -1 for ever")


_CHECKS: dict[str, Callable[[str, str], None]] = {
    "embed_model": _embedding_model,
    "rerank_model": _cross_encoder,
    "nli_model": _cross_encoder,
    "llm_model": _chat_model,
    "home": _folder,
    "cache": _folder,
    "collection": _collection,
    "api_base": _address,
    "ollama_host": _address,
    "tui_theme": _theme,
    "llm_keep_alive": _duration,
}

"""Where each setting's value came from, for ``amem config``."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dotenv import dotenv_values
from pydantic import AliasChoices, SecretStr

from amem.settings import Settings, default_home

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from amem.cli.context import Invocation

_MASK = "********"


@dataclass(frozen=True, slots=True)
class Configured:
    """A setting with its JSON-ready value (secrets masked) and its origin in words."""

    name: str
    value: Any
    origin: str


def configured(call: Invocation) -> list[Configured]:
    """Every setting, in the order of `Settings`."""
    settings = call.settings()
    # As load_settings does: the files of the home that was asked for, not of the one they may name.
    root = default_home() if call.home is None else settings.home
    places = _places(call, root)
    return [Configured(name, _shown(getattr(settings, name)), _origin(name, places)) for name in Settings.model_fields]


def _places(call: Invocation, root: Path) -> list[tuple[str, frozenset[str]]]:
    """(place in words, names given there in lower case), the one that wins first."""
    from pathlib import Path

    given = {"--home": call.home, "--collection": call.collection}
    arguments = {name.removeprefix("--") for name, value in given.items() if value is not None}
    env_file = Path(call.env_file) if call.env_file is not None else root / ".env"
    toml = root / "config.toml"
    return [
        ("argument", frozenset(arguments)),
        ("environment", _lower(os.environ)),
        (str(env_file), _lower(dotenv_values(env_file, encoding="utf-8") if env_file.is_file() else ())),
        (str(toml), _lower(tomllib.loads(toml.read_text(encoding="utf-8")) if toml.is_file() else ())),
    ]


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _origin(name: str, places: list[tuple[str, frozenset[str]]]) -> str:
    for place, names in places:
        by_field = place == "argument" or place.endswith("config.toml")
        if not names.isdisjoint({name} if by_field else _variables(name)):
            return place
    return "default"


def _variables(name: str) -> set[str]:
    alias = Settings.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return {choice.lower() for choice in alias.choices if isinstance(choice, str)} - {name}
    return {f"amem_{name}"}


def _shown(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return _MASK
    return value if value is None or isinstance(value, bool | int | float) else str(value)

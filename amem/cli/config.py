"""Settings, where each came from, and getting ready: ``amem config``, ``setup`` and ``path``."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from amem.cli.command import Shown, Table, command
from amem.cli.invocation import Invocation, tell
from amem.cli.options import argument
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from amem.settings import Settings


_MASK = "********"
_HELP = "List, read and change settings: config, config get KEY, config set KEY VALUE."


class ConfigGroup(TyperGroup):
    """Takes ``amem config NAME...`` for ``amem config get NAME...``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["get", *args])


config = typer.Typer(cls=ConfigGroup, help=_HELP, invoke_without_command=True)
Key = Annotated[str, argument("KEY", "A setting, such as llm_model.")]


@config.callback()
@config.command("list")
@command()
def list_settings(call: Invocation) -> Shown:
    """List every setting, its value and where that came from."""
    return _settings(configured(call))


@config.command("get")
@command()
def get_settings(call: Invocation, keys: Annotated[list[str], argument("KEY", "Names of settings.")]) -> Shown:
    """Print these settings, their values and where those came from."""
    names = [setting_name(key) for key in keys]
    # In the order of the settings, each once.
    return _settings([each for each in configured(call) if each.name in names])


# A value may begin with a minus: -1 for ever.
@config.command("set", context_settings={"ignore_unknown_options": True})
@command()
def set_setting(
    call: Invocation,
    key: Key,
    value: Annotated[str, argument("", "Its value; - reads it from standard input, as for a key.")],
) -> Shown:
    """Set a setting in the home's .env (or the file of --env-file). A value that cannot be used is refused."""
    from amem.env_file import read_env, with_key, write_env
    from amem.settings import variables

    name, path = setting_name(key), _env_file(call)
    if value == "-":
        value = sys.stdin.read().rstrip("\n")
    variable, *others = variables(name)
    text = with_key(read_env(path), variable, value, others)
    if _given_in(text).get(variable) != value:
        raise InvalidInput(f"an env file cannot hold this value of {name}", hint="leave ${ and control characters out")
    _check(call, name, text)
    check_value(name, value)
    write_env(path, text)
    return _changed(call, name, path, is_set=True)


@config.command("unset")
@command()
def unset_setting(call: Invocation, key: Key) -> Shown:
    """Remove a setting from the home's .env (or the file of --env-file), so that its default holds again."""
    from amem.env_file import read_env, without_keys, write_env
    from amem.settings import variables

    name, path = setting_name(key), _env_file(call)
    before = read_env(path)
    text = without_keys(before, variables(name))
    if text != before:
        write_env(path, text)
    elif not call.as_json:
        tell(f"{name} is not set in {path}")
    return _changed(call, name, path)


@dataclass(frozen=True, slots=True)
class Configured:
    """A setting with its JSON-ready value (secrets masked) and its origin in words."""

    name: str
    value: Any
    origin: str

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "value": self.value, "from": self.origin}


def configured(call: Invocation) -> list[Configured]:
    """Every setting, in the order of `Settings`."""
    from amem.settings import Settings

    settings = call.settings()
    places = _places(call, _root(call), settings)
    return [Configured(name, _value(settings, name), _origin(name, places)) for name in Settings.model_fields]


def setting_name(key: str) -> str:
    """The setting that is meant by ``llm_model``, ``llm-model`` or ``AMEM_LLM_MODEL``. Raises InvalidInput."""
    from amem.settings import Settings, unknown_setting, variables

    plain = key.strip().lower().replace("-", "_")
    for name in Settings.model_fields:
        if plain == name or plain in map(str.lower, variables(name)):
            return name
    raise unknown_setting(key)


def _root(call: Invocation) -> Path:
    """The home whose files are read: the one that was asked for, not one that they name."""
    from amem.settings import default_home

    return default_home() if call.home is None else Path(call.home).expanduser()


def _env_file(call: Invocation) -> Path:
    return Path(call.env_file) if call.env_file is not None else _root(call) / ".env"


def _given_in(text: str) -> dict[str, str | None]:
    from io import StringIO

    from dotenv import dotenv_values

    return dotenv_values(stream=StringIO(text))


def _check(call: Invocation, name: str, text: str) -> None:
    """Refuse an env file in which this setting cannot be used. Raises InvalidInput."""
    import tempfile

    from amem.settings import load_settings, variables

    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / ".env"
        draft.write_text(text, encoding="utf-8")
        # A variable of the environment would hide what the file says.
        hidden = {each: os.environ.pop(each) for each in list(os.environ) if each.upper() in variables(name)}
        try:
            load_settings(_root(call), env_file=draft)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; nothing was changed", hint=".env.example says what it may be") from error
        finally:
            os.environ.update(hidden)


def _settings(found: list[Configured]) -> Shown:
    rows = [(each.name, "" if each.value is None else str(each.value), each.origin) for each in found]
    return Table([each.record for each in found], ("setting", "value", "from"), rows)


def _changed(call: Invocation, name: str, path: Path, *, is_set: bool = False) -> Shown:
    """What the setting is now, and what hides the file's value where something does."""
    now = next(each for each in configured(call) if each.name == name)
    article = "the " if now.origin in ("argument", "environment") else ""
    origin = "the default" if now.origin == "default" else f"from {article}{now.origin}"
    hidden = is_set and now.origin != str(path)
    return Shown(
        now.record | {"path": str(path)},
        f"{name} = {'(none)' if now.value in (None, '') else now.value} ({origin})",
        told=[f"{path} sets it now, but what the {now.origin} says wins"] if hidden else [],
    )


def _places(call: Invocation, root: Path, settings: "Settings") -> list[tuple[str, frozenset[str]]]:
    """(place in words, names given there in lower case), the one that wins first."""
    import tomllib

    from amem.env_file import read_env

    arguments = [name for name in ("home", "collection", "agent") if getattr(call, name) is not None]
    env_file, toml = _env_file(call), root / "config.toml"
    # An agent without a collection of another name has that of its own.
    own = ["collection", *settings.agents[settings.agent]] if settings.agent else []
    return [
        ("argument", frozenset(arguments)),
        (f"{toml} [agents.{settings.agent}]", frozenset(own)),
        ("environment", _lower(os.environ)),
        (str(env_file), _lower(_given_in(read_env(env_file)))),
        (str(toml), _lower(tomllib.loads(toml.read_text(encoding="utf-8")) if toml.is_file() else ())),
    ]


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _origin(name: str, places: list[tuple[str, frozenset[str]]]) -> str:
    from amem.settings import variables

    for place, names in places:
        by_field = place == "argument" or place.endswith(("config.toml", "]"))
        if not names.isdisjoint({name} if by_field else map(str.lower, variables(name))):
            return place
    return "default"


def _value(settings: "Settings", name: str) -> Any:
    from pydantic import SecretStr

    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, tuple | dict):
        return json.dumps(value, ensure_ascii=False)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


# What `config set` refuses beyond what a setting's type says: names that no model, folder, address or theme has.
#
# Only what this machine knows is asked: a name in the right form may still be one that its server or hub does not have.

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


def _collection_name(name: str, value: str) -> None:
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
    "collection": _collection_name,
    "api_base": _address,
    "ollama_host": _address,
    "tui_theme": _theme,
    "llm_keep_alive": _duration,
}


# Commands about amem itself: get ready, and where things are.


@command()
def setup(call: Invocation) -> Shown:
    """Get the embedding model ready, make the home, and say who will analyse notes."""
    from amem.analysts.choose import survey
    from amem.embedding import ensure_model

    settings = call.settings()
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    origin = ensure_model(settings, tell)
    found = survey(settings)
    return Shown(
        {
            "home": str(settings.home),
            "collection": settings.collection,
            "embedding": {"model": origin.name, "place": origin.place, "ready": origin.ready},
            "analyst": found.analyst,
        },
        f"home: {settings.home}",
        f"embeddings: {origin}",
        f"analysis: {found.reason}",
        told=[
            *([f"in the way: {found.problem} ({found.hint})"] if found.problem else []),
            f'ready; try: {call.command("add")} "..." or {call.command("demo")}',
        ],
    )


@command()
def path(call: Invocation) -> Shown:
    """Where the collection is."""
    from amem.collection import folder_of

    settings = call.settings()
    folder = str(folder_of(settings.home, settings.collection))
    return Shown({"home": str(settings.home), "collection": settings.collection, "path": folder}, folder)

"""``amem config``, ``amem setup`` and ``amem path``: settings, where each came from, and getting ready."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from amem.cli.invocation import Invocation, invocation, tell
from amem.cli.options import Json
from amem.cli.render import print_json, print_table, say

if TYPE_CHECKING:
    from amem.settings import Settings


_MASK = "********"


class ConfigGroup(TyperGroup):
    """Takes ``amem config NAME...`` for ``amem config get NAME...``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["get", *args])


config = typer.Typer(
    cls=ConfigGroup,
    help="List, read and change settings: config, config get KEY, config set KEY VALUE.",
    invoke_without_command=True,
)
Key = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as llm_model.", show_default=False)]


@config.callback()
def every_setting(context: typer.Context, as_json: Json = False) -> None:
    """List, read and change settings: config, config get KEY, config set KEY VALUE."""
    context.meta["amem.json"] = as_json
    if context.invoked_subcommand is None:
        list_settings(context, as_json)


@config.command("list")
def list_settings(context: typer.Context, as_json: Json = False) -> None:
    """List every setting, its value and where that came from."""
    _print(configured(invocation(context)), as_json or context.meta["amem.json"])


@config.command("get")
def get_settings(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(metavar="KEY", help="Names of settings.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Print these settings, their values and where those came from."""
    names = [setting_name(key) for key in keys]
    found = {each.name: each for each in configured(invocation(context))}
    # In the order of the settings, each once.
    _print([each for name, each in found.items() if name in names], as_json or context.meta["amem.json"])


# A value may begin with a minus: -1 for ever.
@config.command("set", context_settings={"ignore_unknown_options": True})
def set_setting(
    context: typer.Context,
    key: Key,
    value: Annotated[
        str, typer.Argument(help="Its value; - reads it from standard input, as for a key.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Set a setting in the home's .env (or the file of --env-file). A value that cannot be used is refused."""
    from amem.cli.config_values import check_value
    from amem.env_file import read_env, with_key, write_env
    from amem.errors import InvalidInput
    from amem.settings import variables

    call, name = invocation(context), setting_name(key)
    if value == "-":
        import sys

        value = sys.stdin.read().rstrip("\n")
    path = _env_file(call)
    variable, *others = variables(name)
    text = with_key(read_env(path), variable, value, others)
    if _given_in(text).get(variable) != value:
        raise InvalidInput(f"an env file cannot hold this value of {name}", hint="leave ${ and control characters out")
    _check(call, name, text)
    check_value(name, value)
    write_env(path, text)
    _print_change(call, name, path, as_json or context.meta["amem.json"], set_to=value)


@config.command("unset")
def unset_setting(context: typer.Context, key: Key, as_json: Json = False) -> None:
    """Remove a setting from the home's .env (or the file of --env-file), so that its default holds again."""
    from amem.env_file import read_env, without_keys, write_env
    from amem.settings import variables

    call, name = invocation(context), setting_name(key)
    path = _env_file(call)
    before = read_env(path)
    text = without_keys(before, variables(name))
    if text != before:
        write_env(path, text)
    elif not as_json:
        tell(f"{name} is not set in {path}")
    _print_change(call, name, path, as_json or context.meta["amem.json"])


@dataclass(frozen=True, slots=True)
class Configured:
    """A setting with its JSON-ready value (secrets masked) and its origin in words."""

    name: str
    value: Any
    origin: str


def configured(call: Invocation) -> list[Configured]:
    """Every setting, in the order of `Settings`."""
    from amem.settings import Settings

    settings = call.settings()
    places = _places(call, _root(call), settings)
    return [Configured(name, _shown(settings, name), _origin(name, places)) for name in Settings.model_fields]


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

    from amem.errors import InvalidInput
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


def _print(shown: list[Configured], as_json: bool) -> None:
    if as_json:
        return print_json([{"name": each.name, "value": each.value, "from": each.origin} for each in shown])
    print_table(
        ("setting", "value", "from"),
        [(each.name, "" if each.value is None else str(each.value), each.origin) for each in shown],
    )


def _print_change(call: Invocation, name: str, path: Path, as_json: bool, *, set_to: str | None = None) -> None:
    """Say what the setting is now, and what hides the file's value where something does."""
    now = next(each for each in configured(call) if each.name == name)
    if as_json:
        return print_json({"name": now.name, "value": now.value, "from": now.origin, "path": str(path)})
    say(f"{name} = {'(none)' if now.value in (None, '') else now.value} ({_in_words(now.origin)})")
    if set_to is not None and now.origin != str(path):
        tell(f"{path} sets it now, but what the {now.origin} says wins")


def _in_words(origin: str) -> str:
    return (
        "the default"
        if origin == "default"
        else f"from {'the ' if origin in ('argument', 'environment') else ''}{origin}"
    )


def _places(call: Invocation, root: Path, settings: "Settings") -> list[tuple[str, frozenset[str]]]:
    """(place in words, names given there in lower case), the one that wins first."""
    import tomllib

    from amem.env_file import read_env

    given = {"--home": call.home, "--collection": call.collection, "--agent": call.agent}
    arguments = {name.removeprefix("--") for name, value in given.items() if value is not None}
    env_file, toml = _env_file(call), root / "config.toml"
    # An agent without a collection of another name has that of its own.
    own = {"collection", *settings.agents[settings.agent]} if settings.agent else set()
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


def _shown(settings: "Settings", name: str) -> Any:
    from pydantic import SecretStr

    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, tuple | dict):
        return json.dumps(value, ensure_ascii=False)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


# Commands about amem itself: get ready, and where things are.


def setup(context: typer.Context, as_json: Json = False) -> None:
    """Get the embedding model ready, make the home, and say who will analyse notes."""
    from amem.analysts.choose import survey
    from amem.embedding import ensure_model

    call = invocation(context)
    settings = call.settings()
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    origin = ensure_model(settings, tell)
    found = survey(settings)
    if as_json:
        return print_json(
            {
                "home": str(settings.home),
                "collection": settings.collection,
                "embedding": {"model": origin.name, "place": origin.place, "ready": origin.ready},
                "analyst": found.analyst,
            }
        )
    say(f"home: {settings.home}")
    say(f"embeddings: {origin}")
    say(f"analysis: {found.reason}")
    if found.problem:
        tell(f"in the way: {found.problem} ({found.hint})")
    tell(f'ready; try: {call.command("add")} "..." or {call.command("demo")}')


def path(context: typer.Context, as_json: Json = False) -> None:
    """Where the collection is."""
    from amem.collection import folder_of

    settings = invocation(context).settings()
    folder = folder_of(settings.home, settings.collection)
    if as_json:
        return print_json({"home": str(settings.home), "collection": settings.collection, "path": str(folder)})
    say(str(folder))

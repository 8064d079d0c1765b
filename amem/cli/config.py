"""Settings, where each came from, and getting ready: ``amem config``, ``setup`` and ``path``."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from amem.cli.command import Shown, Table, argument, command
from amem.cli.invocation import Invocation, tell

if TYPE_CHECKING:
    from amem.configuration import Configuration, Configured


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
    return _settings(_configured(call)[1])


@config.command("get")
@command()
def get_settings(call: Invocation, keys: Annotated[list[str], argument("KEY", "Names of settings.")]) -> Shown:
    """Print these settings, their values and where those came from."""
    from amem.configuration import setting_name

    names = [setting_name(key) for key in keys]
    # In the order of the settings, each once.
    return _settings([each for each in _configured(call)[1] if each.name in names])


# A value may begin with a minus: -1 for ever.
@config.command("set", context_settings={"ignore_unknown_options": True})
@command()
def set_setting(
    call: Invocation,
    key: Key,
    value: Annotated[str, argument("", "Its value; - reads it from standard input, as for a key.")],
) -> Shown:
    """Set a setting in the home's .env (or the file of --env-file). A value that cannot be used is refused."""
    from amem.configuration import Configuration, setting_name

    def known_theme(value: str) -> None:
        from amem_tui.themes import known_theme

        known_theme(value)

    name = setting_name(key)
    value = sys.stdin.read().rstrip("\n") if value == "-" else value
    Configuration(call.home, call.env_file).set(name, value, {"tui_theme": known_theme})
    return _changed(call, name, is_set=True)


@config.command("unset")
@command()
def unset_setting(call: Invocation, key: Key) -> Shown:
    """Remove a setting from the home's .env (or the file of --env-file), so that its default holds again."""
    from amem.configuration import Configuration, setting_name

    name, held = setting_name(key), Configuration(call.home, call.env_file)
    if not held.unset(name) and not call.as_json:
        tell(f"{name} is not set in {held.env_file}")
    return _changed(call, name)


def _configured(call: Invocation) -> "tuple[Configuration, list[Configured]]":
    from amem.configuration import Configuration

    held = Configuration(call.home, call.env_file)
    given = [name for name in ("home", "collection", "agent") if getattr(call, name) is not None]
    return held, held.every(call.settings(), given)


def _settings(found: "list[Configured]") -> Shown:
    rows = [(each.name, "" if each.value is None else str(each.value), each.origin) for each in found]
    return Table(found, ("setting", "value", "from"), rows)


def _changed(call: Invocation, name: str, *, is_set: bool = False) -> Shown:
    """What the setting is now, and what hides the file's value where something does."""
    held, found = _configured(call)
    now, path = next(each for each in found if each.name == name), str(held.env_file)
    article = "the " if now.origin in ("argument", "environment") else ""
    origin = "the default" if now.origin == "default" else f"from {article}{now.origin}"
    hidden = is_set and now.origin != path
    return Shown(
        now.to_dict() | {"path": path},
        f"{name} = {'(none)' if now.value in (None, '') else now.value} ({origin})",
        told=[f"{path} sets it now, but what the {now.origin} says wins"] if hidden else [],
    )


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
            *([f"problem: {found.problem} ({found.hint})"] if found.problem else []),
            f'ready; try: {call.command("add")} "..." or {call.command("demo")}',
        ],
    )


@command()
def path(call: Invocation) -> Shown:
    """Print the folder of the collection."""
    from amem.collection_folders import folder_of

    settings = call.settings()
    folder = str(folder_of(settings.home, settings.collection))
    return Shown({"home": str(settings.home), "collection": settings.collection, "path": folder}, folder)

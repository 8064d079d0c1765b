"""Commands about amem itself: get ready, settings, where things are."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import Annotated

import typer

from amem.cli.context import invocation, tell
from amem.cli.options import Json
from amem.cli.render import print_json, print_table, say

_PANEL = "Start"


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel=_PANEL)(setup)
    app.command(rich_help_panel=_PANEL)(config)
    app.command(rich_help_panel=_PANEL)(path)


def setup(context: typer.Context, as_json: Json = False) -> None:
    """Get the embedding model ready, make the home, and say who will analyse notes."""
    from amem.embedding import ensure_model
    from amem.llm.survey import survey

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


def config(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these settings.")] = None,
    as_json: Json = False,
) -> None:
    """Every setting, its value and where that came from."""
    from amem.cli.origins import configured
    from amem.errors import InvalidInput

    call = invocation(context)
    found = configured(call)
    unknown = [name for name in names or [] if name not in {each.name for each in found}]
    if unknown:
        raise InvalidInput(f"unknown setting {unknown[0]!r}", hint="amem config lists them all")
    shown = [each for each in found if not names or each.name in names]
    if as_json:
        return print_json([{"name": each.name, "value": each.value, "from": each.origin} for each in shown])
    print_table(
        ("setting", "value", "from"),
        [(each.name, "" if each.value is None else str(each.value), each.origin) for each in shown],
    )


def path(context: typer.Context, as_json: Json = False) -> None:
    """Where the collection is."""
    from amem.collection import folder_of

    settings = invocation(context).settings()
    folder = folder_of(settings.home, settings.collection)
    if as_json:
        return print_json({"home": str(settings.home), "collection": settings.collection, "path": str(folder)})
    say(str(folder))

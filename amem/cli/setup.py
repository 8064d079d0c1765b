"""Commands about amem itself: get ready, and where things are."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import print_json, say

_PANEL = "Start"


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel=_PANEL)(setup)
    app.command(rich_help_panel=_PANEL)(path)


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

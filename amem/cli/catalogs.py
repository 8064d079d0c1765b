"""``amem agents`` and ``amem publish``: who shares which collections, and a note for all that read one."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.completion import complete_collection
from amem.cli.invocation import invocation, tell
from amem.cli.options import Id, Json
from amem.cli.render import print_json, print_table, say, short_id, size, when

if TYPE_CHECKING:
    from amem.settings import Settings


def publish(
    context: typer.Context,
    id: Id,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="The catalog; may be left out where there is one.", autocompletion=complete_collection
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy a note, with its facts and sources, into a catalog that others read too."""
    call = invocation(context)
    with call.memory() as memory:
        note = memory.resolve(id)
        receipt = memory.publish(note, to)
        catalog = memory.parts.publisher.checked(to)
    if as_json:
        return print_json({"id": receipt.id, "note": note, "catalog": catalog, "status": receipt.status})
    known = " (it was there already)" if receipt.status == "duplicate" else ""
    say(f"published {short_id(note)} in {catalog} as {short_id(receipt.id)}{known}")
    if receipt.status != "duplicate" and receipt.operation is not None:
        tell(f"undo with: {call.in_collection(catalog).command('undo', str(receipt.operation))}")


def agents(context: typer.Context, as_json: Json = False) -> None:
    """List the agents that config.toml names: their collections, catalogs and rights."""
    settings = invocation(context).settings()
    found = [_agent(settings, name) for name in settings.agents]
    if as_json:
        return print_json(found)
    from amem.clock import parse_time, zone

    local = zone(settings.timezone)
    rows = [
        (
            each["name"],
            each["collection"],
            ", ".join(each["catalogs"]),
            ", ".join(each["publish"]),
            each["problem"] or ("" if each["notes"] is None else f"{each['notes']:,}"),
            size(each["bytes"]),
            "never" if each["last_used"] is None else when(parse_time(each["last_used"], local), local),
        )
        for each in found
    ]
    print_table(("agent", "collection", "catalogs", "may publish to", "notes", "size", "last used"), rows)
    if not found:
        tell(
            f'no agents: name them in {settings.home / "config.toml"}, as with [agents.writer] and catalogs = ["team"]'
        )


def _agent(settings: "Settings", name: str) -> dict[str, Any]:
    """What the settings grant an agent, and what its collection holds; None where there is no collection yet."""
    from amem.collection import collection_names, listed_collection
    from amem.errors import InvalidInput

    try:
        own = settings.as_agent(name)
    except InvalidInput as error:
        nothing = {"notes": None, "bytes": 0, "last_used": None}
        return {"name": name, "collection": "", "catalogs": [], "publish": [], **nothing, "problem": str(error)}
    held = listed_collection(own.home, own.collection) if own.collection in collection_names(own.home) else None
    last = None if held is None or held.last_used is None else held.last_used.isoformat()
    return {
        "name": name,
        "collection": own.collection,
        "catalogs": list(own.catalogs),
        "publish": list(own.publish),
        "notes": None if held is None else held.notes,
        "bytes": 0 if held is None else held.size,
        "last_used": last,
        "problem": (held.problem or None) if held is not None else None,
    }

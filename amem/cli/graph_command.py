"""``amem graph``: the note graph as a page, a picture, or a file for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from amem.cli.filtering import Where, filtering
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import count, say
from amem.visible import escaped_json

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


_PANEL = "In and out"


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel=_PANEL)(graph)


def _file(name: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", help=help, show_default=False)
    return option


@filtering("known_at")
def graph(
    context: typer.Context,
    where: Where,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The note in the middle; default: the whole collection.")
    ] = None,
    html: Annotated[Path | None, _file("--html", "A page that opens offline in any browser.")] = None,
    svg: Annotated[Path | None, _file("--svg", "A picture.")] = None,
    graphml: Annotated[Path | None, _file("--graphml", "For Gephi, yEd or Cytoscape.")] = None,
    dot: Annotated[Path | None, _file("--dot", "For Graphviz.")] = None,
    hops: Annotated[int, typer.Option(min=0, help="With ID: how many links away.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many notes.")] = 500,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the graph of notes and links to files (- is standard output); --json prints it."""
    from amem.errors import InvalidInput
    from amem.interop.exporting import write_lines
    from amem.interop.graph import read_graph
    from amem.interop.graph_formats import WRITERS, heading
    from amem.interop.graph_formats import html as page

    files = {"html": html, "svg": svg, "graphml": graphml, "dot": dot}
    wanted = {name: path for name, path in files.items() if path is not None}
    if not wanted and not as_json:
        raise InvalidInput("say what to write", hint="such as amem graph --html notes.html")
    for path in wanted.values():
        if str(path) != "-" and path.exists() and not force:
            raise InvalidInput(f"{path} is there already", hint="give --force to replace it")
    given = where != Where()
    call = invocation(context)
    with call.memory() if wanted else call.browsed(as_json, empty={}) as memory:
        about = None if id is None else memory.resolve(id)
        chosen = where.filter(memory.settings.timezone) if given else None
        found = read_graph(memory, about, hops=hops, limit=limit, filter=chosen)
        title = heading(found, memory.settings.collection, where.words())
    for name, path in wanted.items():
        text = (page(found, title) if name == "html" else WRITERS[name](found)).rstrip("\n")
        if str(path) == "-":
            say(text)
        else:
            write_lines(path, [text])
            tell(f"wrote {count(len(found.nodes), 'note')} and {count(len(found.edges), 'link')} to {path}")
    if as_json:
        say(escaped_json(WRITERS["json"](found).rstrip("\n")))
    if found.left_out:
        tell(f"{count(found.left_out, 'more note')} left out; --limit takes more")

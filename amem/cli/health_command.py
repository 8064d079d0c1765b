"""``amem health``: how the notes are, on one screen."""

from functools import partial

import typer

from amem.cli.invocation import invocation
from amem.cli.options import Json
from amem.cli.render import console, on_terminal, print_json, print_wrapped, say, styled, when

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


_PANEL = "Look after"


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(health)


def health(context: typer.Context, as_json: Json = False) -> None:
    """How the notes are: stale, contradicting, loose, waiting, growing (that everything works: amem doctor)."""
    from amem.clock import zone
    from amem.maintenance.health import Mark, health_lines, size

    with invocation(context).browsed(as_json, empty={}) as memory:
        found = memory.health()
        where = zone(memory.settings.timezone)
        name = memory.settings.collection
    if as_json:
        return print_json(found.to_dict())
    terminal = on_terminal()
    out = console()
    marks = {Mark.GOOD: ("✓ ", "green"), Mark.WATCH: ("! ", "yellow"), Mark.PLAIN: ("  ", "")}
    if terminal:
        out.print(styled((name, "bold"), ("  " + size(found), "dim")))
    for line in health_lines(found, partial(when, zone=where)):
        what = f"{line.what}: {line.command}" if line.command else line.what
        if not terminal:
            say(f"{line.about}\t{what}")
            continue
        if line.about == "notes":  # their number is above
            what = what.partition("; ")[2]
        print_wrapped(out, styled(marks[line.mark], (f"{line.about:<13}", "bold"), what), hanging=15)
    return None

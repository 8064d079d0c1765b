"""``amem trace``: what a note rests on."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import Annotated

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import Id, Json
from amem.cli.render import count, on_terminal, print_json, short_id

_PANEL = "Find"


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(trace)


def trace(
    context: typer.Context,
    id: Id,
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, help="How many links to follow.")] = 5,
    as_json: Json = False,
) -> None:
    """Show what a note rests on: its causes, what it was derived from, what supports it, and theirs."""
    from amem.cli.trace_tree import Tree, print_lines
    from amem.clock import zone

    call = invocation(context)
    with call.memory() as memory:
        full = memory.resolve(id)
        note = memory.read(full)
        # One link more, to tell whether there would be more to see.
        found = memory.ancestors(full, depth + 1)
        local = zone(memory.settings.timezone)
    assert note is not None
    shown = [each for each in found if each.hop <= depth]
    if as_json:
        return print_json([each.to_dict() for each in shown])
    if on_terminal():
        Tree(note, shown, local).print()
    else:
        print_lines(shown, local)
    if not found:
        tell("no link says what it rests on")
    elif deeper := len(found) - len(shown):
        rest = f"{count(deeper, 'note')} {'lies' if deeper == 1 else 'lie'} one link further"
        tell(f"{rest}: {call.command('trace', short_id(full), '--depth', str(depth + 1))}")

"""What a collection without notes says: how to write the first, and where in this home there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.command_line import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.settings import Settings

_EMPTY = """No notes yet.

Press n to write the first one, or let an agent write here:

  {add}
  {bring}
{others}
New notes appear by themselves."""
#: So many other collections are named.
_NAMED = 3


def how_to_begin(settings: Settings, collections: Mapping[str, int | None]) -> str:
    """`collections` are those of the home with their notes, None for one that does not open."""
    add = command(settings, 'add "The first thing to remember"')
    return _EMPTY.format(
        add=add, bring=command(settings, "import notes.jsonl"), others=_elsewhere(settings, collections)
    )


def _elsewhere(settings: Settings, collections: Mapping[str, int | None]) -> str:
    held = [(name, count) for name, count in collections.items() if count and name != settings.collection]
    if not held:
        return ""
    held.sort(key=lambda each: -each[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in held[:_NAMED])
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    return f"\nThere are notes in {named}{more}: ctrl+o opens {'it' if len(held) == 1 else 'them'}.\n"

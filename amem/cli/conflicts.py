"""Commands on what is true now: what a text would overturn, what is open, and a person's word on it."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import inform, invocation, tell
from amem.cli.options import Ids, Json, Time, stamp
from amem.cli.render import count, on_terminal, print_json, say, short_id
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Collection

    from amem.cli.invocation import Invocation
    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.verdict import Conflict

_PANEL = "Trust"

Reason = Annotated[str, typer.Option("--reason", "-r", help="Why, in words.")]
Part = Annotated[
    str, typer.Option("--statement", "-s", help="Only this statement of the note, in its words; the rest stands.")
]
Old = Annotated[str, typer.Argument(metavar="OLD", help="The note that no longer holds.", show_default=False)]
New = Annotated[str, typer.Argument(metavar="NEW", help="The note that holds now.", show_default=False)]
Text = Annotated[str | None, typer.Argument(help="A text to try.", show_default=False)]
Who = Annotated[str | None, typer.Option("--speaker", help="Who says it.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    for command in (conflicts, supersede, unsupersede, retract, keep):
        app.command(rich_help_panel=_PANEL)(command)


def conflicts(
    context: typer.Context, text: Text = None, time: Time = None, speaker: Who = None, as_json: Json = False
) -> None:
    """What a text would overturn if it were added (nothing is stored); without one, notes that disagree."""
    from amem.cli.pairs import pairs, print_pairs
    from amem.clock import zone

    call = invocation(context)
    with call.browsed(as_json) as memory:
        found = _found(memory, text, time, speaker)
        if as_json:
            return print_json([each.to_dict() for each in found])
        if not found:
            return tell("nothing disagrees" if text is None else "it would overturn nothing")
        shown = pairs(memory, found, text, zone(memory.settings.timezone))
    print_pairs(shown, call)
    if text is None and not on_terminal():
        inform("amem supersede EARLIER LATER: the later one holds; amem retract LATER: the earlier one does;")
        inform("amem keep EARLIER: both do")


def supersede(
    context: typer.Context, old: Old, new: New, reason: Reason = "", statement: Part = "", as_json: Json = False
) -> None:
    """Put one note in the place of another, which stays in its history, or of one statement of it."""
    call = invocation(context)
    with call.memory() as memory:
        before, after = memory.resolve(old), memory.resolve(new)
        memory.supersede(before, after, reason, statement=statement)
        note = memory.read(before)
    if as_json:
        return print_json({"superseded": before, "by": after} | ({"statement": statement} if statement else {}))
    stands = bool(statement) and note is not None and note.status is Status.ACTIVE
    say(f"superseded {'a statement of ' * stands}{short_id(before)} by {short_id(after)}")
    tell(f"undo with: {call.command('undo')}")


def unsupersede(context: typer.Context, ids: Ids, statement: Part = "", as_json: Json = False) -> None:
    """Say that superseded notes, or statements of them, hold after all; machines may then only propose to hide them."""
    call = invocation(context)
    with call.memory() as memory:
        found = [memory.resolve(id) for id in ids]
        changed = [id for id in dict.fromkeys(found) if memory.unsupersede(id, statement=statement)]
    _say(call, "unsuperseded", changed, as_json)
    for id in dict.fromkeys(found):
        if id not in changed:
            tell(f"{short_id(id)} " + ("has no such statement marked" if statement else "was not superseded"))


def retract(context: typer.Context, ids: Ids, reason: Reason = "", statement: Part = "", as_json: Json = False) -> None:
    """Take notes back, or one statement of them, with nothing in their place, as of now."""
    call = invocation(context)
    with call.memory() as memory:
        found = list(dict.fromkeys(memory.resolve(id) for id in ids))
        changed = [id for id in found if memory.retract(id, reason, statement=statement)]
        replaced = {id: memory.superseded_by(id) for id in changed}
        notes = {id: memory.read(id) for id in found}
    part = {id for id in changed if statement and (note := notes[id]) is not None and note.status is Status.ACTIVE}
    _say(call, "retracted", changed, as_json, part=part)
    for id in found:
        if id not in changed:
            tell(_stood_not(notes[id], id))
    for id, before in replaced.items():
        if before:
            which = " ".join(short_id(each) for each in before)
            tell(f"what {short_id(id)} had superseded stays so; to have it back: {call.command('unsupersede', which)}")


def keep(context: typer.Context, ids: Ids, as_json: Json = False) -> None:
    """Say that notes hold, in spite of what disagrees with them or what they leaned on being gone."""
    call = invocation(context)
    with call.memory() as memory:
        found = {id: memory.keep(id) for id in dict.fromkeys(memory.resolve(id) for id in ids)}
    if as_json:
        return print_json({"kept": [id for id, flags in found.items() if flags]})
    for id, flags in found.items():
        if flags:
            say(f"kept {short_id(id)} ({count(flags, 'flag')})")
        else:
            tell(f"nothing speaks against {short_id(id)}")


def _found(memory: "AgenticMemorySystem", text: str | None, time: str | None, speaker: str | None) -> "list[Conflict]":
    return (
        memory.conflicts_open()
        if text is None
        else memory.conflicts(text, stamp(time, memory.settings.timezone), speaker=speaker)
    )


def _stood_not(note: "MemoryNote | None", id: str) -> str:
    """Why there is nothing left to retract."""
    if note is None or note.status is not Status.SUPERSEDED:
        return f"that statement of {short_id(id)} is marked as no longer so already"
    if note.superseded_by is None:
        return f"{short_id(id)} is retracted already"
    return f"{short_id(id)} is superseded by {short_id(note.superseded_by)} already"


def _say(call: "Invocation", what: str, ids: list[str], as_json: bool, part: "Collection[str]" = ()) -> None:
    """`part` are the notes of which only a statement was meant, and which stand without it."""
    if as_json:
        return print_json({what: ids})
    for id in ids:
        say(f"{what} {'a statement of ' * (id in part)}{short_id(id)}")
    if ids:
        tell(f"undo with: {call.command('undo')}{' (once for each)' if len(ids) > 1 else ''}")

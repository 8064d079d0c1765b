"""What is true now: what a text would overturn, what is open, and a person's word on it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import inform, invocation, print_done, tell
from amem.cli.options import Ids, Json, Time, stamp
from amem.cli.render import (
    console,
    count,
    on_terminal,
    one_line,
    print_json,
    print_wrapped,
    say,
    say_row,
    short_id,
    styled,
    when,
)
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.console import Console

    from amem.cli.invocation import Invocation
    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.verdict import Conflict


Reason = Annotated[str, typer.Option("--reason", "-r", help="Why, in words.")]
Part = Annotated[
    str, typer.Option("--statement", "-s", help="Only this statement of the note, in its words; the rest stands.")
]
Old = Annotated[str, typer.Argument(metavar="OLD", help="The note that no longer holds.", show_default=False)]
New = Annotated[str, typer.Argument(metavar="NEW", help="The note that holds now.", show_default=False)]
Text = Annotated[str | None, typer.Argument(help="A text to try.", show_default=False)]
Who = Annotated[str | None, typer.Option("--speaker", help="Who says it.")]


def conflicts(
    context: typer.Context, text: Text = None, time: Time = None, speaker: Who = None, as_json: Json = False
) -> None:
    """What a text would overturn if it were added (nothing is stored); without one, notes that disagree."""
    from amem.clock import zone

    call = invocation(context)
    with call.browsed(as_json) as memory:
        found = _found(memory, text, time, speaker)
        if as_json:
            return print_json(found)
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
    call.tell_undo()


def unsupersede(context: typer.Context, ids: Ids, statement: Part = "", as_json: Json = False) -> None:
    """Say that superseded notes, or statements of them, hold after all; machines may then only propose to hide them."""
    call = invocation(context)
    with call.memory() as memory:
        found = [memory.resolve(id) for id in ids]
        changed = [id for id in dict.fromkeys(found) if memory.unsupersede(id, statement=statement)]
    print_done("unsuperseded", changed, as_json)
    if changed and not as_json:
        call.tell_undo(len(changed))
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
    print_done("retracted", changed, as_json, part=part)
    if changed and not as_json:
        call.tell_undo(len(changed))
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
    if note is None or note.status is not Status.SUPERSEDED:
        return f"that statement of {short_id(id)} is marked as no longer so already"
    if note.superseded_by is None:
        return f"{short_id(id)} is retracted already"
    return f"{short_id(id)} is superseded by {short_id(note.superseded_by)} already"


# Two notes that do not go together, as people read them: a block for each pair, with what to type to decide it.


_SHOWN = 160
_IN_A_PIPE = 60
#: The room of "  earlier  ", under which the lines of a note go on.
_INDENT, _NAMED = 2, 9
_TEXT = "the text"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two notes: its id ('' of a text that was only tried), its day and what it says."""

    id: str
    day: str
    content: str

    @property
    def name(self) -> str:
        return short_id(self.id) if self.id else _TEXT


@dataclass(frozen=True, slots=True)
class Pair:
    """A conflict with both of its notes."""

    conflict: "Conflict"
    earlier: "Side"
    later: "Side"

    @property
    def doubt(self) -> str:
        """In a word why nothing of the earlier one would end; '' where it would, or nothing speaks of an end."""
        if self.conflict.hides or not self.conflict.waits:
            return ""
        verdict = self.conflict.verdict
        return "unsure" if verdict.whole or verdict.quotes else "part"


def pairs(memory: "AgenticMemorySystem", found: "Sequence[Conflict]", text: str | None, zone: "tzinfo") -> "list[Pair]":
    """The conflicts with what their notes say; `text` is what a dry run tried."""
    from amem.rendering import text_of

    def side(id: str) -> "Side":
        note = memory.read(id) if id else None
        if note is None:
            return Side(id, "", "" if id else text or "")
        return Side(id, when(note.valid_from or note.at, zone, minutes=False), text_of(note))

    return [Pair(each, side(each.earlier), side(each.later)) for each in found]


def print_pairs(found: "Sequence[Pair]", call: "Invocation", *, out: "Console | None" = None) -> None:
    """A block for each; in a pipe ``earlier, later, label, doubt, confidence, why, both contents`` by tabs."""
    if out is None and not on_terminal():
        for each in found:
            say_row(*_cells(each))
        return
    out = out or console()
    for place, each in enumerate(found):
        if place:
            out.print()
        _print_block(out, each, call)


def _cells(each: "Pair") -> tuple[str, ...]:
    verdict = each.conflict.verdict
    sides = (each.earlier, each.later)
    words = [one_line(side.content, _IN_A_PIPE) for side in sides]
    said = (str(verdict.label), each.doubt, f"{verdict.confidence:.2f}", verdict.reason)
    return (*(side.name for side in sides), *said, *words)


def _print_block(out: "Console", each: "Pair", call: "Invocation") -> None:
    verdict = each.conflict.verdict
    doubt = f", {each.doubt}" if each.doubt else ""
    out.print(styled((f"{verdict.label}{doubt}", "bold"), (f"  {verdict.confidence:.2f}", "dim")))
    for name, side in (("earlier", each.earlier), ("later", each.later)):
        day = f"  {side.day}" if side.day else ""
        words = one_line(side.content, _SHOWN)
        line = styled(f"{name:<{_NAMED}}", (side.name, "cyan"), f"{day}  {words}")
        print_wrapped(out, line, indent=_INDENT, hanging=_NAMED)
    print_wrapped(out, styled(f"{'why':<{_NAMED}}", (verdict.reason, "dim")), indent=_INDENT, hanging=_NAMED)
    if each.earlier.id and each.later.id:
        _print_ways(out, each.earlier.name, each.later.name, call)


def _print_ways(out: "Console", earlier: str, later: str, call: "Invocation") -> None:
    """What to type; what it says stands behind it as a shell's comment, or above where there is no room."""
    ways = {
        call.command("supersede", earlier, later): "the later one holds",
        call.command("retract", later): "the earlier one holds",
        call.command("keep", earlier): "both hold",
    }
    width = max(map(len, ways))
    beside = _INDENT + width + len("  # the earlier one holds") <= out.width
    for command, meaning in ways.items():
        if beside:
            out.print(styled(" " * _INDENT, f"{command:<{width}}", (f"  # {meaning}", "dim")), soft_wrap=True)
        else:
            out.print(styled(" " * _INDENT, (f"# {meaning}", "dim")))
            out.print(styled(" " * _INDENT, command), soft_wrap=True)

"""What is current: what a text would overturn, which notes disagree, and what a person decides."""

from typing import TYPE_CHECKING, Annotated

from amem.cli.command import Drawing, Ids, Reason, Shown, Time, argument, command, done, option, resolved, stamp
from amem.cli.invocation import Invocation
from amem.cli.render import Page, on_terminal, one_line, when
from amem.clock import zone
from amem.labels import counted, short_id
from amem.note import Conflict, MemoryNote, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.memory_system import AgenticMemorySystem


Part = Annotated[
    str, option("--statement -s", "Only this statement, in its words; the rest of the note stays current.")
]


@command()
def conflicts(
    call: Invocation,
    text: Annotated[str | None, argument("", "A text to try.")] = None,
    time: Time = None,
    speaker: Annotated[str | None, option("--speaker", "Who says it.")] = None,
) -> Shown:
    """Show notes that disagree; with a text, what it would overturn if it were added (nothing is stored)."""
    with call.browsed() as memory:
        timezone = memory.settings.timezone
        found = (
            memory.conflicts_open() if text is None else memory.conflicts(text, stamp(time, timezone), speaker=speaker)
        )
        shown = [] if call.as_json else _pairs(memory, found, text)
    told = []
    if not found:
        told = ["nothing disagrees" if text is None else "it would overturn nothing"]
    elif text is None and not on_terminal():
        told = [
            "amem supersede EARLIER LATER: the later one is current; amem retract LATER: the earlier one is;",
            "amem keep EARLIER: both are",
        ]
    return Drawing(found, map(_cells, shown), lambda page: _draw(page, shown, call), told=told)


@command()
def supersede(
    call: Invocation,
    old: Annotated[str, argument("OLD", "The note that no longer holds.")],
    new: Annotated[str, argument("NEW", "The note that holds now.")],
    reason: Reason = "",
    statement: Part = "",
) -> Shown:
    """Put one note in the place of another, which stays in its history, or of one statement of it."""
    with call.memory() as memory:
        before, after = memory.resolve(old), memory.resolve(new)
        memory.supersede(before, after, reason, statement=statement)
        part = "a statement of " * (bool(statement) and _stands(memory.read(before)))
    data = {"superseded": before, "by": after} | ({"statement": statement} if statement else {})
    return Shown(data, f"superseded {part}{short_id(before)} by {short_id(after)}", undo=1)


@command()
def unsupersede(call: Invocation, ids: Ids, statement: Part = "") -> Shown:
    """Make superseded notes, or statements of them, current again; machines may then only propose to hide them."""
    with call.memory() as memory:
        found = {id: memory.unsupersede(id, statement=statement) for id in resolved(memory, ids)}
    why = "has no such statement marked" if statement else "was not superseded"
    call.remarks += [f"{short_id(id)} {why}" for id, changed in found.items() if not changed]
    changed = [id for id, is_changed in found.items() if is_changed]
    return done("unsuperseded", changed, undo=len(changed))


@command()
def retract(call: Invocation, ids: Ids, reason: Reason = "", statement: Part = "") -> Shown:
    """Take notes back, or one statement of them, with nothing in their place, as of now."""
    with call.memory() as memory:
        found = resolved(memory, ids)
        changed = [id for id in found if memory.retract(id, reason, statement=statement)]
        notes = {id: memory.read(id) for id in found}
        for id in found:
            if id not in changed:
                call.remarks.append(_stood_not(notes[id], id))
            elif before := memory.superseded_by(id):
                back = call.command("unsupersede", " ".join(map(short_id, before)))
                call.remarks.append(f"what {short_id(id)} had superseded stays so; to have it back: {back}")
    part = [id for id in changed if statement and _stands(notes[id])]
    return done("retracted", changed, part=part, undo=len(changed))


@command()
def keep(call: Invocation, ids: Ids) -> Shown:
    """Keep notes current although others disagree with them, or what they are based on is gone."""
    with call.memory() as memory:
        found = {id: memory.keep(id) for id in resolved(memory, ids)}
    kept = [id for id, flags in found.items() if flags]
    return Shown(
        {"kept": kept},
        *(f"kept {short_id(id)} ({counted(found[id], 'flag')})" for id in kept),
        told=[f"nothing speaks against {short_id(id)}" for id in found if id not in kept],
    )


def _stands(note: "MemoryNote | None") -> bool:
    return note is not None and note.status is Status.ACTIVE


def _stood_not(note: "MemoryNote | None", id: str) -> str:
    if note is None or note.status is not Status.SUPERSEDED:
        return f"that statement of {short_id(id)} is marked as no longer so already"
    if note.superseded_by is None:
        return f"{short_id(id)} is retracted already"
    return f"{short_id(id)} is superseded by {short_id(note.superseded_by)} already"


# Two notes that do not go together, as people read them: a block for each pair, with what to type to decide it.


_SHOWN, _IN_A_PIPE = 160, 60
#: The room of "  earlier  ", under which the lines of a note go on.
_INDENT, _NAMED = 2, 9


#: One of the two notes: its short id ("the text" of one that was only tried), its day and what it says.
_Side = tuple[str, str, str]
_Pair = tuple["Conflict", _Side, _Side]


def _pairs(memory: "AgenticMemorySystem", found: "Sequence[Conflict]", text: str | None) -> list[_Pair]:
    """The conflicts with what their notes say, the earlier one first; `text` is what a dry run tried."""
    from amem.rendering import text_of

    local = zone(memory.settings.timezone)
    notes = memory.read_many([id for each in found for id in (each.earlier, each.later) if id])

    def side(id: str) -> _Side:
        if not id:
            return "the text", "", text or ""
        if (note := notes.get(id)) is None:
            return short_id(id), "", ""
        return short_id(id), when(note.valid_from or note.at, local, minutes=False), text_of(note)

    return [(each, side(each.earlier), side(each.later)) for each in found]


def _doubt(conflict: "Conflict") -> str:
    """In a word why nothing of the earlier one would end; '' where it would, or nothing speaks of an end."""
    if conflict.hides or not conflict.waits:
        return ""
    return "unsure" if conflict.verdict.whole or conflict.verdict.quotes else "part"


def _cells(pair: _Pair) -> tuple[str, ...]:
    """Earlier, later, label, doubt, confidence, why, both contents."""
    conflict, *sides = pair
    verdict = conflict.verdict
    said = (str(verdict.label), _doubt(conflict), f"{verdict.confidence:.2f}", verdict.reason)
    return (*(name for name, _, _ in sides), *said, *(one_line(content, _IN_A_PIPE) for _, _, content in sides))


def _draw(page: Page, found: "Sequence[_Pair]", call: Invocation) -> None:
    for place, (conflict, earlier, later) in enumerate(found):
        if place:
            page.line()
        verdict, doubt = conflict.verdict, _doubt(conflict)
        page.whole((f"{verdict.label}{f', {doubt}' if doubt else ''}", "bold"), (f"  {verdict.confidence:.2f}", "dim"))
        for which, (name, day, content) in (("earlier", earlier), ("later", later)):
            words = f"{f'  {day}' if day else ''}  {one_line(content, _SHOWN)}"
            page.write(f"{which:<{_NAMED}}", (name, "cyan"), words, indent=_INDENT, hanging=_NAMED)
        page.write(f"{'why':<{_NAMED}}", (verdict.reason, "dim"), indent=_INDENT, hanging=_NAMED)
        if conflict.earlier and conflict.later:
            _draw_ways(page, earlier[0], later[0], call)


def _draw_ways(page: Page, earlier: str, later: str, call: Invocation) -> None:
    """What to type; what it says stands behind it as a shell's comment, or above where there is no room."""
    ways = {
        call.command("supersede", earlier, later): "the later one is current",
        call.command("retract", later): "the earlier one is current",
        call.command("keep", earlier): "both are current",
    }
    width, indent = max(map(len, ways)), " " * _INDENT
    beside = _INDENT + width + len("  # the earlier one is current") <= page.width
    for way, meaning in ways.items():
        if not beside:
            page.whole(indent, (f"# {meaning}", "dim"))
        page.whole(indent, f"{way:<{width}}" if beside else way, (f"  # {meaning}" if beside else "", "dim"))

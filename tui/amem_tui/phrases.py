"""How things are said to the person who browses: times, kinds, makers, changes. Pure functions on amem's values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem import labels
from amem.note import Kind
from amem.visible import without_driving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

    from amem.storage.records import Operation, Version

#: One cell each in every terminal font; none is drawn as a two-cell emoji.
GLYPHS: Mapping[Kind, str] = {
    Kind.EPISODE: "○",
    Kind.FACT: "•",
    Kind.PREFERENCE: "+",
    Kind.DECISION: "=",
    Kind.CONSTRAINT: "!",
    Kind.CONFIG: "%",
    Kind.CODE: "λ",
    Kind.ERROR: "×",
    Kind.QUESTION: "?",
    Kind.CHITCHAT: "~",
    Kind.PROCEDURE: "»",
    Kind.TOPIC: "#",
}
_LONGEST = 160
#: Control characters but for tab and line feed, and halves of a surrogate pair.
_UNTYPEABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
_NEW_LINE = re.compile("\r\n|[\u2028\u2029]")


def clean(text: str) -> str:
    """Text without control characters, so that no note can send commands to the terminal; lines stay lines.

    Nor any that turn the direction of what stands beside them, with which a title could pretend to be another.
    """
    return without_driving(_NEW_LINE.sub("\n", text).replace("\t", "    "))


def typeable(text: str) -> str:
    """Text for a field in which it can be changed: as it is, but for control characters."""
    return _UNTYPEABLE.sub("", text)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, cut when it is longer."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def title(content: str) -> str:
    """What a note is called, see ``amem.labels``; safe to show in a terminal."""
    return one_line(labels.title(content))


def day(at: datetime | None, zone: tzinfo) -> str:
    """``2026-03-12``, or blanks of the same width."""
    return " " * 10 if at is None else at.astimezone(zone).strftime("%Y-%m-%d")


def moment(at: datetime | None, zone: tzinfo) -> str:
    """``2026-03-12 09:30``, or "no date"."""
    return "no date" if at is None else at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def plural(number: int, word: str) -> str:
    """``1 note``, ``25 notes``, ``1,200 notes``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def maker(actor: str) -> Content:
    """Who did it: people as a green ●, programs that act for them as a blue ▲, machines that judge as a gold ◆."""
    name = clean(actor) or "amem"
    if name.split(":")[0] == "user":
        return Content.assemble((f"● {_own_name(name, 'you')}", "$success"))
    if name.split(":")[0] == "agent":
        return Content.assemble((f"▲ {_own_name(name, 'agent')}", "$primary"))
    return Content.assemble((f"◆ {name}", "$accent"))


def changed(changes: Mapping[str, tuple[Any, Any]]) -> Content:
    """Each changed field on its own lines, what it was and what it is."""
    lines: list[Content] = []
    for field, (before, after) in changes.items():
        lines.append(Content.assemble((f"  {field}", "bold $secondary")))
        if before not in (None, "", []):
            lines.append(Content.assemble(("  - ", "$error"), (value(before), "$muted")))
        if after not in (None, "", []):
            lines.append(Content.assemble(("  + ", "$success"), value(after)))
    return Content("\n").join(lines)


def version(each: Version, zone: tzinfo) -> Content:
    """One entry of a note's history."""
    head = Content.assemble((f"v{each.version}", "bold"), (f"  {moment(each.at, zone)}  ", "$muted"), maker(each.actor))
    why = f"{each.action}: {one_line(each.cause)}" if each.cause else each.action
    # The first version records only that the note came to be; its text is what is shown already.
    parts = [head, Content.assemble((f"  {why}", "$muted"))]
    if each.version > 1:
        parts.append(changed(each.changes))
    return Content("\n").join(parts)


def operation(each: Operation, about: str, zone: tzinfo) -> Content:
    """One line of the log, `about` a note of that title; what another operation set off is indented below it."""
    lead = "└ " if each.parent is not None else ""
    who = maker(each.actor)
    return Content.assemble(
        (f"{each.id:>5}  {moment(each.at, zone)}  ", "$muted"),
        lead,
        who,
        " " * max(2, 14 - who.cell_length - len(lead)),
        (f"{each.action:<9}", "strike" if each.undone else "bold"),
        ("undone  " if each.undone else "", "$warning"),
        one_line(about or each.cause),
        (f"  {_extent(each)}", "$muted"),
    )


def value(held: Any) -> str:
    """A field's value as a person reads it."""
    if isinstance(held, list):
        return ", ".join(one_line(str(each)) for each in held)
    return one_line(str(held), 400)


def _extent(each: Operation) -> str:
    others = len({*each.created, *each.notes}) - 1
    parts = [f"and {others} more"] if others > 0 else []
    if each.links:
        parts.append(plural(each.links, "link"))
    return ", ".join(parts)


def _own_name(actor: str, plain: str) -> str:
    return actor.split(":", 1)[1] if ":" in actor else plain

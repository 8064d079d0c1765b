"""Two notes that do not go together, as people read them: a block for each pair, with what to type to decide it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.cli.render import console, on_terminal, one_line, print_wrapped, say, short_id, styled, when
from amem.rendering import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.console import Console

    from amem.cli.invocation import Invocation
    from amem.memory_system import AgenticMemorySystem
    from amem.verdict import Conflict

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

    conflict: Conflict
    earlier: Side
    later: Side

    @property
    def doubt(self) -> str:
        """In a word why nothing of the earlier one would end; '' where it would, or nothing speaks of an end."""
        if self.conflict.hides or not self.conflict.waits:
            return ""
        verdict = self.conflict.verdict
        return "unsure" if verdict.whole or verdict.quotes else "part"


def pairs(memory: AgenticMemorySystem, found: Sequence[Conflict], text: str | None, zone: tzinfo) -> list[Pair]:
    """The conflicts with what their notes say; `text` is what a dry run tried."""

    def side(id: str) -> Side:
        note = memory.read(id) if id else None
        if note is None:
            return Side(id, "", "" if id else text or "")
        return Side(id, when(note.valid_from or note.at, zone, minutes=False), text_of(note))

    return [Pair(each, side(each.earlier), side(each.later)) for each in found]


def print_pairs(found: Sequence[Pair], call: Invocation, *, out: Console | None = None) -> None:
    """A block for each; in a pipe ``earlier, later, label, doubt, confidence, why, both contents`` by tabs."""
    if out is None and not on_terminal():
        for each in found:
            say("\t".join(one_line(cell) for cell in _cells(each)))
        return
    out = out or console()
    for place, each in enumerate(found):
        if place:
            out.print()
        _print_block(out, each, call)


def _cells(each: Pair) -> tuple[str, ...]:
    verdict = each.conflict.verdict
    sides = (each.earlier, each.later)
    words = [one_line(side.content, _IN_A_PIPE) for side in sides]
    said = (str(verdict.label), each.doubt, f"{verdict.confidence:.2f}", verdict.reason)
    return (*(side.name for side in sides), *said, *words)


def _print_block(out: Console, each: Pair, call: Invocation) -> None:
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


def _print_ways(out: Console, earlier: str, later: str, call: Invocation) -> None:
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

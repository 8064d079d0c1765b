"""``amem trace``: what a note rests on."""

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import Id, Json
from amem.cli.render import (
    console,
    count,
    on_terminal,
    one_line,
    print_json,
    say_row,
    short_id,
    short_ids,
    styled,
    when,
)
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.style import StyleType
    from rich.text import Text

    from amem.note import Link, MemoryNote
    from amem.retrieval.expansion import Ancestor


def trace(
    context: typer.Context,
    id: Id,
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, help="How many links to follow.")] = 5,
    as_json: Json = False,
) -> None:
    """Show what a note rests on: its causes, what it was derived from, what supports it, and theirs."""
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
        return print_json(shown)
    if on_terminal():
        Tree(note, shown, local).print()
    else:
        print_lines(shown, local)
    if not found:
        tell("no link says what it rests on")
    elif deeper := len(found) - len(shown):
        rest = f"{count(deeper, 'note')} {'lies' if deeper == 1 else 'lie'} one link further"
        tell(f"{rest}: {call.command('trace', short_id(full), '--depth', str(depth + 1))}")


# What a note rests on, as people read it: a tree on a terminal, tab-separated lines in a pipe.


#: Longer texts and reasons are cut, so that the tree stays one.
_CHARS = 240
_LEAST = 20


def print_lines(found: "Sequence[Ancestor]", local: "tzinfo") -> None:
    """One line each, by tabs: hop, id, how it is tied, the id of what rests on it, day, status, text, reason."""
    from amem.rendering import text_of
    from amem.retrieval.expansion import READS

    for each in found:
        note = each.note
        say_row(
            each.hop,
            short_id(each.id),
            READS[each.link.type],
            short_id(each.before),
            "" if note is None else when(note.at, local, minutes=False),
            "missing" if note is None else note.status,
            "" if note is None else text_of(note),
            short_ids(each.reason),
        )


class Tree:
    """The note, and below each note what it rests on. What several rest on is told once and named by the others."""

    def __init__(self, root: "MemoryNote", found: "Sequence[Ancestor]", local: "tzinfo") -> None:
        from amem.retrieval.expansion import resting

        self._root, self._local = root, local
        self._out = console()
        self._below: dict[str, list[tuple[Link, Ancestor | None]]] = {}
        for each in found:
            self._below.setdefault(each.before, []).append((each.link, each))
        for each in found:
            for link in each.also:
                self._below.setdefault(resting(link), []).append((link, None))
        self._told: set[str] = set()

    def print(self) -> None:
        """Print all of it."""
        from amem.rendering import text_of

        root = self._root
        head = styled((short_id(root.id), "bold cyan"), f"  {self._day(root)}  {root.kind}", *_standing(root))
        self._lines([head, styled(one_line(text_of(root), _CHARS))], "", self._bar(root.id))
        # No recursion: a chain of causes may be longer than Python's stack.
        waiting = self._branches(root.id, "")
        while waiting:
            link, ancestor, stem, last = waiting.pop()
            following = stem + ("   " if last else "│  ")
            bar = "" if ancestor is None else self._bar(ancestor.id)
            self._lines(self._told_of(link, ancestor), stem + ("└─ " if last else "├─ "), following + bar)
            if ancestor is not None:
                self._told.add(ancestor.id)
                waiting += self._branches(ancestor.id, following)

    def _branches(self, id: str, stem: str) -> "list[tuple[Link, Ancestor | None, str, bool]]":
        """What the note rests on, last first, each with what stands before its branch and whether it is the last."""
        below = self._below.get(id, [])
        return [(*each, stem, each is below[-1]) for each in reversed(below)]

    def _told_of(self, link: "Link", ancestor: "Ancestor | None") -> "list[Text]":
        from amem.rendering import text_of
        from amem.retrieval.expansion import READS, ground

        other = ground(link)
        tie: tuple[tuple[str, StyleType], ...] = ((f"{READS[link.type]} ", "bold"), (short_id(other), "cyan"))
        because = [styled((f"because: {one_line(short_ids(link.reason), _CHARS)}", "dim"))] if link.reason else []
        if ancestor is None:
            return [styled(*tie, (f"  told {'above' if other in self._told else 'below'}", "dim")), *because]
        if ancestor.note is None:
            return [styled(*tie, ("  not there", "yellow")), *because]
        note = ancestor.note
        head = styled(*tie, f"  {self._day(note)}", *_standing(note))
        return [head, styled(one_line(text_of(note), _CHARS)), *because]

    def _day(self, note: "MemoryNote") -> str:
        return when(note.at, self._local, minutes=False)

    def _bar(self, id: str) -> str:
        return "│  " if self._below.get(id) else ""

    def _lines(self, texts: "Sequence[Text]", first: str, later: str) -> None:
        """The texts in lines that fit, the first behind one stem, all others behind another."""
        from amem.language.sentence_parts import breaks

        # However deep the tree is, half of the width is for words.
        most = self._out.width // 2
        first, later = (stem if len(stem) <= most else f"…{stem[1 - most :]}" for stem in (first, later))
        room = max(_LEAST, self._out.width - max(len(first), len(later)))
        stem = first
        for text in texts:
            for line in text.divide(breaks(text.plain, room, first=room)):
                line.rstrip()
                self._out.print(styled((stem, "dim")) + line, soft_wrap=True)
                stem = later


def _standing(note: "MemoryNote") -> "tuple[tuple[str, StyleType], ...]":
    if note.status is Status.ACTIVE:
        return ()
    by = f" by {short_id(note.superseded_by)}" if note.superseded_by else ""
    return ((f"  {note.status}{by}", "yellow"),)

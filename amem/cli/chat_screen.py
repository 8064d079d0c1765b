"""What a chat looks like on a terminal.

Three voices, told apart without colours: what the user types follows the prompt, what the model writes is indented, and
amem's own lines begin at the edge with a dot.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.cli.chat_fold import Folder
from amem.cli.render import console, one_line, print_wrapped, short_id, styled, when
from amem.conversation.telling import grouped
from amem.rendering import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from rich.text import Text

    from amem.conversation.reply import Recalled
    from amem.note import MemoryNote

#: What amem says itself begins with it, so that it is not taken for the model's.
MARK = "· "


class Screen:
    """Prints to standard output."""

    def __init__(self, zone: tzinfo) -> None:
        self.out = console()
        self.zone = zone
        self._waiting = False

    @property
    def plain(self) -> bool:
        """True when colours are not wanted or not possible."""
        return self.out.no_color or self.out.is_dumb_terminal or not self.out.is_terminal

    def say(self, line: str, style: str = "dim") -> None:
        """One line of amem's own."""
        self.done_waiting()
        print_wrapped(self.out, styled((f"{MARK}{line}", style)), hanging=len(MARK))

    def offer(self, what: str, command: str) -> None:
        """A command to be copied, never broken into lines."""
        self.out.print(styled((f"{MARK}{what}: {command}", "dim")), soft_wrap=True)

    def warn(self, line: str) -> None:
        """A line of amem's own that must not be overlooked."""
        self.say(line, "yellow")

    def gap(self) -> None:
        """An empty line."""
        self.out.print()

    def waiting(self, line: str) -> None:
        """Say what is waited for, until the next line is printed."""
        if not self.plain:
            from amem.cli.render import cut

            self._write(f"\x1b[2m{cut(MARK + line, self.out.width - 1)}\x1b[0m")
            self._waiting = True

    def done_waiting(self) -> None:
        """Take the line of `waiting` away."""
        if self._waiting:
            self._waiting = False
            self._write("\r\x1b[K")

    @contextmanager
    def answer(self) -> Iterator[Callable[[str], None]]:
        """Print the model's text as it is written: the block calls what it is given with each piece."""
        folder = Folder(self.out.width)
        begun = False
        ending = ""

        def write(piece: str) -> None:
            nonlocal begun, ending
            text = f"{ending}{piece}" if begun else piece.lstrip("\n")
            # Empty lines are shown when something follows them.
            ending = text[len(text.rstrip("\n")) :]
            if shown := folder.feed(text.rstrip("\n")):
                self.done_waiting()
                begun = True
                self._write(shown)

        try:
            yield write
        finally:
            rest = folder.end()
            self.done_waiting()
            if begun or rest:
                self._write(f"{rest}\n")

    def text(self, text: str) -> None:
        """A whole answer."""
        with self.answer() as write:
            write(text)

    def asked(self, text: str) -> None:
        """What the user said, as it stood after the prompt."""
        print_wrapped(self.out, styled(("> ", "bold"), text), hanging=2)

    def heading(self, text: str, detail: str) -> None:
        """The beginning of a part."""
        self.out.print(styled((text, "bold"), (f"  {detail}", "dim")))

    def recalled(self, found: Sequence[Recalled], *, shown: bool, most: int | None = None) -> None:
        """What was recalled for an answer: in full what a model read of it (or might have), the rest in a line each.

        `shown` tells whether one read any of it; `most` bounds how many of each sort are printed.
        """
        for group in grouped(found, shown=shown):
            self._group(f"{group.title}:", group.notes, self.entry if group.whole else self._brief, most)

    def entry(self, each: Recalled) -> None:
        """A note with what it said and why it was recalled."""
        day, kind = when(each.at, self.zone, minutes=False), "" if each.kind is None else str(each.kind)
        head = "  ".join(part for part in (day, kind) if part)
        self.out.print(styled(f"  {each.score:.2f}  ", (short_id(each.note), "cyan"), (f"  {head}", "dim")))
        print_wrapped(self.out, _words(each), indent=8)
        said = "; ".join(part for part in (each.why.rstrip("."), "supports an answer" if each.supports else "") if part)
        print_wrapped(self.out, styled((said, "dim")), indent=8)

    def _brief(self, each: Recalled) -> None:
        score = f"{each.score:.2f}  " if each.part == "recalled" else ""
        line = styled(f"  {score}", (short_id(each.note), "cyan"), "  ") + _words(each, one=True)
        self.out.print(line, overflow="ellipsis", no_wrap=True)

    def _group(self, title: str, found: Sequence[Recalled], show: Callable[[Recalled], None], most: int | None) -> None:
        if found:
            self.say(title)
        for each in found[:most]:
            show(each)
        if most is not None and len(found) > most:
            self.out.print(styled((f"  and {len(found) - most} more", "dim")))

    def notes(self, notes: Iterable[MemoryNote]) -> None:
        """Notes, one or a few lines each."""
        for note in notes:
            print_wrapped(
                self.out,
                styled("  ", (short_id(note.id), "cyan"), (f"  {note.kind}  ", "dim"), " ".join(text_of(note).split())),
                hanging=4,
            )

    def choice(self, number: int, id: str, text: str) -> None:
        """A numbered note to choose from."""
        words = styled((f"{number:>4}  ", "bold"), (short_id(id), "cyan"), f"  {' '.join(text.split())}")
        print_wrapped(self.out, words, hanging=6)

    def pair(self, term: str, meaning: str) -> None:
        """A term and what it means, side by side."""
        print_wrapped(self.out, styled("  ", (f"{term:<22}", "bold"), f" {meaning}"), hanging=25)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _words(each: Recalled, *, one: bool = False) -> Text:
    return styled(("(purged since)", "dim") if each.purged else one_line(each.text) if one else each.text)

"""What a chat looks like on a terminal.

Three voices, told apart without colours: what the user types follows the prompt, what the model writes is indented, and
amem's own lines begin at the edge with a dot.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.cli.chat_fold import Folder
from amem.cli.render import console, print_wrapped, short_id, styled, when

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from amem.conversation.reply import Recalled
    from amem.note import MemoryNote

_MARK = "· "


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
        print_wrapped(self.out, styled((f"{_MARK}{line}", style)), hanging=len(_MARK))

    def offer(self, what: str, command: str) -> None:
        """A command to be copied, never broken into lines."""
        self.out.print(styled((f"{_MARK}{what}: {command}", "dim")), soft_wrap=True)

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

            self._write(f"\x1b[2m{cut(_MARK + line, self.out.width - 1)}\x1b[0m")
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

        def write(piece: str) -> None:
            nonlocal begun
            shown = folder.feed(piece if begun else piece.lstrip("\n"))
            if shown:
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

    def recalled(self, found: Sequence[Recalled], *, asked: bool = True) -> None:
        """Notes with what they said, why they were recalled and, where a model was `asked`, whether it saw them."""
        for place, each in enumerate(found, start=1):
            head = "  ".join(
                part
                for part in (
                    f"{each.score:.2f}" if each.part == "recalled" else f"{each.part}",
                    when(each.at, self.zone, minutes=False),
                    "" if each.kind is None else str(each.kind),
                )
                if part
            )
            print_wrapped(
                self.out, styled((f"{place:>4}  ", "dim"), (short_id(each.note), "cyan"), f"  {head}"), hanging=6
            )
            print_wrapped(self.out, styled(("(purged since)", "dim") if each.purged else each.text), indent=6)
            said = "; ".join(part for part in (each.why.rstrip("."), _standing(each) if asked else "") if part)
            print_wrapped(self.out, styled((said, "dim")), indent=6)

    def notes(self, notes: Iterable[MemoryNote]) -> None:
        """Notes, one or a few lines each."""
        for note in notes:
            print_wrapped(
                self.out,
                styled("  ", (short_id(note.id), "cyan"), (f"  {note.kind}  ", "dim"), " ".join(note.content.split())),
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


def _standing(each: Recalled) -> str:
    if each.part == "core":
        return "always shown to the model"
    shown = "shown to the model" if each.injected else "not shown to the model"
    return f"{shown}, supports an answer" if each.supports else shown

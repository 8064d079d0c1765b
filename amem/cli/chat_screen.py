"""What a chat looks like on a terminal, as it is written and when it is shown again.

Three voices, told apart without colours: what the user types follows the prompt, what the model writes is indented,
and amem's own lines begin at the edge with a dot.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.cli.render import Page, draw_receipt, one_line, styled, when
from amem.conversation.commands import Choices, Line, Notes, Recollection, Shown, Term
from amem.conversation.ports import reason
from amem.conversation.reply import LEARNING, Recalled, Replayed, ended, grouped, was_shown
from amem.errors import AmemError, NoteNotFound
from amem.labels import counted, cut, short_id, visible
from amem.language.sentence_parts import breaks, may_break
from amem.note import Receipt
from amem.rendering import text_of
from amem.storage.chats import Learning
from amem.storage.undo import UndoReport
from amem.summaries import reversal_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote


#: What amem says itself begins with it, so that it is not taken for the model's.
MARK = "· "
#: Cells of what is said of how a turn ended, errors of services being of any length.
_LONGEST = 340
_TAB = " " * 4
_NARROWEST = 8


class Folder:
    """Takes text in pieces and gives it back folded to `width` cells, all lines indented by `indent` spaces.

    Lines break between words, and between Chinese characters but not before punctuation. Only amem's own begin at the
    edge, so that no model can imitate them. What cannot be placed yet, because the word may go on, is held back; `end`
    gives the rest. Control characters are shown, not obeyed.
    """

    def __init__(self, width: int, *, indent: int = 2) -> None:
        self._indent = " " * indent
        self._room = max(width - indent, _NARROWEST)
        #: The line on the screen, and how much of it is shown.
        self._line, self._shown = "", 0

    def feed(self, text: str) -> str:
        """What of the text so far can be shown."""
        first, *lines = visible(text.replace("\r", "").replace("\t", _TAB)).split("\n")
        shown = [self._add(first)]
        for line in lines:
            shown += [self.end(), "\n", self._add(line)]
        return "".join(shown)

    def end(self) -> str:
        """The rest; the text is over."""
        rest = self._show(len(self._line.rstrip()))
        self._line, self._shown = "", 0
        return rest

    def _add(self, text: str) -> str:
        self._line += text
        spaces = len(self._line) - len(self._line.lstrip(" "))
        if spaces > self._room - _NARROWEST and not self._shown and self._line.strip():
            # Indentation, but for what leaves no room to read.
            self._line = " " * ((self._room - _NARROWEST) // 2) + self._line[spaces:]
        shown = []
        while ends := breaks(self._line, self._room, first=self._room):
            shown += [self._show(len(self._line[: ends[0]].rstrip())), "\n"]
            self._line, self._shown = self._line[ends[0] :], 0
        whole = (place for place in range(len(self._line) - 1, 0, -1) if may_break(*self._line[place - 1 : place + 1]))
        return "".join([*shown, self._show(len(self._line[: next(whole, 0)].rstrip()))])

    def _show(self, upto: int) -> str:
        if upto <= self._shown:
            return ""
        begun, self._shown = self._shown, upto
        return ("" if begun else self._indent) + self._line[begun:upto]


def why_nobody(error: str | AmemError, hint: str = "") -> str:
    """What went wrong and what to do, in one line."""
    return one_line(reason(error, hint))


class Screen:
    """Prints to standard output."""

    def __init__(self, zone: tzinfo) -> None:
        self.page = Page()
        self.zone = zone
        self._waiting = False

    @property
    def plain(self) -> bool:
        """True when colours are not wanted or not possible."""
        out = self.page.out
        return out.no_color or out.is_dumb_terminal or not out.is_terminal

    def say(self, line: str, style: str = "dim") -> None:
        """One line of amem's own."""
        self.done_waiting()
        self.page.write((f"{MARK}{line}", style), hanging=len(MARK))

    def warn(self, line: str) -> None:
        """A line of amem's own that must not be overlooked."""
        self.say(line, "yellow")

    def gap(self) -> None:
        """An empty line."""
        self.page.line()

    def waiting(self, line: str) -> None:
        """Say what is waited for, until the next line is printed."""
        if not self.plain:
            self._write(f"\x1b[2m{cut(MARK + line, self.page.width - 1)}\x1b[0m")
            self._waiting = True

    def done_waiting(self) -> None:
        """Take the line of `waiting` away."""
        if self._waiting:
            self._waiting = False
            self._write("\r\x1b[K")

    @contextmanager
    def answer(self) -> Iterator[Callable[[str], None]]:
        """Print the model's text as it is written: the block calls what it is given with each piece."""
        folder = Folder(self.page.width)
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
        self.page.write(("> ", "bold"), text, hanging=2)

    def recalled(self, found: Sequence[Recalled], *, shown: bool, most: int | None = None) -> None:
        """What was recalled for an answer: in full what a model read of it (or might have), the rest in a line each.

        `shown` tells whether one read any of it; `most` bounds how many of each sort are printed.
        """
        for group in grouped(found, shown=shown):
            self.say(f"{group.title}:")
            for each in group.notes[:most]:
                self.entry(each, whole=group.whole)
            if most is not None and len(group.notes) > most:
                self.page.line((f"  and {len(group.notes) - most} more", "dim"))

    def entry(self, each: Recalled, *, whole: bool = True) -> None:
        """A note with what it said and why it was recalled; or on one line."""
        id, score = (short_id(each.note), "cyan"), f"  {each.score:.2f}  "
        if not whole:
            return self.page.clipped(score if each.part == "recalled" else "  ", id, "  ", _words(each, one=True))
        day, kind = when(each.at, self.zone, minutes=False), "" if each.kind is None else str(each.kind)
        self.page.line(score, id, (f"  {'  '.join(filter(None, (day, kind)))}", "dim"))
        self.page.write(_words(each), indent=8)
        said = "; ".join(filter(None, (each.why.rstrip("."), "supports an answer" if each.supports else "")))
        self.page.write((said, "dim"), indent=8)

    def notes(self, notes: Iterable[MemoryNote]) -> None:
        """Notes, one or a few lines each."""
        for note in notes:
            text = " ".join(text_of(note).split())
            self.page.write("  ", (short_id(note.id), "cyan"), (f"  {note.kind}  ", "dim"), text, hanging=4)

    def show(self, memory: AgenticMemorySystem, what: Shown) -> None:
        """What a slash command has to show."""
        match what:
            case Line(text, warning):
                (self.warn if warning else self.say)(one_line(text))
            case Notes(notes):
                self.notes(notes)
            case Recollection(recalled, shown, most):
                self.recalled(recalled, shown=shown, most=most)
            case Receipt():
                draw_receipt(self.page, memory.read(what.id), what, mark=MARK)
            case UndoReport():
                done, *others = reversal_lines(memory, what)
                self.say(done)
                for line in others:
                    self.warn(line)
            case Choices(candidates):
                for place, each in enumerate(candidates, start=1):
                    words = f"  {' '.join(each.text.split())}"
                    self.page.write((f"{place:>4}  ", "bold"), (short_id(each.note), "cyan"), words, hanging=6)
            case Term(term, meaning):
                self.page.write("  ", (f"{term:<22}", "bold"), f" {meaning}", hanging=25)

    def turn(self, memory: AgenticMemorySystem, each: Replayed) -> None:
        """A turn as it was: what was said, recalled, shown and answered, and what was learnt from it."""
        turn = each.turn
        self.gap()
        self.page.line((f"turn {turn.number}", "bold"), (f"  {when(turn.at, self.zone)}", "dim"))
        self.asked(turn.question)
        if not each.recalled:
            self.say("nothing was recalled")
        self.recalled(each.recalled, shown=was_shown(turn.state, turn.model))
        if turn.supported is False:
            self.warn("nothing in memory supported an answer, which was said first")
        how = one_line(ended(turn.state, turn.error), _LONGEST)
        asked = ", ".join(filter(None, (turn.model, turn.prompt)))
        size = f", {turn.tokens_in:,} tokens in, {turn.tokens_out:,} out" if turn.tokens_in else ""
        by = f" ({asked}{size})" if asked else ""
        self.say(f"{how}{by}:" if turn.answer else how)
        self.text(turn.answer)
        if turn.learning in LEARNING:
            self.say(LEARNING[turn.learning])
        if each.learnt:
            self._learnt(memory, each)
        elif turn.learning is Learning.DONE:
            self.say("nothing was learnt")

    def _learnt(self, memory: AgenticMemorySystem, each: Replayed) -> None:
        undo = "" if each.turn.learnt_by is None else f" (operation {each.turn.learnt_by})"
        held = [note for id in each.learnt if (note := memory.read(id)) is not None]
        gone = Counter(_gone(memory, id) for id in each.learnt if all(note.id != id for note in held))
        if held:
            self.say(f"learnt{undo}:")
            self.notes(held)
        for how, number in gone.items():
            self.say(f"{counted(number, 'note')} learnt{'' if held else undo}, and {how} since")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _words(each: Recalled, *, one: bool = False) -> Text:
    return styled(("(purged since)", "dim") if each.purged else one_line(each.text) if one else each.text)


def _gone(memory: AgenticMemorySystem, id: str) -> str:
    try:
        last = memory.history(id)[-1]
    except NoteNotFound:
        return "purged"
    return "taken back" if last.action == "undo" else "forgotten"

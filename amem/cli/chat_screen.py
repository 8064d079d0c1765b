"""What a chat looks like on a terminal, as it is written and when it is shown again."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.cli.invocation import tell
from amem.cli.render import (
    console,
    count,
    on_terminal,
    one_line,
    print_json,
    print_receipt,
    print_table,
    print_wrapped,
    say_row,
    short_id,
    styled,
    when,
)
from amem.clock import zone
from amem.conversation.commands import Choices, Line, Notes, Recollection, Stored, Term, Undone
from amem.conversation.ports import reason
from amem.conversation.reply import LEARNING, ended, grouped, was_shown
from amem.errors import NoteNotFound, SessionNotFound
from amem.language.sentence_parts import breaks, may_break
from amem.rendering import text_of
from amem.reversal import reversal_lines
from amem.storage.chats import Learning
from amem.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from rich.text import Text

    from amem.cli.invocation import Invocation
    from amem.conversation.commands import Shown
    from amem.conversation.reply import Recalled, Replayed
    from amem.errors import AmemError
    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.storage.chats import ChatSession


# Text that is still being written, folded at words as it arrives.
#
# A terminal breaks a line wherever it ends. This breaks between words, and between Chinese characters but not before
# punctuation, and it indents every line: only amem's own lines begin at the edge, so that no model can imitate them.

_TAB = " " * 4
_NARROWEST = 8


class Folder:
    """Takes text in pieces and gives it back folded to `width` cells, all lines indented by `indent` spaces.

    What cannot be placed yet, because the word may go on, is held back; `end` gives the rest. Control characters are
    shown, not obeyed.
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


# What a chat looks like on a terminal.
#
# Three voices, told apart without colours: what the user types follows the prompt, what the model writes is indented,
# and amem's own lines begin at the edge with a dot.


def why_nobody(error: str | AmemError, hint: str = "") -> str:
    """What went wrong and what to do, in one line."""
    return one_line(reason(error, hint))


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

    def show(self, memory: AgenticMemorySystem, what: Shown) -> None:
        """What a slash command has to show."""
        match what:
            case Line(text, warning):
                (self.warn if warning else self.say)(one_line(text))
            case Notes(notes):
                self.notes(notes)
            case Recollection(recalled, shown, most):
                self.recalled(recalled, shown=shown, most=most)
            case Stored(receipt):
                print_receipt(memory, receipt, mark=MARK)
            case Undone(report):
                done, *others = reversal_lines(memory, report)
                self.say(done)
                for line in others:
                    self.warn(line)
            case Choices(candidates):
                for place, each in enumerate(candidates, start=1):
                    words = styled(
                        (f"{place:>4}  ", "bold"), (short_id(each.note), "cyan"), f"  {' '.join(each.text.split())}"
                    )
                    print_wrapped(self.out, words, hanging=6)
            case Term(term, meaning):
                print_wrapped(self.out, styled("  ", (f"{term:<22}", "bold"), f" {meaning}"), hanging=25)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _words(each: Recalled, *, one: bool = False) -> Text:
    return styled(("(purged since)", "dim") if each.purged else one_line(each.text) if one else each.text)


# Chats as they were: the list of them, and one turn by turn with what was recalled, shown, answered and learnt.

#: Cells of what is said of how a turn ended, errors of services being of any length.
_LONGEST = 340
_NONE_YET = SessionNotFound("there is no chat yet", hint="amem chat begins one")


def newest(memory: AgenticMemorySystem) -> str:
    """Id of the chat used last. Raises SessionNotFound."""
    with memory.assistant(incognito=True) as assistant:
        found = assistant.sessions(1)
    if not found:
        raise _NONE_YET
    return found[0].id


def list_chats(call: Invocation, as_json: bool) -> None:
    """The chats, the last used first; in a pipe ``id, last used, turns, beginning`` by tabs."""
    with call.browsed(as_json) as memory:
        found = _sessions(memory)
        timezone = call.settings().timezone
    if as_json:
        return print_json(found)
    local = zone(timezone)
    rows = [
        (short_id(each.id), when(each.last_at, local), f"{each.turns:,}", one_line(each.opening, 200)) for each in found
    ]
    print_table(("id", "when", "turns", "begins"), rows, wide="begins", spare=("turns",))
    if not found:
        tell("no chats yet")


def replay_chat(call: Invocation, session: str | None, turn: int | None, as_json: bool) -> None:
    """The turns of a chat, or one of them. Raises SessionNotFound."""
    with call.memory() as memory, memory.assistant(incognito=True) as assistant:
        chat = newest(memory) if session is None else session
        turns = assistant.replay(chat, turn)
        if as_json:
            return print_json({"session": turns[0].turn.session, "turns": [turn_record(each) for each in turns]})
        if on_terminal():
            screen = Screen(zone(memory.settings.timezone))
            screen.say(f"chat {short_id(turns[0].turn.session)}, {count(len(turns), 'turn')}")
            for each in turns:
                _show(screen, memory, each)
        else:
            for each in turns:
                _print(each)


def turn_record(each: Replayed) -> dict[str, Any]:
    """A turn as JSON."""
    turn = each.turn
    return {
        "turn": turn.number,
        "at": turn.at.isoformat(),
        "question": turn.question,
        "answer": turn.answer,
        "state": str(turn.state),
        "in_memory": turn.supported,
        "model": turn.model,
        "prompt": turn.prompt,
        "error": turn.error,
        "recalled": each.recalled,
        "learning": str(turn.learning),
        "learnt": list(each.learnt),
        "operation": turn.learnt_by,
        "tokens_in": turn.tokens_in,
        "tokens_out": turn.tokens_out,
    }


def _sessions(memory: AgenticMemorySystem) -> list[ChatSession]:
    with memory.assistant(incognito=True) as assistant:
        return assistant.sessions()


def _show(screen: Screen, memory: AgenticMemorySystem, each: Replayed) -> None:
    turn = each.turn
    screen.gap()
    screen.heading(f"turn {turn.number}", when(turn.at, screen.zone))
    screen.asked(turn.question)
    if not each.recalled:
        screen.say("nothing was recalled")
    screen.recalled(each.recalled, shown=was_shown(turn.state, turn.model))
    if turn.supported is False:
        screen.warn("nothing in memory supported an answer, which was said first")
    how = one_line(ended(turn.state, turn.error), _LONGEST)
    screen.say(f"{how}{_by(each)}:" if turn.answer else how)
    screen.text(turn.answer)
    if turn.learning in LEARNING:
        screen.say(LEARNING[turn.learning])
    if each.learnt:
        _show_learnt(screen, memory, each)
    elif turn.learning is Learning.DONE:
        screen.say("nothing was learnt")


def _show_learnt(screen: Screen, memory: AgenticMemorySystem, each: Replayed) -> None:
    undo = "" if each.turn.learnt_by is None else f" (operation {each.turn.learnt_by})"
    held = [note for id in each.learnt if (note := memory.read(id)) is not None]
    gone = Counter(_gone(memory, id) for id in each.learnt if all(note.id != id for note in held))
    if held:
        screen.say(f"learnt{undo}:")
        screen.notes(held)
    for how, number in gone.items():
        screen.say(f"{count(number, 'note')} learnt{'' if held else undo}, and {how} since")


def _gone(memory: AgenticMemorySystem, id: str) -> str:
    try:
        last = memory.history(id)[-1]
    except NoteNotFound:
        return "purged"
    return "taken back" if last.action == "undo" else "forgotten"


def _by(each: Replayed) -> str:
    asked = ", ".join(part for part in (each.turn.model, each.turn.prompt) if part)
    size = f", {each.turn.tokens_in:,} tokens in, {each.turn.tokens_out:,} out" if each.turn.tokens_in else ""
    return f" ({asked}{size})" if asked else ""


def _print(each: Replayed) -> None:
    turn = each.turn
    line = partial(say_row, turn.number)
    read = was_shown(turn.state, turn.model)
    line("asked", turn.at.isoformat(), turn.question)
    for found in each.recalled:
        shown = "shown" if found.injected and read else "not shown"
        line("recalled", short_id(found.note), f"{found.score:.3f}", found.part, shown, found.text, found.why)
    line(turn.state, turn.model, turn.answer, turn.error)
    for id in each.learnt:
        line("learnt", short_id(id))

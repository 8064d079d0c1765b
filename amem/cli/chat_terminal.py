"""The chat at a terminal: reads, answers, says what was learnt, and leaves nothing undone on the way out."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, cast

from amem.cli.chat_commands import Commands
from amem.cli.chat_keyboard import Keyboard, keys_unseen
from amem.cli.chat_lines import Leave, why_nobody
from amem.cli.chat_screen import Screen
from amem.cli.render import count, one_line, short_id, when
from amem.clock import zone
from amem.conversation.background import Idle
from amem.conversation.ports import answering, check
from amem.conversation.reply import Learnt, PieceKind, best, ended
from amem.errors import AmemError
from amem.query import Filter
from amem.storage.chats import TurnState

if TYPE_CHECKING:
    from collections.abc import Generator
    from threading import Event

    from amem.cli.invocation import Invocation
    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Piece, Reply
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings
    from amem.storage.chats import Turn

#: A quick learner may say what it learnt before the next prompt; nobody waits longer for a slow one.
_LEARNING_SECONDS = 1.0
#: What is done while nobody types is called off within a page of notes; leaving waits no longer for it than this.
_IDLE_SECONDS = 1.5
#: So many of the last turns are shown when a chat goes on.
_SHOWN_TURNS = 2


class TerminalChat:
    """One sitting. `learnt` is where the assistant puts what it learnt, from its own thread; `answering` the settings
    that name the model."""

    def __init__(
        self,
        call: Invocation,
        memory: AgenticMemorySystem,
        assistant: Assistant,
        learnt: SimpleQueue[Learnt],
        answering: Settings,
    ) -> None:
        self._call = call
        self._memory = memory
        self._assistant = assistant
        self._learnt = learnt
        self._answering = answering
        self._screen = Screen(zone(memory.settings.timezone))
        self._keyboard = Keyboard(plain=self._screen.plain)
        self._commands = Commands(assistant, memory, self._screen, self._keyboard.line)
        self._keyboard.complete_with(self._commands.names())
        self._idle = Idle(self._while_idle, 60 * memory.settings.idle_minutes)
        #: What was done meanwhile, to be said at the next opportunity.
        self._done_meanwhile: SimpleQueue[str] = SimpleQueue()
        #: Why no model answers, as it was said last.
        self._why_nobody = ""
        #: Why the model did not learn, as it was said last.
        self._why_unlearnt = ""

    def run(self) -> None:
        """Talk until the user leaves."""
        self._greet()
        self._show_earlier()
        with self._keyboard.set_up():
            try:
                while True:
                    self._say_learnt()
                    self._idle.begin()
                    try:
                        said = self._read()
                    finally:
                        self._idle.end()
                    self._say_done_meanwhile()
                    self._turn(said)
            except Leave:
                self._leave()
            finally:
                self._idle.end(_IDLE_SECONDS)

    # -- coming and going ---------------------------------------------------------------------------------------

    def _greet(self) -> None:
        settings = self._answering
        notes = count(self._memory.count(Filter()), "note")  # what a search looks at
        try:
            model = self._assistant.model
            check(settings, model)
        except AmemError as error:
            self._why_nobody = str(error)
            self._screen.warn(f"no model answers: {why_nobody(error)}")
            self._screen.say(f"what is asked is looked up in {notes}; /help")
            return
        secret = "; incognito" if self._assistant.incognito else ""
        self._screen.say(f"{answering(settings, model)}; {notes}{secret}; /help")

    def _show_earlier(self) -> None:
        turns = self._assistant.turns()
        if not turns:
            return
        screen, last = self._screen, turns[-1]
        at = when(last.at, screen.zone)
        screen.say(f"chat {short_id(self._assistant.session)} goes on after {count(len(turns), 'turn')}, {at}:")
        for each in turns[-_SHOWN_TURNS:]:
            screen.gap()
            screen.asked(each.question)
            screen.text(each.answer)
            if ended := _ending(each):
                screen.say(ended)
        for each in turns:
            self._keyboard.remember(each.question)

    def _leave(self) -> None:
        screen, assistant = self._screen, self._assistant
        if not assistant.wait(0):
            screen.say("learning from what was said; Ctrl-C leaves that for later")
            try:
                assistant.wait()
            except KeyboardInterrupt:
                screen.gap()
        self._say_learnt()
        if not assistant.incognito and assistant.turns():
            again = self._call.command("chat", "--resume", short_id(assistant.session))
            screen.offer("go on with", again)

    # -- one turn -----------------------------------------------------------------------------------------------

    def _read(self) -> str:
        """What the user says next. Raises Leave."""
        warned = False
        while True:
            self._screen.gap()
            try:
                return self._keyboard.read("incognito > " if self._assistant.incognito else "> ")
            except EOFError:
                self._screen.gap()
                raise Leave from None
            except KeyboardInterrupt:
                cleared = self._keyboard.threw_away
                self._screen.gap()
                if warned and not cleared:
                    raise Leave from None
                if not cleared:
                    self._screen.say("Ctrl-C again leaves; so does Ctrl-D")
                warned = not cleared
            except UnicodeError:
                self._screen.warn("that is not UTF-8 text; nothing was sent")

    def _turn(self, text: str) -> None:
        try:
            if text.startswith("/") and not text.startswith("//"):
                self._say_learnt()
                self._commands.run(text)
            elif text:
                with keys_unseen():
                    self._after(self._answer(text[1:] if text.startswith("//") else text))
                    self._wait_for_learning()
        except AmemError as error:
            self._screen.warn(why_nobody(error))
        except KeyboardInterrupt:
            self._screen.say("stopped")

    def _answer(self, text: str) -> Reply | None:
        """Show the reply as it is written; None when it was stopped before its end."""
        screen = self._screen
        pieces = cast("Generator[Piece, None, None]", self._assistant.stream(text))
        try:
            # Closed however it ends: what had been written is then kept.
            with closing(pieces), screen.answer() as write:
                for piece in pieces:
                    if piece.kind is PieceKind.RECALLED:
                        # Who was told that no model answers waits for none.
                        then = "looking in memory" if self._why_nobody else "waiting for the model"
                        screen.waiting(f"{count(len(piece.recalled), 'note')} recalled; {then}")
                    elif piece.kind is PieceKind.NOTICE:
                        screen.warn(piece.text)
                    elif piece.kind is PieceKind.TEXT:
                        write(piece.text)
                    else:
                        return piece.reply
        except KeyboardInterrupt:
            pass
        return None

    def _after(self, reply: Reply | None) -> None:
        screen = self._screen
        if reply is None or reply.state is TurnState.INTERRUPTED:
            broken = f": {why_nobody(reply.error, reply.hint)}" if reply is not None and reply.error else ""
            screen.say(f"the model broke off{broken}" if broken else "stopped")
        elif reply.state is TurnState.UNANSWERED:
            # What memory answered by itself stands above.
            found = [] if reply.text else best(reply.recalled)
            held = "this is what memory holds" if reply.text else ""
            held = held or ("this is what memory holds:" if found else "memory holds nothing about it either")
            if reply.error == self._why_nobody:
                screen.warn(f"still no model answers; {held}")
            else:
                screen.warn(f"no model answers: {why_nobody(reply.error, reply.hint)}")
                screen.say(held)
            self._why_nobody = reply.error
            if found:
                for each in found:
                    screen.entry(each)
                if more := len(reply.recalled) - len(found):
                    screen.say(f"/why shows {more} more that came to mind")
        else:
            self._why_nobody = ""

    def _wait_for_learning(self) -> None:
        """Give a quick learner the time to say what it learnt before the next prompt."""
        if self._memory.settings.chat_learning == "turn" and not self._assistant.incognito:
            with suppress(KeyboardInterrupt):
                self._assistant.wait(_LEARNING_SECONDS)

    def _while_idle(self, stop: Event) -> None:
        """In a thread of its own: the maintenance that is due, unless nothing is to be kept."""
        if not self._assistant.incognito:
            report = self._memory.maintain_when_quiet(stop)
            if report is not None and (line := report.line()):
                self._done_meanwhile.put(line)

    def _say_done_meanwhile(self) -> None:
        with suppress(Empty):
            self._screen.say(self._done_meanwhile.get_nowait())

    def _say_learnt(self) -> None:
        """One line on what was learnt since the last."""
        sum = Learnt()
        with suppress(Empty):
            while True:
                sum += self._learnt.get_nowait()
        error = sum.error
        if error and error == self._why_unlearnt:
            sum = replace(sum, error="as before")
        self._why_unlearnt = error or self._why_unlearnt
        if line := sum.line():
            self._screen.say(line)


def _ending(turn: Turn) -> str:
    if turn.state is TurnState.ANSWERED:
        return ""
    again = "; the arrow key up brings it back" if turn.state is not TurnState.INTERRUPTED else ""
    return f"{one_line(ended(turn.state, turn.error))}{again}"

"""A chat at a terminal: what is typed, what is answered, and what is done on the way out.

What a conversation is, is ``amem.conversation.session``.
"""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, cast

from amem.cli.chat_screen import MARK, Screen, why_nobody
from amem.cli.render import one_line, when
from amem.clock import zone
from amem.conversation.background import Idle
from amem.conversation.commands import Choices, Leave, Term, chosen, completions, hide, is_command, plain, run
from amem.conversation.reply import Learnt, Piece, PieceKind, Reply, best, ended
from amem.errors import AmemError
from amem.labels import counted, short_id
from amem.storage.chats import Turn, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from threading import Event

    from prompt_toolkit.document import Document

    from amem.cli.invocation import Invocation
    from amem.conversation.commands import Completion
    from amem.conversation.session import Conversation
    from amem.memory_system import AgenticMemorySystem

_WHICH = "forget which? numbers, or Enter for none: "
_KEYS = (
    Term('\\ at the end, or """', 'go on in the next line, until """ ends it; so does Alt-Enter'),
    Term("Tab", "complete a command or a note's id; the arrow keys bring back what was said"),
    Term("Ctrl-C", "stop the answer; at the prompt: clear the line, twice: leave"),
    Term("Ctrl-D", "leave"),
)


def run_command(
    memory: AgenticMemorySystem,
    conversation: Conversation,
    screen: Screen,
    text: str,
    ask: Callable[[str], str] | None = None,
) -> None:
    """Run a slash command; `ask` has the user type a line, and raises EOFError at the end; in a pipe nobody is asked.

    Raises Leave.
    """
    for each in run(conversation, text, _KEYS):
        screen.show(memory, each)
        if isinstance(each, Choices) and ask is None:
            screen.say("nothing was forgotten: /forget ID forgets one of them")
        elif isinstance(each, Choices) and ask is not None:
            try:
                notes = chosen(ask(_WHICH), each.candidates)
            except (EOFError, KeyboardInterrupt):
                notes = []
                screen.gap()
            except ValueError as wrong:
                notes = []
                screen.warn(f"{one_line(str(wrong), 20)} is none of the numbers")
            for told in hide(conversation, notes):
                screen.show(memory, told)


# What is typed at a terminal.

_BLOCK = '"""'


class Prompt:
    """Reads from the terminal with prompt_toolkit; `complete` says what half typed words may become."""

    def __init__(self, complete: Callable[[str], Iterable[Completion]]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import CompleteEvent, Completer
        from prompt_toolkit.completion import Completion as Offer
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output import create_output

        class Words(Completer):
            def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Offer]:
                word = -len(document.get_word_before_cursor(WORD=True))
                with suppress(AmemError):
                    for each in complete(document.text_before_cursor):
                        yield Offer(each.word, word, display_meta=one_line(each.meaning, 60))

        output = create_output()
        # Terminals that do not say where the cursor is would be waited for, and warned of.
        vars(output)["enable_cpr"] = False
        self._history = InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            history=self._history,
            completer=Words(),
            complete_while_typing=False,
            multiline=True,
            prompt_continuation="… ",
            key_bindings=_keys(),
            include_default_pygments_style=False,
            output=output,
        )
        self._line: PromptSession[str] = PromptSession(include_default_pygments_style=False, output=output)

    def remember(self, text: str) -> None:
        """Let the arrow keys bring this text back, in this chat."""
        self._history.append_string(text)

    def read(self, prompt: str) -> str:
        """What the user says, on one line or several.

        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C where nothing is typed, UnicodeError for what is not
        text.
        """
        text = self._session.prompt([("bold", prompt)]).strip()
        text.encode()
        return text.removeprefix(_BLOCK).removesuffix(_BLOCK).strip() if text.startswith(_BLOCK) else text

    def line(self, prompt: str) -> str:
        """One line. Raises EOFError and KeyboardInterrupt."""
        return self._line.prompt([("bold", prompt)])


def _keys() -> Any:
    """Enter sends what is complete, and Ctrl-C clears before it leaves."""
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.text.strip()
        before = buffer.document.text_before_cursor
        if text.startswith(_BLOCK) and not (text.endswith(_BLOCK) and len(text) >= 2 * len(_BLOCK)):
            buffer.insert_text("\n")
        elif before.endswith("\\") and not before.endswith("\\\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _clear(event: KeyPressEvent) -> None:
        if event.current_buffer.text.strip():
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys


@contextmanager
def keys_unseen() -> Iterator[None]:
    """Within the block, what is typed is kept for the next prompt and not shown in between."""
    try:
        import termios
    except ImportError:  # Windows
        yield
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    without = termios.tcgetattr(keyboard)
    # Key by key and not by lines, so that the prompt gets Ctrl-D and the like as keys.
    without[3] &= ~(termios.ECHO | termios.ICANON)
    without[6][termios.VMIN], without[6][termios.VTIME] = 1, 0
    termios.tcsetattr(keyboard, termios.TCSADRAIN, without)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


# At a terminal: reads, answers, says what was learnt, and leaves nothing undone on the way out.

#: A quick learner may say what it learnt before the next prompt; nobody waits longer for a slow one.
_LEARNING_SECONDS = 1.0
#: What is done while nobody types is called off within a page of notes; leaving waits no longer for it than this.
_IDLE_SECONDS = 1.5
#: So many of the last turns are shown when a chat goes on.
_SHOWN_TURNS = 2


class TerminalChat:
    """One sitting. `learnt` is where the conversation puts what was learnt, from another thread."""

    def __init__(
        self, call: Invocation, memory: AgenticMemorySystem, conversation: Conversation, learnt: SimpleQueue[Learnt]
    ) -> None:
        self._call = call
        self._memory = memory
        self._conversation = conversation
        self._learnt = learnt
        self._screen = Screen(zone(memory.settings.timezone))
        self._prompt = Prompt(lambda typed: completions(conversation, typed))
        self._idle = Idle(self._while_idle, 60 * memory.settings.idle_minutes)
        #: What was done meanwhile, to be said at the next opportunity.
        self._done_meanwhile: SimpleQueue[str] = SimpleQueue()

    def run(self) -> None:
        """Talk until the user leaves."""
        self._greet()
        self._show_earlier()
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
        found = self._conversation.answering()
        notes = counted(found.notes, "note")
        if found.problem:
            self._screen.warn(f"no model answers: {why_nobody(found.problem, found.hint)}")
            self._screen.say(f"what is asked is looked up in {notes}; /help")
            return
        secret = "; incognito" if self._conversation.incognito else ""
        self._screen.say(f"{found.who}; {notes}{secret}; /help")

    def _show_earlier(self) -> None:
        assistant, screen = self._conversation.open(), self._screen
        turns = assistant.turns()
        if not turns:
            return
        at = when(turns[-1].at, screen.zone)
        screen.say(f"chat {short_id(assistant.session)} goes on after {counted(len(turns), 'turn')}, {at}:")
        for each in turns[-_SHOWN_TURNS:]:
            screen.gap()
            screen.asked(each.question)
            screen.text(each.answer)
            if ended := _ending(each):
                screen.say(ended)
        for each in turns:
            self._prompt.remember(each.question)

    def _leave(self) -> None:
        screen, assistant = self._screen, self._conversation.open()
        if not assistant.wait(0):
            screen.say("learning from what was said; Ctrl-C leaves that for later")
            try:
                assistant.wait()
            except KeyboardInterrupt:
                screen.gap()
        self._say_learnt()
        if not assistant.incognito and assistant.turns():
            again = self._call.command("chat", "--resume", short_id(assistant.session))
            screen.page.whole((f"{MARK}go on with: {again}", "dim"))

    # -- one turn -----------------------------------------------------------------------------------------------

    def _read(self) -> str:
        warned = False
        while True:
            self._screen.gap()
            try:
                return self._prompt.read("incognito > " if self._conversation.incognito else "> ")
            except EOFError:
                raise Leave from None
            except KeyboardInterrupt:
                if warned:
                    raise Leave from None
                self._screen.say("Ctrl-C again leaves; so does Ctrl-D")
                warned = True
            except UnicodeError:
                self._screen.warn("that is not UTF-8 text; nothing was sent")

    def _turn(self, text: str) -> None:
        try:
            if is_command(text):
                self._say_learnt()
                run_command(self._memory, self._conversation, self._screen, text, self._prompt.line)
            elif text:
                problem = self._conversation.problem
                with keys_unseen():
                    self._after(self._answer(plain(text)), problem)
                    self._wait_for_learning()
        except AmemError as error:
            self._screen.warn(why_nobody(error))
        except KeyboardInterrupt:
            self._screen.say("stopped")

    def _answer(self, text: str) -> Reply | None:
        """Show the reply as it is written; None when it was stopped before its end."""
        screen = self._screen
        pieces = cast("Generator[Piece, None, None]", self._conversation.say(text))
        try:
            # Closed however it ends: what had been written is then kept.
            with closing(pieces), screen.answer() as write:
                for piece in pieces:
                    if piece.kind is PieceKind.RECALLED:
                        # Who was told that no model answers waits for none.
                        then = "looking in memory" if self._conversation.problem else "waiting for the model"
                        screen.waiting(f"{counted(len(piece.recalled), 'note')} recalled; {then}")
                    elif piece.kind is PieceKind.NOTICE:
                        screen.warn(piece.text)
                    elif piece.kind is PieceKind.TEXT:
                        write(piece.text)
                    else:
                        return piece.reply
        except KeyboardInterrupt:
            pass
        return None

    def _after(self, reply: Reply | None, problem: str) -> None:
        """Say how an answer ended, unless in full; `problem` is why no model answered, as it was told before."""
        screen = self._screen
        if reply is None or reply.state is TurnState.INTERRUPTED:
            broken = f": {why_nobody(reply.error, reply.hint)}" if reply is not None and reply.error else ""
            screen.say(f"the model broke off{broken}" if broken else "stopped")
        elif reply.state is TurnState.UNANSWERED:
            # What memory answered by itself stands above.
            found = [] if reply.text else best(reply.recalled)
            held = "this is what memory holds" if reply.text else ""
            held = held or ("this is what memory holds:" if found else "memory holds nothing about it either")
            if reply.error == problem:
                screen.warn(f"still no model answers; {held}")
            else:
                screen.warn(f"no model answers: {why_nobody(reply.error, reply.hint)}")
                screen.say(held)
            for each in found:
                screen.entry(each)
            if found and (more := len(reply.recalled) - len(found)):
                screen.say(f"/why shows {more} more that came to mind")

    def _wait_for_learning(self) -> None:
        if self._memory.settings.chat_learning == "turn" and not self._conversation.incognito:
            with suppress(KeyboardInterrupt):
                self._conversation.open().wait(_LEARNING_SECONDS)

    def _while_idle(self, stop: Event) -> None:
        """In a thread of its own: the maintenance that is due, unless nothing is to be kept."""
        if not self._conversation.incognito:
            report = self._memory.maintain_when_quiet(stop)
            if report is not None and (line := report.line()):
                self._done_meanwhile.put(line)

    def _say_done_meanwhile(self) -> None:
        with suppress(Empty):
            self._screen.say(self._done_meanwhile.get_nowait())

    def _say_learnt(self) -> None:
        learnt = Learnt()
        with suppress(Empty):
            while True:
                learnt += self._learnt.get_nowait()
        if line := self._conversation.news(learnt).line():
            self._screen.say(line)


def _ending(turn: Turn) -> str:
    if turn.state is TurnState.ANSWERED:
        return ""
    again = "; the arrow key up brings it back" if turn.state is not TurnState.INTERRUPTED else ""
    return f"{one_line(ended(turn.state, turn.error))}{again}"

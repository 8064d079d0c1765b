"""What is typed in a chat: edited and recalled with readline where Python has it, over several lines when asked."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType, ModuleType

_BLOCK = '"""'
_MORE = "… "
#: Lines that follow within this time were pasted; nobody types so fast.
_PASTE_SECONDS = 0.02
_BOLD, _NORMAL = "\x1b[1m", "\x1b[0m"


class Keyboard:
    """Reads from the terminal. `plain` leaves out colours.

    GNU readline takes a paste of several lines as one text. Without it, lines that arrive at once belong together.
    """

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self._completions: Sequence[str] = ()
        self._readline = _readline()
        #: Whether something had been typed when Ctrl-C was pressed last.
        self.threw_away = False

    def complete_with(self, commands: Sequence[str]) -> None:
        """Let Tab complete these at the beginning of a line."""
        self._completions = commands

    @contextmanager
    def set_up(self) -> Iterator[None]:
        """Within the block, readline completes commands, and keeps to history only what `remember` is given."""
        readline = self._readline
        if readline is None:
            yield
            return
        completer, delimiters = readline.get_completer(), readline.get_completer_delims()
        readline.set_auto_history(False)
        readline.set_completer(self._complete)
        readline.set_completer_delims(" \n")
        readline.parse_and_bind("bind ^I rl_complete" if _is_libedit(readline) else "tab: complete")
        # Python switches it off, as its own prompt cannot take several lines at once; this one can.
        readline.parse_and_bind("set enable-bracketed-paste on")
        try:
            yield
        finally:
            readline.parse_and_bind("set enable-bracketed-paste off")
            readline.set_completer(completer)
            readline.set_completer_delims(delimiters)
            readline.set_auto_history(True)

    def remember(self, text: str) -> None:
        """Let the arrow keys bring this text back, in this chat."""
        if self._readline is not None and text.strip():
            self._readline.add_history(text)

    def read(self, prompt: str) -> str:
        """What the user says: a line, more lines after a backslash at its end, or all between two lines of three
        quotes. Raises EOFError, KeyboardInterrupt, and UnicodeError for what is no text."""
        text = self.line(prompt)
        text = self._block(text) if text.strip().startswith(_BLOCK) else self._continued(text)
        self.remember(text)
        return text.strip()

    def line(self, prompt: str) -> str:
        """One line, or a paste."""
        with self._interruptible():
            text = input(self._styled(prompt))
        return text if self._pastes_whole else "\n".join([text, *self._pasted()])

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Within the block, Ctrl-C notes whether it threw something away: readline has forgotten it afterwards."""

        def interrupted(number: int, frame: FrameType | None) -> None:
            self.threw_away = self._readline is not None and bool(self._readline.get_line_buffer().strip())
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _block(self, first: str) -> str:
        lines = [first.strip().removeprefix(_BLOCK)]
        while not lines[-1].rstrip().endswith(_BLOCK):
            more = self._more()
            if more is None:
                return "\n".join(lines)
            lines.append(more)
        return "\n".join([*lines[:-1], lines[-1].rstrip().removesuffix(_BLOCK)])

    def _continued(self, text: str) -> str:
        while text.endswith("\\") and not text.endswith("\\\\"):
            text = f"{text[:-1]}\n{self._more() or ''}"
        return text

    def _more(self) -> str | None:
        """The next line of a text that goes on; None when Ctrl-D ends it."""
        try:
            return self.line(_MORE)
        except EOFError:
            return None

    @property
    def _pastes_whole(self) -> bool:
        return self._readline is not None and not _is_libedit(self._readline)

    def _pasted(self) -> Iterator[str]:
        import select

        while sys.platform != "win32" and select.select([sys.stdin], [], [], _PASTE_SECONDS)[0]:
            try:
                yield input()
            except EOFError:
                return

    def _styled(self, prompt: str) -> str:
        if self._plain or not self._pastes_whole:
            return prompt
        # The marks tell readline that what is between them takes no room.
        return f"\001{_BOLD}\002{prompt}\001{_NORMAL}\002"

    def _complete(self, word: str, state: int) -> str | None:
        found = [each for each in self._completions if word.startswith("/") and each.startswith(word)]
        return f"{found[state]} " if state < len(found) else None


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
    # Key by key and not by lines, so that readline gets Ctrl-D and the like as keys.
    without[3] &= ~(termios.ECHO | termios.ICANON)
    without[6][termios.VMIN], without[6][termios.VTIME] = 1, 0
    termios.tcsetattr(keyboard, termios.TCSADRAIN, without)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # Windows, and Pythons built without it
        return None
    return readline


def _is_libedit(readline: ModuleType) -> bool:
    return "libedit" in (readline.__doc__ or "")

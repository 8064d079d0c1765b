"""A person at a terminal: ``amem`` in a pseudo-terminal of its own, typed into and read from."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

AMEM = (sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()")
CTRL_C, CTRL_D, UP, ENTER = "\x03", "\x04", "\x1b[A", "\r"
PROMPT = re.compile(r"(?:^|\n)(?:incognito )?> $")
_SEQUENCE = re.compile(r"\x1b(?:\[([0-9;?]*)([@-~])|\][^\x07]*\x07|[=>])")
_SECONDS = 60.0


class Paper:
    """A terminal without a bottom: keeps every line that was printed, as it is after all that was drawn over it."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._lines: list[list[str]] = [[]]
        self._folded: set[int] = set()
        self._rest = ""
        self.row = self.column = 0

    def write(self, text: str) -> None:
        """Print this; a sequence that has not ended yet waits for its rest."""
        text, self._rest = self._rest + text, ""
        place = 0
        while place < len(text):
            char = text[place]
            if char == "\x1b":
                found = _SEQUENCE.match(text, place)
                if found is None:
                    self._rest = text[place:]
                    return
                self._obey(found[1] or "", found[2] or "")
                place = found.end()
                continue
            place += 1
            if char == "\n":
                self.row += 1
            elif char == "\r":
                self.column = 0
            elif char == "\b":
                self.column = max(0, self.column - 1)
            elif char >= " ":
                self._put(char)
        self._line()

    def since(self, row: int, column: int) -> str:
        """What stands there and after it; a line that was too long for the terminal is one."""
        line = self._line()
        line += [" "] * (self.column - len(line))  # blanks before the cursor need not have been printed
        found = "".join(self._lines[row][column:])
        for place in range(row + 1, len(self._lines)):
            found += f"{'' if place in self._folded else chr(10)}{''.join(self._lines[place])}"
        return found

    def _line(self) -> list[str]:
        while len(self._lines) <= self.row:
            self._lines.append([])
        return self._lines[self.row]

    def _put(self, char: str) -> None:
        width = cell_len(char)
        if self.column + width > self._columns:
            self.row, self.column = self.row + 1, 0
            self._folded.add(self.row)
        line = self._line()
        line += [" "] * (self.column - len(line))
        # The second cell of a wide character is empty.
        line[self.column : self.column + width] = [char, *[""] * (width - 1)]
        self.column += width

    def _obey(self, numbers: str, what: str) -> None:
        first = numbers.split(";")[0]
        by = int(first) if first.isdecimal() else 0
        if what == "A":
            self.row = max(0, self.row - max(1, by))
        elif what == "B":
            self.row += max(1, by)
        elif what == "C":
            self.column += max(1, by)
        elif what == "D":
            self.column = max(0, self.column - max(1, by))
        elif what in ("K", "J") and by == 0:
            del self._line()[self.column :]
            if what == "J":
                del self._lines[self.row + 1 :]


class Sitting:
    """Begins with the program's start; the block's end kills what still runs."""

    def __init__(self, *words: str, env: Mapping[str, str], columns: int = 80) -> None:
        self._seen = b""
        self._paper, self._decoder = Paper(columns), getincrementaldecoder("utf-8")("replace")
        self._typed_at = 0, 0
        self._place = 0
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **env}
        environment.pop("COLUMNS", None)
        # A session of its own, so that Ctrl-C goes to the program as from a keyboard.
        self.process = subprocess.Popen(
            [*AMEM, *words],
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        os.close(self._master)

    @property
    def raw(self) -> str:
        """All that was printed, escape sequences included."""
        return self._seen.decode(errors="replace").replace("\r\n", "\n")

    @property
    def screen(self) -> str:
        """What stands behind the place at which keys were pressed last."""
        return self._paper.since(*self._typed_at)

    def keys(self, text: str) -> None:
        """Press keys; the screen begins anew here."""
        self._typed_at, self._place = (self._paper.row, self._paper.column), 0
        self.press(text)

    def press(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def until(self, wanted: str | re.Pattern[str]) -> str:
        """Read on until this is on the screen; returns what is new there since the last keys or the last `until`."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        deadline = time.monotonic() + _SECONDS
        while (found := self._found(pattern)) is None:
            new = self.screen[self._place :]
            assert time.monotonic() < deadline, f"no {pattern.pattern!r} in {new!r}"
            assert self._read(deadline), f"the program ended without {pattern.pattern!r}: {new!r}"
        return found

    def _found(self, pattern: re.Pattern[str]) -> str | None:
        new = self.screen[self._place :]
        if (found := pattern.search(new)) is None:
            return None
        self._place += found.end()
        return new[: found.end()]

    def say(self, text: str) -> str:
        """Type a line and wait for the next prompt; what was printed in between."""
        self.keys(text + ENTER)
        return self.until(PROMPT)

    def until_gone(self, text: str) -> None:
        """Read on until this is no longer on the screen."""
        deadline = time.monotonic() + _SECONDS
        while text in self.screen:
            assert time.monotonic() < deadline, f"{text!r} is still in {self.screen!r}"
            assert self._read(deadline), "the program ended"

    def learnt(self, text: str) -> str:
        """Say something and go on to the line that tells what was learnt; what was printed in between."""
        deadline = time.monotonic() + _SECONDS
        printed = self.say(text)
        # It comes before the next prompt, whenever that is.
        while "· saved" not in printed:
            assert time.monotonic() < deadline, printed
            printed += self.say("")
        return printed

    def end(self) -> int:
        """Wait for the program's end; its exit code."""
        deadline = time.monotonic() + _SECONDS
        while self._read(deadline):
            assert time.monotonic() < deadline, self.screen[-500:]
        return self.process.wait(_SECONDS)

    def kill(self) -> None:
        """``kill -9``."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(_SECONDS)

    def _read(self, deadline: float) -> bool:
        if not select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other end was closed
            return False
        self._seen += data
        self._paper.write(self._decoder.decode(data))
        return bool(data)

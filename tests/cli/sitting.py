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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

AMEM = (sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()")
CTRL_C, CTRL_D, UP, ENTER = "\x03", "\x04", "\x1b[A", "\r"
PROMPT = re.compile(r"(?:^|\n)(?:incognito )?> $")
# A terminal drops what it still holds when Ctrl-C is pressed, so a sequence may want its end.
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]?|[=>]?)")
_UNENDED = re.compile(r"\x1b(?:\[[0-9;?]*)?$")
_ERASED = re.compile(r"[^\n]*\r\x1b\[K")
_SECONDS = 60.0
_PATIENCE = 2.0


class Sitting:
    """Begins with the program's start; the block's end kills what still runs."""

    def __init__(self, *words: str, env: Mapping[str, str], columns: int = 80) -> None:
        self._seen = b""
        self._typed_at = 0
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
        """What was printed since keys were pressed last and not taken away again, without escape sequences."""
        return _ESCAPES.sub("", _ERASED.sub("", self.raw[self._typed_at :])).replace("\r", "")

    def keys(self, text: str) -> None:
        """Press keys."""
        printed = self.raw
        unended = _UNENDED.search(printed)  # the rest of this sequence is not what the keys bring
        self._typed_at, self._place = len(printed) if unended is None else unended.start(), 0
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

    def interrupt(self, wanted: str | re.Pattern[str]) -> str:
        """Press Ctrl-C at the prompt and read on until this is on the screen.

        Python overlooks a signal that comes in the instant before it waits for a key; like a person, press again
        when nothing has come of it: nothing on the screen, or no more than the prompt of before, drawn late.
        """
        self.keys(CTRL_C)
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        deadline = time.monotonic() + _SECONDS
        while (found := self._found(pattern)) is None:
            assert time.monotonic() < deadline, f"no {pattern.pattern!r} in {self.screen!r}"
            if select.select([self._master], [], [], _PATIENCE)[0]:
                assert self._read(deadline), "the program ended"
            elif not self.screen.strip(" >\n"):
                os.write(self._master, CTRL_C.encode())
        return found

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
        return bool(data)

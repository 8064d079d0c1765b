"""A real terminal (tmux) and what is on its screen."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

PATIENCE = 60.0


class Terminal:
    """Runs a command in a tmux server of its own, which ends with the ``with`` statement."""

    def __init__(self, command: Sequence[str], *, width: int = 120, height: int = 36) -> None:
        self._tmux = ("tmux", "-L", f"amem-{uuid.uuid4().hex[:12]}", "-f", "/dev/null")
        self._command = shlex.join(command)
        self._size = ("-x", str(width), "-y", str(height))

    def __enter__(self) -> Self:
        # A shell that stays shows what a program left behind when it ended.
        self._run("new-session", "-d", *self._size, f"{self._command}; echo ended with $?; exec cat")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._run("kill-server")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: ``Enter``, ``Escape``, ``C-k``; other words are typed letter by letter."""
        for key in keys:
            self._run("send-keys", key)

    def resize(self, width: int, height: int) -> None:
        """Another size, in cells."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """The lines on the screen."""
        return self._run("capture-pane", "-p")

    def wait_for(self, words: str | Callable[[str], bool]) -> str:
        """The screen, once it shows these words; fails with what it shows when it never does."""
        shows = words if callable(words) else (lambda screen: words in screen)
        end = time.monotonic() + PATIENCE
        while not shows(screen := self.screen()):
            if time.monotonic() > end:
                raise AssertionError(f"never showed {words!r}, but:\n{screen}")
            time.sleep(0.05)
        return screen

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=True, env=_environment()
        ).stdout


def _environment() -> dict[str, str]:
    """Ours, but for the terminal's size: a test process may have one, which programs would believe for ever."""
    ours = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    return ours | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "COLORTERM": "truecolor"}

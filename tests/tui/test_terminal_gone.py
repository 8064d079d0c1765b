"""A browser whose terminal, or whose page's server, is gone: it ends, whatever state it is in."""

from __future__ import annotations

import contextlib
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
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")]

AMEM = "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"
#: The browser, with an event loop that does not answer any more soon after notes are listed.
STUCK = f"""
import asyncio, threading, time
import amem_tui.browser_app as app
settle = app.NotesApp._settle
def settle_and_hang(self, client):
    settle(self, client)
    def look():
        if any(each.count for each in self.screen.query("#notes")):
            self.set_timer(0.5, lambda: time.sleep(600))
    self.set_interval(0.1, look)
app.NotesApp._settle = settle_and_hang
{AMEM}"""
#: Writes to the clipboard, by escapes of 7 and of 8 bits.
ATTACK = "\x1b]52;c;cm0gLXJmIH4=\x07\x9d52;c;cm0gLXJmIH4=\x9c"
PATIENCE = 60


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with AgenticMemorySystem(directory=tmp_path, llm_backend="offline") as memory:
        memory.add(f"Green tea at 80 degrees {ATTACK}", tags=[f"tea{ATTACK}"])
    return tmp_path


class Window:
    """A terminal that shows the browser; `own` makes it the browser's controlling one, which hangs up by a signal."""

    def __init__(self, home: Path, program: str = AMEM, *, own: bool = True) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "--home", str(home), "tui"],
            env={**os.environ, "TERM": "xterm-256color", "AMEM_LLM_BACKEND": "offline"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if own else None,
        )
        os.close(slave)
        self.shown = b""
        self._open = True

    def wait_for(self, words: bytes) -> None:
        end = time.monotonic() + PATIENCE
        while words not in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.shown):
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 0.1)[0]:
                self.shown += os.read(self.master, 65_536)

    def watch_until_it_ends(self) -> None:
        """Go on showing what the program writes, as a terminal does: one that nobody reads would hold it up."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, "it goes on"
            with suppress(OSError):
                if select.select([self.master], [], [], 0.1)[0]:
                    os.read(self.master, 65_536)

    def vanish(self) -> None:
        self._open = False
        os.close(self.master)

    def end(self) -> None:
        if self._open:
            self.vanish()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def window(home: Path) -> Iterator[Callable[..., Window]]:
    opened: list[Window] = []

    def open_window(*words: str, own: bool = True) -> Window:
        opened.append(Window(home, *words, own=own))
        return opened[-1]

    yield open_window
    for each in opened:
        each.end()


@pytest.mark.parametrize("own", [True, False], ids=["with a signal", "at end of file"])
def test_it_ends_when_its_window_is_closed(window: Callable[..., Window], own: bool) -> None:
    browser = window(own=own)
    browser.wait_for(b"Green tea")
    browser.vanish()
    browser.process.wait(PATIENCE)


def test_it_ends_when_the_signal_comes_and_the_window_stays(window: Callable[..., Window]) -> None:
    browser = window()
    browser.wait_for(b"Green tea")
    browser.process.send_signal(signal.SIGHUP)
    browser.watch_until_it_ends()


@pytest.mark.parametrize("own", [True, False], ids=["with a signal", "at end of file"])
def test_it_ends_when_it_does_not_listen_any_more(window: Callable[..., Window], own: bool) -> None:
    browser = window(STUCK, own=own)
    browser.wait_for(b"Green tea")
    time.sleep(1)  # until it hangs
    browser.vanish()
    browser.process.wait(PATIENCE)


def test_it_ends_while_it_writes_to_a_window_that_takes_nothing(window: Callable[..., Window]) -> None:
    browser = window(own=False)
    browser.wait_for(b"Green tea")
    # Each new size is drawn in full; nobody reads it, so that what it writes soon waits.
    for width in range(300, 400):
        fcntl.ioctl(browser.master, termios.TIOCSWINSZ, struct.pack("HHHH", 100, width, 0, 0))
        browser.process.send_signal(signal.SIGWINCH)
        time.sleep(0.02)
    browser.vanish()
    browser.process.wait(PATIENCE)


def test_what_a_note_says_does_not_drive_the_terminal(window: Callable[..., Window]) -> None:
    browser = window()
    browser.wait_for(b"Green tea")
    os.write(browser.master, b"\r")
    browser.wait_for(b"offline")
    assert b"]52;" in browser.shown  # harmless without what stood before it
    assert b"\x1b]52" not in browser.shown
    assert not {"\x9d", "\x9c"} & set(browser.shown.decode(errors="replace"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")
def test_the_browsers_behind_a_page_end_when_its_server_is_killed(home: Path) -> None:
    import asyncio

    import aiohttp

    server = subprocess.Popen(
        [sys.executable, "-c", AMEM, "--home", str(home), "tui", "--web", "--port", "0"],
        env={**os.environ, "AMEM_LLM_BACKEND": "offline"},
        stdout=subprocess.PIPE,
        text=True,
    )
    children: list[int] = []
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()

        async def opened() -> None:
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(f"{address}ws?width=90&height=30") as page,
            ):
                shown = b""
                while b"Green tea" not in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown):
                    shown += (await page.receive(PATIENCE)).data
                children.extend(children_of(server.pid))
                server.kill()

        asyncio.run(opened())
        assert children
        end = time.monotonic() + PATIENCE
        while any(os.path.exists(f"/proc/{each}") for each in children):
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
        for each in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def children_of(process: int) -> list[int]:
    """The processes that it began, and those that these began."""
    found = [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [*found, *(below for each in found for below in children_of(each))]

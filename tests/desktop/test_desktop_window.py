"""``amem desktop`` in a real window on a display of its own: search, open, graph, quit; nothing is left running."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("webview", "qtpy", "PySide6")),
        reason='needs pip install ".[desktop]"',
    ),
]

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]
TEA, KETTLE = "Green tea at 80 degrees, never boiling", "The kettle keeps tea at 80 degrees"
PATIENCE = 90.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Window:
    """A running ``amem desktop``: keys go to its window through the display; what its page is told to draw is heard."""

    def __init__(self, display: str, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._mark = f"AMEM_TEST_MARK={uuid4().hex}"
        name, _, value = self._mark.partition("=")
        given = {"DISPLAY": display, "QTWEBENGINE_REMOTE_DEBUGGING": f"127.0.0.1:{self._port}", name: value}
        self._env = {**os.environ, **given}
        self._told: list[bytes] = []
        self._since = 0
        self._heard = threading.Event()
        self.process = subprocess.Popen(
            [*AMEM, "--home", str(home), "-c", "garden", "desktop"], env=self._env, stderr=subprocess.PIPE, text=True
        )
        found = wait_for(lambda: self._found() or self.process.poll() is not None)
        assert found is not True, self.process.communicate()
        self.id = found[0]
        self.xdo("windowfocus", self.id)
        self._listening = threading.Thread(target=lambda: asyncio.run(self._listen()), daemon=True)
        self._listening.start()
        self._heard.wait(PATIENCE)

    def _visible(self) -> set[str]:
        """The windows on the display; an open menu is one."""
        return set(self.xdo("search", "--onlyvisible", "--name", ".*").split())

    def _menu_opened(self, seen: set[str]) -> bool:
        self.xdo("key", "alt+n")
        end = time.monotonic() + 15
        while not self._visible() - seen and time.monotonic() < end:
            time.sleep(0.1)
        return bool(self._visible() - seen)

    def _found(self) -> list[str]:
        return self.xdo("search", "--onlyvisible", "--name", "^amem: garden$").split()

    def xdo(self, *words: str) -> str:
        """Have xdotool do something on the display."""
        return subprocess.run(["xdotool", *words], env=self._env, capture_output=True, text=True, check=False).stdout

    def press(self, *keys: str) -> None:
        """Press keys; what is drawn from now on counts."""
        self._since = len(self._told)
        self.xdo("key", *keys)

    def type(self, words: str) -> None:
        """Type words; what is drawn from now on counts."""
        self._since = len(self._told)
        self.xdo("type", words)

    def choose(self, key: str) -> None:
        """Choose from the menu, by the keyboard."""
        self._since = len(self._told)
        seen = self._visible()
        wait_for(lambda: self._menu_opened(seen), lambda: "the menu never opened")
        self.xdo("key", key)
        wait_for(lambda: not self._visible() - seen, lambda: "the menu never closed")

    def shows(self, words: str) -> None:
        """Wait until these words are drawn."""
        wait_for(lambda: words in self._text(), lambda: f"never drew {words!r}, but {self._text()[-1500:]}")

    @property
    def geometry(self) -> list[int]:
        """Its size."""
        return [int(each) for each in re.findall(r"(\d+)x(\d+)", self.xdo("getwindowgeometry", self.id))[-1]]

    def ended(self) -> tuple[int, str]:
        """The exit code and what was said, once nothing of it runs any more."""
        _, said = self.process.communicate(timeout=PATIENCE)
        wait_for(lambda: not self.running(), lambda: f"left running: {self.running()}")
        # What the listener of this test makes Chromium say, it would not say to a person.
        return self.process.returncode, "".join(
            line for line in said.splitlines(True) if line.strip() and "DevTools" not in line
        )

    def kill(self) -> None:
        """End all that is left of it, where a test failed."""
        for each in self.running():
            os.kill(each, signal.SIGKILL)
        if self.process.stderr is not None and not self.process.stderr.closed:
            self.process.communicate(timeout=PATIENCE)

    def running(self, words: str = "") -> list[int]:
        """The processes that it or one of its own started, and itself; with `words` in their command lines."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (folder / "environ").read_bytes():
                    found += [int(folder.name)] if words.encode() in (folder / "cmdline").read_bytes() else []
            except OSError:  # it ended meanwhile
                continue
        return found

    def _text(self) -> str:
        return _ESCAPES.sub("", b"".join(self._told[self._since :]).decode("utf-8", "replace"))

    async def _listen(self) -> None:
        from aiohttp import ClientError, ClientSession

        async with ClientSession() as client:
            address = ""
            while not address:
                try:
                    async with client.get(f"http://127.0.0.1:{self._port}/json/list") as answer:
                        address = next(iter(await answer.json(content_type=None)), {}).get("webSocketDebuggerUrl", "")
                except ClientError:
                    await asyncio.sleep(0.1)
            async with client.ws_connect(address, max_msg_size=0) as connection:
                await connection.send_json({"id": 1, "method": "Network.enable"})
                self._heard.set()
                async for message in connection:
                    held = json.loads(message.data)
                    if held.get("method") == "Network.webSocketFrameReceived":
                        frame = held["params"]["response"]
                        if frame["opcode"] == 2:
                            self._told.append(base64.b64decode(frame["payloadData"]))


def wait_for(what: Callable[[], Any], else_: Callable[[], str] = lambda: "never came") -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        if time.monotonic() > end:
            raise AssertionError(else_())
        time.sleep(0.1)
    return found


def count_of_notes(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "amem.db")) as database:
        return int(database.execute("SELECT count(*) FROM notes").fetchone()[0])


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Window]]:
    """Opens a window on two linked notes, on a display without a window manager."""
    with AgenticMemorySystem(directory=tmp_path, collection="garden", llm_backend="offline") as memory:
        tea, kettle = memory.add_notes([TEA, KETTLE])
        memory.link(kettle.id, tea.id, "supports", "both are about tea")
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-noreset"]
    with ExitStack() as stack:
        screen = stack.enter_context(subprocess.Popen(words, pass_fds=[writer], stderr=subprocess.DEVNULL))
        stack.callback(screen.terminate)
        os.close(writer)
        with os.fdopen(reader) as told:
            display = f":{told.readline().strip()}"

        def opens() -> Window:
            window = Window(display, tmp_path)
            stack.callback(window.kill)
            return window

        yield opens


def test_search_open_graph_write_quit_and_nothing_is_left(opened: Callable[[], Window], tmp_path: Path) -> None:
    window = opened()
    window.xdo("windowsize", window.id, "1200", "800")  # it draws all anew, for us to hear
    window.shows(TEA[:16])
    window.choose("s")
    window.shows("question or words")
    window.type("kettle")
    window.press("Return")
    window.shows("by words")
    window.shows(f"─ {KETTLE}")
    window.press("g")
    window.shows("both are about tea")
    window.choose("n")
    window.shows("New note")
    window.type("Oolong in the evening")
    window.shows("Oolong in the evening")  # keys take another way than the menu: it must not overtake them
    window.choose("q")
    window.shows("ctrl+q once more")
    window.press("ctrl+s")
    wait_for(lambda: count_of_notes(tmp_path / "garden") == 3)
    window.shows("concluded by a model or a rule")
    window.xdo("windowsize", window.id, "900", "600", "windowmove", window.id, "70", "50")
    wait_for(lambda: window.geometry == [900, 600])
    window.choose("q")
    assert window.ended() == (0, "")
    assert json.loads((tmp_path / "window.json").read_text())["x"] == 70
    with AgenticMemorySystem(directory=tmp_path, collection="garden") as memory:
        assert any(note.content == "Oolong in the evening" for note in memory.list())

    again = opened()
    assert again.geometry == [900, 600]
    (browser,) = wait_for(lambda: again.running("--served"))
    os.kill(browser, signal.SIGKILL)
    code, said = again.ended()
    assert code == 1
    assert said.count("\n") == 1
    assert "the browser in the window was ended by signal 9" in said


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_a_window_that_is_ended_takes_its_server_and_browser_along(opened: Callable[[], Window], by: int) -> None:
    window = opened()
    wait_for(lambda: window.running("--served"))
    window.process.send_signal(by)
    code, said = window.ended()
    assert said == ""
    assert code == (0 if by == signal.SIGTERM else -by)

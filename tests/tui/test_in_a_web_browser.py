"""``amem tui --web`` in a real web browser: search, open, graph, undo; and no other host is asked for anything."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page, WebSocket

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.thorough, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]
TEA, KETTLE = "Green tea at 80 degrees, never boiling", "The kettle keeps tea at 80 degrees"
PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Drawn:
    """What the page was told to draw, as text: the terminal on it paints pixels."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._told: list[bytes] = []
        self._since = 0
        self.addresses: list[str] = []
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("websocket", self._listen)

    def press(self, *keys: str) -> None:
        """Press keys; what is drawn from now on counts."""
        self._since = len(self._told)
        for key in keys:
            self._page.keyboard.press(key)

    def type(self, words: str) -> None:
        """Type words; what is drawn from now on counts."""
        self._since = len(self._told)
        self._page.keyboard.type(words)

    def wait_for(self, words: str) -> None:
        """Wait until these words are drawn."""
        end = time.monotonic() + PATIENCE
        while words not in self.text():
            if time.monotonic() > end:
                raise AssertionError(f"never drew {words!r}, but:\n{self.text()}")
            self._page.wait_for_timeout(50)

    def text(self) -> str:
        """What was drawn since the last key."""
        return _ESCAPES.sub("", b"".join(self._told[self._since :]).decode("utf-8", "replace"))

    def _listen(self, connection: WebSocket) -> None:
        self.addresses.append(connection.url)
        connection.on("framereceived", lambda frame: self._told.append(frame if isinstance(frame, bytes) else b""))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where the browser of two linked notes is served."""
    with AgenticMemorySystem(directory=tmp_path, llm_backend="offline") as memory:
        tea, kettle = memory.add_notes([TEA, KETTLE])
        memory.link(kettle.id, tea.id, "supports", "both are about tea")
    command = [*AMEM, "--home", str(tmp_path), "tui", "--web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


def test_search_open_graph_undo_and_nothing_from_outside(address: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        drawn = Drawn(page)
        page.goto(address)
        drawn.wait_for(TEA[:16])
        drawn.press("/")
        drawn.type("kettle")
        drawn.press("Enter")
        drawn.wait_for("by words")
        drawn.wait_for(f"─ {KETTLE}")
        drawn.press("g")
        drawn.wait_for("both are about tea")
        drawn.press("b")
        drawn.wait_for(TEA[:16])
        drawn.press("p")
        drawn.wait_for("Pinned")
        drawn.press("u")
        drawn.wait_for("Undone: ")
        with AgenticMemorySystem(directory=tmp_path) as memory:
            assert [operation.action for operation in memory.log(limit=2)] == ["undo", "pin"]
            assert not any(note.pinned for note in memory.list())
        # Closing the browser by its own key tells the page so.
        drawn.press("q")
        page.wait_for_selector("body.-closed .closed-dialog", state="visible")
        chromium.close()
    hosts = {urlsplit(each).netloc for each in drawn.addresses if not each.startswith("data:")}
    assert hosts == {urlsplit(address).netloc}

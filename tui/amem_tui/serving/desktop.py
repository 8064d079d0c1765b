"""The browser in a window of its own: a page served by a thread, and pywebview's window on it."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, InvalidInput, MissingExtra
from amem_tui.serving.page_server import listening, page_of
from amem_tui.serving.window import NoteWindow, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem.settings import Settings
    from amem_tui.serving.page_server import Page

#: Seconds that the server may take to begin, and to end.
_PATIENCE = 10.0
_ELSEWHERE = "amem tui runs in a terminal, amem tui --web in a web browser"
_INSTALL = 'pip install "amem[desktop]"'
#: Loads what a window needs. Where there is no display, or a library is missing, Qt ends the program that tries.
_TRY = "import qtpy.QtWebEngineWidgets, qtpy.QtWidgets; qtpy.QtWidgets.QApplication([])"
_LIBRARIES = "libegl1 libgl1 libnss3 libasound2 libxcb-cursor0 libxkbcommon-x11-0 and so on"


def open_desktop(settings: Settings, *, env_file: str | None = None) -> None:
    """Open a window on the settings' collection, and return when it was closed.

    Raises AmemError where the browser in it was ended by anything but a person. See `check_display` for what is needed.
    """
    window = NoteWindow(_webview(), settings.home, settings.tui_keys)
    page = page_of(settings, listening(0), env_file, window)
    with served(page, lambda why: window.leave(f"the server of the window failed: {why}")) as loop:

        def choose(what: str) -> bool:
            asyncio.run_coroutine_threadsafe(page.choose(what), loop)
            return page.is_open

        window.show(title_of(settings.collection), page.url, choose)
    if window.said:
        raise AmemError(window.said, hint="your notes are where they were; amem desktop opens it again")


def check_extra() -> None:
    """Raise MissingExtra where the packages that a window needs are not installed."""
    names = ("webview", "qtpy") if sys.platform == "linux" else ("webview",)
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        package = {"webview": "pywebview", "qtpy": "Qt"}[missing[0]]
        raise MissingExtra(f"amem desktop needs {package}", hint=f"{_INSTALL}; {_ELSEWHERE}")


def check_display() -> None:
    """Raise MissingExtra or InvalidInput, with what is missing, where no window can be opened."""
    check_extra()
    if sys.platform != "linux":
        return
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise InvalidInput("there is no display to open a window on", hint=_ELSEWHERE)
    tried = subprocess.run([sys.executable, "-c", _TRY], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return
    said = tried.stderr.strip()
    if "could not connect to display" in said:
        raise InvalidInput(f"the display {os.environ.get('DISPLAY', '')} does not answer", hint=_ELSEWHERE)
    last = said.splitlines()[-1] if said else f"Qt ended with {tried.returncode}"
    if "No Qt bindings" in said or "No module named" in last:
        raise MissingExtra("amem desktop needs Qt with its web engine", hint=f"{_INSTALL}; {_ELSEWHERE}")
    why = "libxcb-cursor0 is missing" if "xcb-cursor0" in said else last.partition(": ")[2] or last
    raise MissingExtra(f"Qt opens no window: {why}", hint=f"on Debian: apt install {_LIBRARIES}; {_ELSEWHERE}")


@contextmanager
def served(page: Page, failed: Callable[[str], None]) -> Iterator[asyncio.AbstractEventLoop]:
    """The page, served by a thread meanwhile, whose loop this is: windows want the main one for themselves.

    `failed` hears why the server ended before it was told to.
    """
    loop, ended, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def run() -> None:
        await page.start()
        ready.set()
        try:
            await ended.wait()
        finally:
            await page.stop()

    def serve() -> None:
        try:
            loop.run_until_complete(run())
        except Exception as error:
            failed(str(error) or type(error).__name__)

    thread = threading.Thread(target=serve, name="amem page", daemon=True)
    thread.start()
    try:
        if not ready.wait(_PATIENCE):
            raise RuntimeError("the page was not served in time")
        yield loop
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(ended.set)
        thread.join(_PATIENCE)
        if not thread.is_alive():
            loop.close()


def _webview() -> Any:
    """pywebview, told to leave the terminal to us."""
    if sys.platform == "linux" and os.geteuid() == 0:
        # Chromium's sandbox does not run as root; what the window shows comes from our own server alone.
        os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")
    # What Qt and Chromium say of drivers and buses that are not there.
    os.environ.setdefault("QT_LOGGING_RULES", "*=false")
    os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--log-level=3")
    webview = importlib.import_module("webview")
    importlib.import_module("webview.menu")
    logging.getLogger("pywebview").setLevel(logging.CRITICAL)
    return webview

"""The browser in a window of its own: pywebview's window on a page that a thread serves, and an entry in the menu."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from amem.errors import AmemError, InvalidInput, MissingExtra, StorageError
from amem_tui.serving.page_server import Watcher, listening, page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.settings import Settings
    from amem_tui.serving.page_server import WebPage


#: In the home: where the window was last.
_KEPT = "window.json"
#: The page's colours, for what of the window is seen before it and around it.
_DARK, _LIGHT = "#14171f", "#d5d9e3"
_SMALLEST = (480, 320)
_LARGEST = 20_000
#: Seconds that the browser is given to quit, or to say that it asks first.
QUIT_PATIENCE = 5.0
#: What the menu offers, the browser's name for it, and which key does it there.
_OFFERED = (
    ("&New note", "new", "app.new"),
    ("&Search", "search", "browse.search"),
    ("&Collections", "collections", "app.collections"),
)


class WindowPlace(BaseModel, frozen=True, strict=True):
    """Where a window stands, in pixels; None where the desktop decides."""

    width: int = Field(default=1280, ge=_SMALLEST[0], le=_LARGEST)
    height: int = Field(default=820, ge=_SMALLEST[1], le=_LARGEST)
    x: int | None = Field(default=None, ge=-_LARGEST, le=_LARGEST)
    y: int | None = Field(default=None, ge=-_LARGEST, le=_LARGEST)
    maximized: bool = False


def kept_place(home: Path) -> WindowPlace:
    try:
        return WindowPlace.model_validate_json((home / _KEPT).read_bytes())
    except (OSError, ValueError):
        return WindowPlace()


def keep_place(home: Path, place: WindowPlace) -> None:
    draft = home / f"{_KEPT}.{os.getpid()}"
    with contextlib.suppress(OSError):
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(place.model_dump_json())
        os.replace(draft, home / _KEPT)


class NoteWindow(Watcher):
    """A window on the page of a browser; `choose` does there what the menu offers, and is False where none is open.

    Told to close, it has the browser quit, which may ask first, and closes with it or where it does not answer.
    """

    def __init__(self, webview: Any, home: Path, keys: Mapping[str, str]) -> None:
        self._webview, self._home, self._keys = webview, home, keys
        self._window: Any = None
        self._choose: Callable[[str], bool] = lambda what: False
        self._over = threading.Event()
        self._waiting: threading.Timer | None = None
        #: Why the window closed, where no person closed it.
        self.said = ""

    def show(self, title: str, url: str, choose: Callable[[str], bool]) -> None:
        """Show the page until the window is closed; to be called by the main thread."""
        self._choose = choose
        place = kept_place(self._home)
        self._window = self._webview.create_window(
            title, url, **place.model_dump(), min_size=_SMALLEST, background_color=_DARK, menu=self._menu()
        )
        self._window.events.before_show += self._put
        self._window.events.closing += self._closing
        for name in ("SIGTERM", "SIGHUP"):
            with contextlib.suppress(AttributeError, ValueError):  # as on Windows
                signal.signal(getattr(signal, name), lambda *_: self.leave())
        with as_file(files("amem_tui.serving").joinpath("icon.svg")) as icon:
            # On Linux pywebview would try GTK first, which the extra does not bring.
            self._webview.start(gui="qt" if sys.platform == "linux" else None, icon=str(icon))
        self._over.set()

    def leave(self, why: str = "") -> None:
        """Close the window, whatever is open in it; `why` is told where no person wished it."""
        if self._over.is_set():
            return
        self._over.set()
        self.said = why
        # It waits for a window that is not shown yet; a thread does, since whoever calls has other things to do.
        threading.Thread(target=self._window.destroy, name="amem window", daemon=True).start()

    def opened(self, collection: str) -> None:
        threading.Thread(target=self._window.set_title, args=(title_of(collection),), daemon=True).start()

    def stays(self) -> None:
        """Leave the person all the time to answer."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def ended(self, code: int) -> None:
        """The window is of no use without the browser."""
        how = f"was ended by signal {-code}" if code < 0 else f"failed (exit code {code})"
        self.leave("" if code == 0 else f"the browser in the window {how}")

    def _closing(self) -> bool:
        """Whether the window may close now; where the browser is still there it closes with that."""
        keep_place(self._home, self._place())
        if self._over.is_set() or not self._choose("quit"):
            return True
        self.stays()
        self._waiting = threading.Timer(QUIT_PATIENCE, self.leave)
        self._waiting.daemon = True
        self._waiting.start()
        return False

    def _menu(self) -> list[Any]:
        from textual.keys import format_key

        from amem_tui.keymap import every_key

        menu, known = self._webview.menu, every_key()

        def offered(title: str, key: str, does: Callable[[], object]) -> Any:
            named = self._keys.get(key, known[key].key).split(",")[0].strip()
            if sys.platform != "linux":
                return menu.MenuAction(title.replace("&", ""), does)
            # Qt shows what follows a tab where shortcuts stand; the key itself is the browser's.
            return menu.MenuAction(f"{title}\t{format_key(named)}", does)

        items = [offered(title, key, partial(self._choose, what)) for title, what, key in _OFFERED]
        leave = offered("&Quit", "app.quit", lambda: self._window.destroy())
        return [menu.Menu("&Notes" if sys.platform == "linux" else "Notes", [*items, menu.MenuSeparator(), leave])]

    def _put(self) -> None:
        """Where Qt shows the window: on a screen that is there, and where it stood, frame and all."""
        native = self._window.native
        if not hasattr(native, "frameGeometry"):
            return
        native.menuBar().setStyleSheet(f"QMenuBar {{ color: {_LIGHT}; background: {_DARK}; }}")
        from qtpy.QtWidgets import QApplication

        place, frame = kept_place(self._home), native.frameGeometry()
        if place.x is None or place.y is None:
            return
        frame.moveTo(place.x, place.y)
        if not any(screen.availableGeometry().intersects(frame) for screen in QApplication.screens()):
            frame.moveCenter(QApplication.primaryScreen().availableGeometry().center())
        native.move(frame.topLeft())

    def _place(self) -> WindowPlace:
        window, native = self._window, self._window.native
        if not hasattr(native, "frameGeometry"):
            return WindowPlace.model_construct(width=window.width, height=window.height, x=window.x, y=window.y)
        maximized = native.isMaximized()
        at = native.normalGeometry() if maximized else native
        place = {"width": at.width(), "height": at.height(), "x": at.x(), "y": at.y()}
        return WindowPlace.model_construct(**place, maximized=maximized)


def title_of(collection: str) -> str:
    return f"amem: {collection}"


#: Seconds that the server may take to begin, and to end.
_PATIENCE = 10.0
_ELSEWHERE = "amem tui runs in a terminal, amem tui --web in a web browser"
_INSTALL = 'pip install "amem[desktop]"'
#: Loads what a window needs. Where there is no display, or a library is missing, Qt ends the program that tries.
TRY = "import qtpy.QtWebEngineWidgets, qtpy.QtWidgets; qtpy.QtWidgets.QApplication([])"
_LIBRARIES = "libegl1 libgl1 libnss3 libasound2 libxcb-cursor0 libxkbcommon-x11-0 and so on"


def open_desktop(settings: Settings, *, env_file: str | None = None) -> None:
    """Open a window on the settings' collection until it is closed; for what it needs see `check_display`.

    Raises AmemError where the browser in it was ended by anything but a person.
    """
    window = NoteWindow(load_webview(), settings.home, settings.tui_keys)
    page = page_of(settings, listening(0), env_file, window)
    with served(page) as loop:

        def choose(what: str) -> bool:
            asyncio.run_coroutine_threadsafe(page.choose(what), loop)
            return page.is_open

        window.show(title_of(settings.collection), page.url, choose)
    if window.said:
        raise AmemError(window.said, hint="your notes are where they were; amem desktop opens it again")


def check_extra() -> None:
    """Raise MissingExtra where the packages that a window needs are not installed."""
    needed = {"webview": "pywebview", "qtpy": "Qt"} if sys.platform == "linux" else {"webview": "pywebview"}
    for name, package in needed.items():
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(f"amem desktop needs {package}", hint=f"{_INSTALL}; {_ELSEWHERE}")


def check_display() -> None:
    """Raise MissingExtra or InvalidInput, with what is missing, where no window can be opened."""
    check_extra()
    if sys.platform != "linux":
        return
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise InvalidInput("there is no display to open a window on", hint=_ELSEWHERE)
    tried = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, check=False)
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
def served(page: WebPage) -> Iterator[asyncio.AbstractEventLoop]:
    """The page, served by a thread meanwhile, whose loop this is: windows want the main one for themselves."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="amem page", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(page.start(), loop).result(_PATIENCE)
        try:
            yield loop
        finally:
            asyncio.run_coroutine_threadsafe(page.stop(), loop).result(_PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE)
        if not thread.is_alive():
            loop.close()


def load_webview() -> Any:
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


# An entry for the menu of a Linux desktop, with an icon, put there and taken away on request.

_NAME = "amem"
#: What a desktop entry gives a meaning of its own inside quotes.
_RESERVED = re.compile(r'(["`$\\])')


def install(command: Sequence[str], folder: Path | None = None) -> Path:
    """Write the entry that runs `command`, and its icon, into `folder` (None: the person's own); returns its path.

    Raises InvalidInput on a system without such entries and StorageError where it cannot be written.
    """
    entry, icon = _entry_places(folder)
    picture = files("amem_tui.serving").joinpath("icon.svg").read_bytes()
    try:
        for path, held in ((icon, picture), (entry, _entry(command, icon).encode())):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held)
    except OSError as error:
        raise StorageError(f"{error.filename} cannot be written: {error.strerror}") from error
    return entry


def uninstall(folder: Path | None = None) -> bool:
    """Take the entry and its icon away; False when there was none."""
    entry, icon = _entry_places(folder)
    there = entry.exists()
    for path in (entry, icon):
        path.unlink(missing_ok=True)
    return there


def _entry_places(folder: Path | None) -> tuple[Path, Path]:
    if folder is None:
        if sys.platform in ("win32", "darwin"):
            raise InvalidInput("menu entries of this kind are for Linux desktops", hint="amem desktop opens the window")
        named = os.environ.get("XDG_DATA_HOME", "")
        folder = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"
    return folder / "applications" / f"{_NAME}.desktop", folder / "icons/hicolor/scalable/apps" / f"{_NAME}.svg"


def _entry(command: Sequence[str], icon: Path) -> str:
    told = files("amem_tui.serving").joinpath("amem.desktop").read_text(encoding="utf-8")
    return told.format(command=" ".join(_quoted(word) for word in command), icon=icon)


def _quoted(word: str) -> str:
    """A word as the specification of desktop entries quotes it; a percent sign would be a field code."""
    if any(char < " " for char in word):
        raise InvalidInput(f"{word!r} cannot stand in a menu entry")
    quoted = _RESERVED.sub(r"\\\1", word)
    # Once more for the file, in which a backslash begins an escape.
    return f'"{quoted}"'.replace("\\", "\\\\").replace("%", "%%")

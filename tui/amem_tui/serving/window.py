"""The window around the browser, by pywebview: its menu, its place, and how it ends.

Told to close, it first has the browser quit, which asks where something that was typed would be lost. It closes with
the browser behind it, whoever ended that, and where the browser does not answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from dataclasses import asdict, dataclass, fields
from functools import partial
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from amem_tui.serving.page_server import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

#: In the home: where the window was last.
_KEPT = "window.json"
#: The page's colours, for what of the window is seen before it and around it.
_DARK, _LIGHT = "#14171f", "#d5d9e3"
_SMALLEST = (480, 320)
_LARGEST = 20_000
#: Seconds that the browser is given to quit, or to say that it asks first.
_PATIENCE = 5.0
#: What the menu offers, the browser's name for it, and which key does it there.
_OFFERED = (
    ("&New note", "new", "app.new"),
    ("&Search", "search", "browse.search"),
    ("&Collections", "collections", "app.collections"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a window stands, in pixels; None where the desktop decides."""

    width: int = 1280
    height: int = 820
    x: int | None = None
    y: int | None = None
    maximized: bool = False


def kept_place(home: Path) -> Place:
    """Where the window was last; the usual place where nothing usable is kept."""
    try:
        held = json.loads((home / _KEPT).read_text(encoding="utf-8"))
        place = Place(**{field.name: held[field.name] for field in fields(Place)})
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return Place()
    sizes = (place.width, place.height)
    known = all(type(each) is int for each in (*sizes, *(each for each in (place.x, place.y) if each is not None)))
    within = known and all(low <= each <= _LARGEST for low, each in zip(_SMALLEST, sizes, strict=True))
    near = known and all(each is None or abs(each) <= _LARGEST for each in (place.x, place.y))
    return place if within and near and type(place.maximized) is bool else Place()


def keep_place(home: Path, place: Place) -> None:
    """Keep it for the next time, where the home can be written to."""
    draft = home / f"{_KEPT}.{os.getpid()}"
    with contextlib.suppress(OSError):
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(place), file)
        os.replace(draft, home / _KEPT)


class NoteWindow(Watcher):
    """A window on the page of a browser; `choose` does there what the menu offers, and is False where none is open.

    `webview` is pywebview, and `keys` are a person's own by what they do.
    """

    def __init__(self, webview: Any, home: Path, keys: Mapping[str, str]) -> None:
        self._webview = webview
        self._home = home
        self._keys = keys
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
            title, url, **asdict(place), min_size=_SMALLEST, background_color=_DARK, menu=self._menu()
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
        """Name the collection in the title."""
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
        self._waiting = threading.Timer(_PATIENCE, self.leave)
        self._waiting.daemon = True
        self._waiting.start()
        return False

    def _menu(self) -> list[Any]:
        from amem_tui.keymap import every_key

        menu, known = self._webview.menu, every_key()

        def offered(title: str, key: str, does: Callable[[], object]) -> Any:
            named = self._keys.get(key, known[key].key).split(",")[0].strip()
            if sys.platform != "linux":
                return menu.MenuAction(title.replace("&", ""), does)
            # Qt shows what follows a tab where shortcuts stand; the key itself is the browser's.
            return menu.MenuAction(f"{title}\t{_SIGNS.get(named, named)}", does)

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
        seen = any(screen.availableGeometry().intersects(frame) for screen in QApplication.screens())
        if not seen:
            frame.moveCenter(QApplication.primaryScreen().availableGeometry().center())
        native.move(frame.topLeft())

    def _place(self) -> Place:
        window, native = self._window, self._window.native
        if not hasattr(native, "frameGeometry"):
            return Place(window.width, window.height, window.x, window.y)
        if native.isMaximized():
            kept = native.normalGeometry()
            return Place(kept.width(), kept.height(), kept.x(), kept.y(), maximized=True)
        return Place(native.width(), native.height(), native.x(), native.y())


_SIGNS = {"slash": "/"}


def title_of(collection: str) -> str:
    """What stands above a window on this collection."""
    return f"amem: {collection}"

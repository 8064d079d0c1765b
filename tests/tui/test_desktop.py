"""``amem desktop``: a window, what is said where there can be none, and an entry in the menu."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from amem_tui.serving import desktop
from typer.testing import CliRunner

from amem.cli.app import app
from amem.errors import AmemError, InvalidInput, MissingExtra
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable


class Event:
    """An event of pywebview: handlers are added, and a False of theirs forbids what it tells of."""

    def __init__(self) -> None:
        self.heard: list[Callable[[], Any]] = []

    def __iadd__(self, handler: Callable[[], Any]) -> Event:
        self.heard.append(handler)
        return self

    def allows(self) -> bool:
        return all(handler() is not False for handler in self.heard)


class Windows:
    """Stands in for pywebview, which needs a display: opens the address as a window would, until it is closed."""

    class menu:
        Menu = MenuAction = staticmethod(lambda *of: of)
        MenuSeparator = staticmethod(lambda: ("-", None))

    def __init__(self, seen: Callable[[Windows], None] = lambda windows: None) -> None:
        self._seen = seen
        self.native = object()
        self.events = SimpleNamespace(before_show=Event(), closing=Event())
        self.x = self.y = 40
        self.width, self.height = 900, 700
        self.closed = threading.Event()
        self.title = self.url = self.shown = ""
        self.given: dict[str, Any] = {}

    def create_window(self, title: str, url: str, **given: Any) -> Windows:
        self.title, self.url, self.given = title, url, given
        return self

    def start(self, **_: Any) -> None:
        assert self.events.before_show.allows()
        with urllib.request.urlopen(self.url) as answer:
            self.shown = answer.read().decode()
        self._seen(self)
        self.destroy()
        assert self.closed.wait(30)

    def set_title(self, title: str) -> None:
        self.title = title

    def destroy(self) -> None:
        if self.events.closing.allows():
            self.closed.set()


@pytest.fixture
def opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Windows], Windows]:
    """Opens a window on a collection of this home."""

    def opened(windows: Windows) -> Windows:
        monkeypatch.setattr(desktop, "load_webview", lambda: windows)
        desktop.open_desktop(Settings(home=tmp_path, collection="garden"))
        return windows

    return opened


def test_a_window_shows_the_page_and_closing_it_ends_the_server(opens: Callable[[Windows], Windows]) -> None:
    windows = opens(Windows())
    assert windows.title == "amem: garden"
    assert 'id="terminal"' in windows.shown
    assert "amem page" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(windows.url)
    ((_, items),) = windows.given["menu"]
    names = [title.replace("&", "").split("\t")[0] for title, _ in items]
    assert names == ["New note", "Search", "Collections", "-", "Quit"]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"width": -1}', '{"width": "9", "height": 1, "x": 1}'])
def test_a_window_opens_where_it_was_and_anywhere_where_that_is_not_known(
    opens: Callable[[Windows], Windows], tmp_path: Path, kept: str
) -> None:
    file = tmp_path / "window.json"
    file.write_text(kept)
    usual = opens(Windows()).given
    assert (usual["width"], usual["x"], usual["maximized"]) == (1280, None, False)
    assert file.stat().st_mode & 0o077 == 0
    then = opens(Windows()).given
    assert (then["width"], then["height"], then["x"]) == (900, 700, 40)


def test_a_window_closes_with_one_line_when_the_browser_behind_it_fails(
    opens: Callable[[Windows], Windows], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(windows: Windows) -> None:
        behind = windows.events.closing.heard[0].__self__
        behind.opened("meadow")
        behind.ended(-9)
        assert windows.closed.wait(30)
        while windows.title != "amem: meadow":
            threading.Event().wait(0.01)

    with pytest.raises(AmemError, match="ended by signal 9") as refused:
        opens(Windows(fails))
    assert "\n" not in f"{refused.value}{refused.value.hint}"


def test_a_browser_that_does_not_answer_does_not_keep_the_window_open(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(desktop, "QUIT_PATIENCE", 0.05)
    windows = Windows()

    def choose(what: str) -> bool:
        asked.append(what)
        return True

    with TemporaryDirectory() as home:
        shown = desktop.NoteWindow(windows, Path(home), {"app.quit": "f10"})
        monkeypatch.setattr(Windows, "start", lambda self, **_: (self.destroy(), self.closed.wait(30)))
        shown.show("amem", "", choose)
    assert asked == ["quit"]
    assert windows.closed.is_set()
    assert windows.given["menu"][0][1][-1][0].replace("&", "").split("\t")[0] == "Quit"


@pytest.mark.skipif(sys.platform != "linux", reason="a display is known by its name there alone")
def test_what_is_missing_for_a_window_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"webview", "qtpy"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name if name in there else None)
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match="there is no display"):
        desktop.check_display()
    monkeypatch.setenv("DISPLAY", ":4711")
    for said, error, told in (
        ("qt.qpa.xcb: could not connect to display :4711\nneeds xcb-cursor0", InvalidInput, ":4711 does not answer"),
        ("Traceback\nImportError: libEGL.so.1: cannot open", MissingExtra, "Qt opens no window: libEGL.so.1"),
        ("qt: xcb-cursor0 or libxcb-cursor0 is needed\nno plugin", MissingExtra, "libxcb-cursor0 is missing"),
        ("Traceback\nqtpy.QtBindingsNotFoundError: No Qt bindings could be found", MissingExtra, "web engine"),
    ):
        monkeypatch.setattr(desktop, "TRY", f"import sys; sys.exit({said!r})")
        with pytest.raises(error, match=told) as refused:
            desktop.check_display()
        assert "\n" not in f"{refused.value}{refused.value.hint}"
        assert "amem tui --web" in refused.value.hint
    there.remove("webview")
    with pytest.raises(MissingExtra, match="needs pywebview") as missing:
        desktop.check_display()
    assert 'pip install "amem[desktop]"' in missing.value.hint


def test_an_entry_in_the_menu_can_be_put_there_and_taken_away(tmp_path: Path) -> None:
    entry = desktop.install(["amem", "--home", "/a b/$c", 'say "hi" 100%', "back\\slash"], tmp_path)
    text = entry.read_text()
    icon = tmp_path / "icons/hicolor/scalable/apps/amem.svg"
    assert f"Icon={icon}\n" in text
    assert icon.read_text().startswith("<svg")
    (line,) = [each for each in text.splitlines() if each.startswith("Exec=")]
    # What a desktop makes of it: escapes of the file, then of the quotes (which are the shell's), then field codes.
    words = line.removeprefix("Exec=").replace("\\\\", "\\")
    said = subprocess.run(["sh", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True).stdout
    assert [each.replace("%%", "%") for each in said.splitlines()] == [
        *("amem", "--home", "/a b/$c", 'say "hi" 100%', "back\\slash")
    ]
    assert desktop.uninstall(tmp_path) is True
    assert not entry.exists()
    assert not icon.exists()
    assert desktop.uninstall(tmp_path) is False


def test_the_menu_gets_no_entry_that_would_open_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop.importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["desktop", "--install"], env={"XDG_DATA_HOME": str(tmp_path)})
    (line,) = result.stderr.splitlines()
    assert line.startswith('error: amem desktop needs pywebview (pip install "amem[desktop]"; ')
    assert (result.exit_code, result.stdout, list(tmp_path.iterdir())) == (1, "", [])


def test_a_command_of_several_lines_cannot_stand_in_a_menu(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="menu entry"):
        desktop.install(["amem", "x\nTerminal=true"], tmp_path)
    assert not list(tmp_path.rglob("*.desktop"))


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_entry_is_one_that_desktops_accept(tmp_path: Path) -> None:
    entry = desktop.install([sys.executable, "-c", "import sys; print('$x')"], tmp_path)
    checked = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0)

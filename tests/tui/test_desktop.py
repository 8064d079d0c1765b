"""``amem desktop``: a window, the web browser where there is none, and an entry in the menu."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from amem_tui.serving import desktop, launcher

from amem.errors import InvalidInput
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


class Windows:
    """Stands in for pywebview, which needs a display: opens the address as a window would, or cannot."""

    class errors:
        class WebViewException(Exception): ...

    def __init__(self, *, fails: bool = False) -> None:
        self.fails, self.opened, self.shown = fails, "", ""

    def create_window(self, title: str, url: str, **size: Any) -> None:
        self.opened = f"{title} {url}"

    def start(self) -> None:
        if self.fails:
            raise self.errors.WebViewException("no display")
        with urllib.request.urlopen(self.opened.split()[-1]) as answer:
            self.shown = answer.read().decode()


def test_a_window_shows_the_page_and_closing_it_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = Windows()
    monkeypatch.setattr(desktop, "_window", lambda: windows)
    desktop.open_desktop(Settings(home=tmp_path), told=lambda said: None)
    assert "amem: memories" in windows.opened
    assert 'id="terminal"' in windows.shown
    assert "amem page" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(windows.opened.split()[-1])


@pytest.mark.parametrize("windows", [None, Windows(fails=True)], ids=["not installed", "no display"])
def test_without_a_window_the_web_browser_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: Windows | None
) -> None:
    said: list[str] = []
    asked: list[str] = []

    def opens(url: str) -> bool:
        asked.append(url)
        signal_this_process()
        return False

    monkeypatch.setattr(desktop, "_window", lambda: windows)
    monkeypatch.setattr("webbrowser.open", opens)
    desktop.open_desktop(Settings(home=tmp_path), told=said.append)
    assert asked[0].startswith("http://127.0.0.1:")
    assert asked[0] in said
    assert "no web browser was found" in said[-1]
    assert ("no window could be opened (no display)" in said[0]) is (windows is not None)


def signal_this_process() -> None:
    """What Ctrl-C does, once the loop runs again."""
    import os
    import signal

    os.kill(os.getpid(), signal.SIGINT)


def test_an_entry_in_the_menu_can_be_put_there_and_taken_away(tmp_path: Path) -> None:
    entry = launcher.install(["amem", "--home", "/a b/$c", 'say "hi" 100%', "back\\slash"], tmp_path)
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
    assert launcher.uninstall(tmp_path) is True
    assert not entry.exists()
    assert not icon.exists()
    assert launcher.uninstall(tmp_path) is False


def test_a_command_of_several_lines_cannot_stand_in_a_menu(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="menu entry"):
        launcher.install(["amem", "x\nTerminal=true"], tmp_path)
    assert not list(tmp_path.rglob("*.desktop"))


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_entry_is_one_that_desktops_accept(tmp_path: Path) -> None:
    entry = launcher.install([sys.executable, "-c", "import sys; print('$x')"], tmp_path)
    checked = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0)

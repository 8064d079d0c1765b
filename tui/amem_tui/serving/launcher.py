"""An entry for the menu of a Linux desktop, with an icon, put there and taken away on request."""

from __future__ import annotations

import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = "amem"
_ENTRY = """[Desktop Entry]
Type=Application
Name=amem
GenericName=Memory browser
Comment=See, correct and trust what your agents wrote
Comment[zh_CN]=查看、修正并信任智能体写下的笔记
Exec={command}
Icon={icon}
Terminal=false
Categories=Office;
Keywords=notes;memory;zettelkasten;agents;
StartupNotify=true
"""
#: What a desktop entry gives a meaning of its own inside quotes.
_RESERVED = re.compile(r'(["`$\\])')


def install(command: Sequence[str], folder: Path | None = None) -> Path:
    """Write the entry that runs `command`, and its icon; returns the entry's path.

    `folder` is where the desktop keeps a person's own data (None: ``XDG_DATA_HOME``, else ``~/.local/share``). Raises
    InvalidInput on a system without such entries and StorageError where it cannot be written.
    """
    entry, icon = _places(folder)
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
    entry, icon = _places(folder)
    there = entry.exists()
    for path in (entry, icon):
        path.unlink(missing_ok=True)
    return there


def _places(folder: Path | None) -> tuple[Path, Path]:
    if folder is None:
        if sys.platform in ("win32", "darwin"):
            raise InvalidInput("menu entries of this kind are for Linux desktops", hint="amem desktop opens the window")
        named = os.environ.get("XDG_DATA_HOME", "")
        folder = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"
    return folder / "applications" / f"{_NAME}.desktop", folder / "icons/hicolor/scalable/apps" / f"{_NAME}.svg"


def _entry(command: Sequence[str], icon: Path) -> str:
    return _ENTRY.format(command=" ".join(_quoted(word) for word in command), icon=icon)


def _quoted(word: str) -> str:
    """A word as the specification of desktop entries quotes it; a percent sign would be a field code."""
    if any(char < " " for char in word):
        raise InvalidInput(f"{word!r} cannot stand in a menu entry")
    quoted = _RESERVED.sub(r"\\\1", word)
    # Once more for the file, in which a backslash begins an escape.
    return f'"{quoted}"'.replace("\\", "\\\\").replace("%", "%%")

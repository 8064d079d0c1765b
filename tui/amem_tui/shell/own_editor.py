"""A note's text in the person's own editor, which has the terminal to itself meanwhile."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from amem.errors import AmemError, InvalidInput

if TYPE_CHECKING:
    from textual.app import App

_NOWHERE = "There is no terminal here that an editor could have; write in the form instead."


@dataclass(frozen=True, slots=True)
class Written:
    """The text as the editor left it; `problem` says what became of the editor where it did not end well."""

    text: str
    problem: str = ""


def write_in_editor(app: App[Any], text: str) -> Written:
    """Let the person edit the text in $VISUAL or $EDITOR while the app is suspended.

    Whatever becomes of the editor, the text that it left in the file comes back; its folder, with what else an editor
    may have kept there, stays when it failed. Raises InvalidInput where no editor can be started.
    """
    from amem.cli.editor import editor_command, run_editor

    command = editor_command()
    folder = Path(tempfile.mkdtemp(prefix="amem-"))
    path = folder / "note.md"
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    problem = ""
    try:
        # On the event loop on purpose: nothing may draw while the terminal is another program's.
        with app.suspend():
            try:
                run_editor([*command, str(path)])
            except AmemError as error:
                problem = str(error)
    except SuspendNotSupported as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidInput(_NOWHERE) from error
    return _read_back(path, text, problem)


def _read_back(path: Path, before: str, problem: str) -> Written:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Written(before, f"what the editor left cannot be read ({error}); it is in {path.parent}")
    # Most editors end a file with a line break of their own.
    text = text if before.endswith("\n") else text.rstrip("\n")
    left = [each for each in path.parent.iterdir() if each != path]
    if problem and (left or text != before):
        return Written(text, f"{problem}; what it left is in {path.parent}")
    shutil.rmtree(path.parent, ignore_errors=True)
    return Written(text, problem)

"""A note's text in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import AmemError, InvalidInput

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote


def edit_content(memory: AgenticMemorySystem, note: MemoryNote) -> bool:
    """Let the person edit the note's content; False when they left it as it was.

    Raises InvalidInput when no editor runs; what was typed is kept in a file when it cannot be saved.
    """
    descriptor, name = tempfile.mkstemp(prefix="amem-", suffix=".md")
    path = Path(name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(note.content)
    keep = False
    try:
        run_editor([*editor_command(), name])
        content = path.read_text(encoding="utf-8")
        # Most editors end a file with a line break of their own.
        content = content if note.content.endswith("\n") else content.rstrip("\n")
        if content == note.content:
            return False
        try:
            return memory.update(note, content=content)
        except AmemError as error:
            keep = bool(content.strip())
            if keep:
                error.hint = f"{error.hint}; your text is in {path}".lstrip("; ")
            raise
    finally:
        if not keep:
            path.unlink(missing_ok=True)


def edit_file(path: Path, default: str) -> bool:
    """Let the person edit a file, which begins as `default` where there is none; False when it was left as it was.

    Raises InvalidInput when no editor runs.
    """
    new = not path.exists()
    if new:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(default, encoding="utf-8")
    before = path.read_bytes()
    changed = False
    try:
        run_editor([*editor_command(), str(path)])
        changed = path.read_bytes() != before
    finally:
        if new and not changed:
            path.unlink(missing_ok=True)
    return changed


def editor_command() -> list[str]:
    """The person's editor and its arguments: $VISUAL, $EDITOR, or what is there. Raises InvalidInput."""
    for name in ("VISUAL", "EDITOR"):
        if command := os.environ.get(name, "").strip():
            return shlex.split(command, posix=os.name != "nt")
    for command in ("notepad",) if os.name == "nt" else ("nano", "vim", "vi"):
        if shutil.which(command):
            return [command]
    raise InvalidInput("no editor found", hint="set EDITOR, or give --content and other fields")


def run_editor(command: list[str]) -> None:
    """Run an editor until it ends. Raises InvalidInput when it cannot be started or does not end well."""
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise InvalidInput(f"cannot start the editor {command[0]}: {error.strerror}", hint="set EDITOR") from error
    if code < 0:
        raise InvalidInput(f"the editor {command[0]} was ended by signal {-code}; nothing was changed")
    if code != 0:
        raise InvalidInput(f"the editor {command[0]} ended with code {code}; nothing was changed")

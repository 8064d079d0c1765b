"""A note's text in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import AbstractContextManager, nullcontext
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
    content, problem = edit_text(note.content)
    if problem:
        raise InvalidInput(problem)
    if content == note.content:
        return False
    try:
        return memory.update(note, content=content)
    except AmemError as error:
        if content.strip():
            descriptor, name = tempfile.mkstemp(prefix="amem-", suffix=".md")
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(content)
            error.hint = f"{error.hint}; your text is in {name}".lstrip("; ")
        raise


def edit_text(text: str, terminal: AbstractContextManager[object] | None = None) -> tuple[str, str]:
    """Let the person edit a text in $VISUAL or $EDITOR; `terminal` gives the editor the terminal to itself meanwhile.

    Returns the text as the editor left it, and what became of the editor where it did not end well: then its folder,
    with what else it may have kept there, stays. Raises InvalidInput where there is no editor.
    """
    command = editor_command()
    folder = Path(tempfile.mkdtemp(prefix="amem-"))
    path, problem = folder / "note.md", ""
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        with terminal or nullcontext():
            try:
                run_editor([*command, str(path)])
            except AmemError as error:
                problem = str(error)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        after = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return text, f"what the editor left cannot be read ({error}); it is in {folder}"
    # Most editors end a file with a line break of their own.
    after = after if text.endswith("\n") else after.rstrip("\n")
    if problem and (after != text or any(each != path for each in folder.iterdir())):
        return after, f"{problem}; what it left is in {folder}"
    shutil.rmtree(folder, ignore_errors=True)
    return after, problem


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

"""Settings files of other programs, in JSON: what they hold is kept, what amem adds is merged in, a copy stays."""

from __future__ import annotations

import json
import os
from itertools import count
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_settings(path: Path) -> dict[str, Any]:
    """What the file holds; no file is an empty one.

    Raises InvalidInput for a file that is not a plain JSON object: with its comments, a person's words would be lost.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    try:
        held = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}); nothing was changed", hint="leave --write out and paste what is shown"
        ) from error
    return part_of(held, str(path))


def part_of(held: Any, where: str) -> dict[str, Any]:
    """An object that is to be merged into. Raises InvalidInput for anything else."""
    if not isinstance(held, dict):
        raise InvalidInput(f"{where} holds no object; nothing was changed", hint="mend it by hand")
    return held


def write_settings(path: Path, config: Mapping[str, Any]) -> Path | None:
    """Put these settings in the file's place; returns the copy of what was there, None where there was nothing.

    The file keeps its permissions; a new one is for its owner alone. It is replaced in one step.
    """
    path = path.resolve()  # a link to where somebody keeps such files stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    backup, mode = None, 0o600
    if path.exists():
        mode = path.stat().st_mode & 0o777
        backup = _free(path)
        _create(backup, path.read_bytes(), mode)
    draft = path.with_name(f".{path.name}.{os.getpid()}.amem")
    _create(draft, (json.dumps(config, ensure_ascii=False, indent=2) + "\n").encode(), mode)
    os.replace(draft, path)
    return backup


def _free(path: Path) -> Path:
    names = (f"{path.name}.bak{'' if number == 1 else number}" for number in count(1))
    return next(found for name in names if not (found := path.with_name(name)).exists())


def _create(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

"""Env files (``KEY='value'`` lines): set and remove keys, with comments, order and all other lines kept."""

from __future__ import annotations

import os
from io import StringIO
from typing import TYPE_CHECKING

from dotenv.parser import parse_stream

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def with_key(text: str, key: str, value: str, others: Collection[str] = ()) -> str:
    """Return the text of an env file in which `key` has this value, in the place of its last line or at the end.

    Keys are compared without case, as settings are. Lines of the same key, and of `others`, are removed.
    """
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    line = f"{key}='{quoted}'\n"
    same = {key.casefold(), *(each.casefold() for each in others)}
    pieces = list(parse_stream(StringIO(text)))
    places = [at for at, piece in enumerate(pieces) if piece.key is not None and piece.key.casefold() in same]
    kept = [
        _before(piece.original.string) + line if places and at == places[-1] else piece.original.string
        for at, piece in enumerate(pieces)
        if at not in places[:-1]
    ]
    made = "".join(kept)
    return made if places else made + ("" if not made or made.endswith("\n") else "\n") + line


def without_keys(text: str, keys: Collection[str]) -> str:
    """Return the text of an env file without the lines of these keys, compared without case."""
    gone = {key.casefold() for key in keys}
    return "".join(
        _before(piece.original.string)
        if piece.key is not None and piece.key.casefold() in gone
        else piece.original.string
        for piece in parse_stream(StringIO(text))
    )


def _before(original: str) -> str:
    """The empty lines that the parser counts to the line that follows them."""
    return original[: len(original) - len(original.lstrip("\n"))]


def read_env(path: Path) -> str:
    """Return the file's text; a file that is not there is empty. Raises InvalidInput for one that is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise InvalidInput(f"{path} is not UTF-8 ({error}); nothing was changed", hint="mend it by hand") from error


def write_env(path: Path, text: str) -> None:
    """Replace the file in one step. It keeps its permissions; a new one is for its owner alone."""
    path = path.resolve()  # a link to where somebody keeps such files stays one
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    draft = path.with_name(f".{path.name}.{os.getpid()}.amem")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)

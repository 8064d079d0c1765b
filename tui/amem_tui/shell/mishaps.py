"""What nobody foresaw: written down in a file of the home, so that the terminal needs to show no traceback."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.server_call import masked
from amem.visible import visible
from amem_tui.phrases import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import TextIOWrapper
    from pathlib import Path

FILE_NAME = "tui.log"
#: Bytes from which on the file is begun anew, the old one kept beside it.
_FULL = 1_000_000
_log = logging.getLogger("amem.tui")


class _PrivateFile(logging.FileHandler):
    """A log that its owner alone can read, made when there is something to write."""

    def _open(self) -> TextIOWrapper:
        os.makedirs(os.path.dirname(self.baseFilename), mode=0o700, exist_ok=True)
        descriptor = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")


class _Visible(logging.Formatter):
    """Lines, tracebacks too, that drive no terminal in which they are read and hold no key that a server repeated."""

    def __init__(self, pattern: str, secrets: tuple[str, ...]) -> None:
        super().__init__(pattern)
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return visible(masked(super().format(record), *self._secrets))


@contextmanager
def written_down(home: Path, *secrets: str) -> Iterator[None]:
    """While the browser runs, warnings of amem and its own mishaps go to ``<home>/tui.log``, without `secrets`."""
    path = home / FILE_NAME
    try:
        if path.stat().st_size > _FULL:
            path.replace(path.with_suffix(".log.old"))
    except OSError:
        pass  # there is none yet, or its folder is read-only; then nothing is written
    handler = _PrivateFile(path, encoding="utf-8", delay=True)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Visible("%(asctime)s %(levelname)s %(name)s %(message)s", secrets))
    amem = logging.getLogger("amem")
    amem.addHandler(handler)
    try:
        yield
    finally:
        amem.removeHandler(handler)
        handler.close()


def write_down(error: BaseException) -> None:
    """Keep an exception, with where it came from."""
    _log.error("unexpected %s", type(error).__name__, exc_info=error)


def in_words(error: BaseException, home: Path) -> str:
    """An exception as a person may be told of it."""
    said = one_line(str(error))
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"Something unforeseen went wrong, {what}\nIt is written down in {home / FILE_NAME}."

"""Reads word lists of this room: lines of text under ``[section]`` headings; a line that begins with # is a comment."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_list(name: str, package: str = "amem.language") -> Iterator[tuple[str, str]]:
    """Each line of a list beside the modules of `package`, with its section ('' before the first heading)."""
    section = ""
    for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            yield section, line.strip()

"""What ``[[links]]`` are compared by."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def link_name(target: str) -> str:
    """What targets and names are compared by: no suffix, no leading dots, one kind of slash, no case."""
    name = _SUFFIX.sub("", target.strip().replace("\\", "/"))
    while name.startswith(("./", "../")):
        name = name.split("/", 1)[1]
    return " ".join(name.split()).casefold()

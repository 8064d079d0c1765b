"""``[[links]]`` and relative Markdown links between the notes of a vault."""

from __future__ import annotations

import re
from urllib.parse import unquote

from amem.interop.items import Wanted

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]|#^\n]+)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_MARKDOWN_LINK = re.compile(r"\[[^\[\]\n]*\]\(<?([^()<>\n#?]+?\.(?:md|markdown))(?:#[^()\n]*)?>?\)", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def wanted_links(text: str) -> tuple[Wanted, ...]:
    """What the text links to, each target once, code left out."""
    prose = _INLINE_CODE.sub("", _FENCE.sub("", text))
    found = [(match[1].strip(), f"[[{match[1].strip()}]]") for match in _WIKILINK.finditer(prose)]
    found += [
        (unquote(match[1]).strip(), f"link to {unquote(match[1]).strip()}")
        for match in _MARKDOWN_LINK.finditer(prose)
        if "://" not in match[1]
    ]
    targets: dict[str, Wanted] = {}
    for target, reason in found:
        targets.setdefault(link_name(target), Wanted(target, reason))
    return tuple(targets.values())


def link_name(target: str) -> str:
    """What targets and names are compared by: no suffix, no leading dots, one kind of slash, no case."""
    name = _SUFFIX.sub("", target.strip().replace("\\", "/"))
    while name.startswith(("./", "../")):
        name = name.split("/", 1)[1]
    return " ".join(name.split()).casefold()

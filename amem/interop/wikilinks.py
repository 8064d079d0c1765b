"""``[[links]]`` and relative Markdown links between the notes of a vault."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from amem.interop.items import Wanted
from amem.text.link_names import link_name

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]|#^\n]+)([#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"\[[^\[\]\n]*\]\(<?([^()<>\n#?]+?\.(?:md|markdown))(?:#[^()\n]*)?>?\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wikilink:
    """A ``[[link]]``: the name of what it leads to, the words it is read as, and where in the text it ends."""

    target: str
    words: str
    end: int


def wikilink_at(text: str, start: int) -> Wikilink | None:
    """The link that begins at this place of a text, if any: ``[[name]]``, ``[[name#part]]``, ``[[name|words]]``."""
    match = _WIKILINK.match(text, start)
    if match is None or not match[1].strip():
        return None
    said = (match[3] or "").strip() or f"{match[1]}{match[2] or ''}".strip()
    return Wikilink(match[1].strip(), said, match.end())


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

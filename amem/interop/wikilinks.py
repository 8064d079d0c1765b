"""``[[links]]`` and relative Markdown links between the notes of a vault."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from posixpath import normpath
from urllib.parse import unquote

from amem.interop.items import Wanted
from amem.language.scripts import link_name

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]|#^\n]+)([#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_LINK_OR_EMBED = re.compile(r"(?P<embed>!?)\[\[(?P<name>[^\[\]|#^\n]*)(?P<part>[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_MARKDOWN_LINK = re.compile(r"\[[^\[\]\n]*\]\(<?([^()<>\n#?]+?\.(?:md|markdown))(?:#[^()\n]*)?>?\)", re.IGNORECASE)

#: How the reason of a link begins that a text has in Markdown's own form.
LINK_TO = "link to "


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


def wanted_links(text: str, within: str = "") -> tuple[Wanted, ...]:
    """What the text, of the note that links call `within`, links to or embeds; each target once, code left out.

    ``[[name#heading]]`` and ``[[name]]`` are two targets, ``[[#heading]]`` is one of the note itself.
    """
    prose = _INLINE_CODE.sub("", _FENCE.sub("", text))
    found = [_wanted(match, within) for match in _LINK_OR_EMBED.finditer(prose)]
    for match in _MARKDOWN_LINK.finditer(prose):
        if "://" not in match[1]:
            target = unquote(match[1]).strip()
            found.append(Wanted(target, f"{LINK_TO}{target}"))
    folder = within.rpartition("/")[0]
    targets: dict[tuple[str, str], Wanted] = {}
    for wanted in found:
        if wanted.target:
            targets.setdefault((link_name(wanted.target), link_name(wanted.heading)), wanted)
    if not folder:
        return tuple(targets.values())
    return tuple(replace(each, beside=normpath(f"{folder}/{each.target}")) for each in targets.values())


def is_of_text(reason: str) -> bool:
    """Whether a link has its reason from the text of a note, as `wanted_links` reads it."""
    return reason.startswith(("[[", "![[", LINK_TO))


def _wanted(match: re.Match[str], within: str) -> Wanted:
    name, part = match["name"].strip(), (match["part"] or "").strip()
    reason = f"{match['embed']}[[{name}{part}]]"
    heading = part.rsplit("#", 1)[-1].strip()
    if not heading or heading.startswith("^"):
        return Wanted(name, reason)
    return Wanted(name or within, reason, heading=heading)

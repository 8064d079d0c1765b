"""What a note is called in a list: its title, and its id as far as it takes to tell it from others."""

from __future__ import annotations

import re

from amem.visible import visible_name

#: A title is cut when it is longer, in characters.
LONGEST = 160
_RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}")
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
#: Cells of a random id that are shown.
_SHOWN = 8

_FENCE = re.compile(r"(?:```|~~~)\s*([\w+#.-]*)\s*$")
#: Marks of headings, lists, tasks and quotes at the beginning of a line, and the closing marks of a heading.
_LEADING = re.compile(r"^(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|>\s*|\d{1,3}[.)]\s+|(?:```|~~~)\S*\s+)+")
_CLOSING = re.compile(r"\s+#+$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
#: (a mark within a line, what a reader sees of it): pictures and links, links between notes, bold and code.
_INLINE = (
    (re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]"), r"\1"),
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"`([^`]+)`"), r"\1"),
)
#: A rule, the edge of front matter, the underline of a heading.
_DRAWN = re.compile(r"[\s#>*+\-=_~`|]*")


def title(text: str, most: int = LONGEST) -> str:
    """Return the first line that says something, on one line, without Markdown's marks and cut to `most` characters.

    A note that is code is called by its first line of code. Text of marks alone is returned as it is; '' for blank.
    """
    inside = False
    for line in _COMMENT.sub("", text).splitlines():
        bare = line.strip()
        if _FENCE.match(bare):
            inside = not inside
            continue
        bare = _CLOSING.sub("", _LEADING.sub("", bare))
        if not inside:
            for mark, seen in _INLINE:
                bare = mark.sub(seen, bare)
        if not _DRAWN.fullmatch(bare):
            return _cut(bare, most)
    return _cut(text, most)


def short_id(id: str) -> str:
    """The first 8 characters of a random id; a name somebody chose stays whole, with control characters shown."""
    return id[:_SHOWN] if _RANDOM_ID.fullmatch(id) else visible_name(id)


def short_ids(text: str) -> str:
    """The text with every random id in it cut as by `short_id`."""
    return _UUID.sub(r"\1", text)


def counted(number: int, what: str, many: str | None = None) -> str:
    """``1 note``, ``1,451 notes``."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def cut(line: str, cells: int) -> str:
    """At most so many cells of a terminal of a line; Chinese characters take two."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= cells else f"{set_cell_size(line, cells - 1).rstrip()}…"


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"

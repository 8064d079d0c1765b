"""Titles, short ids and short texts for display, with control characters made visible."""

from __future__ import annotations

import re

# Characters that drive a terminal or disguise a text: found, shown instead of obeyed, escaped in JSON.
#
# They are the control characters of C0 and C1 (an escape sequence begins with one), halves of surrogate pairs, and the
# embeddings, overrides and isolates of Unicode's bidirectional algorithm, by which a text can look like another.

_DRIVING = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069"
_IN_TEXT = re.compile(f"[{_DRIVING}]")
#: A name is one line: whatever ends one is shown as well.
_IN_NAME = re.compile(f"[{_DRIVING}\t\n\u2028\u2029]")


def without_driving(text: str) -> str:
    """The text without driving characters, which take no cell: for a picture in which every cell counts."""
    return text if text.isprintable() else _IN_TEXT.sub("", text)


def visible(text: str) -> str:
    """The text with driving characters shown, not obeyed: ``␛`` for an escape. Line feeds and tabs stay."""
    return text if text.isprintable() else _IN_TEXT.sub(_picture, text)


def visible_name(name: str) -> str:
    """An id, or another name, in the same way on one line."""
    return name if name.isprintable() else _IN_NAME.sub(_picture, name)


def is_plain_name(name: str) -> bool:
    """Whether a name holds no driving character and is one line."""
    return name.isprintable() or _IN_NAME.search(name) is None


def escaped_json(encoded: str) -> str:
    r"""JSON that means the same, with driving characters as ``\u`` escapes. Line feeds between its tokens stay."""
    return encoded if encoded.isprintable() else _IN_TEXT.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


# What a note is called in a list: its title, and its id as far as it takes to tell it from others.

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


def size(number: int) -> str:
    """Bytes as ``27.4 kB``, ``1.2 MB``; '' for none."""
    from rich.filesize import decimal

    return decimal(number) if number else ""


def cut(line: str, cells: int) -> str:
    """At most so many cells of a terminal of a line; Chinese characters take two."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= cells else f"{set_cell_size(line, cells - 1).rstrip()}…"


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"

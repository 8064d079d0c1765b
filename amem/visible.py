"""Characters that drive a terminal or disguise a text: found, shown instead of obeyed, escaped in JSON.

They are the control characters of C0 and C1 (an escape sequence begins with one), halves of surrogate pairs, and the
embeddings, overrides and isolates of Unicode's bidirectional algorithm, by which a text can look like another.
"""

from __future__ import annotations

import re

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

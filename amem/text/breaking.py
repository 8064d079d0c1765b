"""Where lines end on a terminal, in whose cells a Chinese character or an emoji takes two."""

from __future__ import annotations

from amem.text.scripts import is_cjk

_NEVER_FIRST = frozenset("，。、；：！？）》」』”’…,.;:!?)]}%")
_NEVER_LAST = frozenset("（《「『“‘([{")
_UNBROKEN = "\u00a0"


def breaks(text: str, width: int, *, first: int) -> list[int]:
    """Where to break a text so that no line takes more than `width` cells (the first one more than `first`).

    Breaks come after a space or beside a CJK character, and inside a word only when it fills the line.
    """
    from rich.cells import cell_len

    found: list[int] = []
    start = place = taken = 0
    allowed = 0
    while place < len(text):
        char = text[place]
        if char == "\n":
            start = place = place + 1
            taken = allowed = 0
            if start < len(text):
                found.append(start)
            continue
        if place > start and may_break(text[place - 1], char):
            allowed = place
        taken += cell_len(char)
        if taken > (width if found else first) and not char.isspace():
            start = place = allowed if allowed > start else max(place, start + 1)
            found.append(start)
            taken = allowed = 0
            continue
        place += 1
    return found


def may_break(before: str, after: str) -> bool:
    """Whether a line may end between two characters."""
    if after in _NEVER_FIRST or before in _NEVER_LAST or after.isspace() or before == _UNBROKEN:
        return False
    return before.isspace() or is_cjk(before) or is_cjk(after)

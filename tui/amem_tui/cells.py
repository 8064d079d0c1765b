"""Text cut and padded by terminal cells, in which a Chinese character or an emoji takes two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A piece of a line, and how it looks.
Piece = tuple[str, str]
#: A line that is begun late begins with a word where one does within so many characters.
_WORD = 12


def fit(text: str, width: int) -> str:
    """The text in exactly `width` cells: padded with blanks, or cut with an ellipsis."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width)


def parted(pieces: Sequence[Piece], characters: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces of a line up to so many characters, and the others."""
    first: list[Piece] = []
    rest: list[Piece] = []
    for text, look in pieces:
        first.append((text[:characters], look))
        rest.append((text[characters:], look))
        characters = max(0, characters - len(text))
    return [each for each in first if each[0]], [each for each in rest if each[0]]


def fitted(pieces: Sequence[Piece], width: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces in exactly `width` cells, padded or cut with an ellipsis, and what was cut, from a word on."""
    whole = "".join(text for text, _ in pieces)
    if cell_len(whole) <= width:
        return [*pieces, (" " * (width - cell_len(whole)), "")], []
    kept = fit(whole, width).rstrip()
    first, _ = parted(pieces, len(kept) - 1)
    pad = width - cell_len(kept)
    begin = len(kept) - 1
    if (space := whole.rfind(" ", max(0, begin - _WORD), begin + 1)) >= 0:
        begin = space + 1
    return [*first, ("…" + " " * pad, pieces[-1][1])], parted(pieces, begin)[1]


def shortened(pieces: Sequence[Piece], width: int, *, show: str) -> list[Piece]:
    """Pieces (text, look) of a line in exactly `width` cells, begun late enough to see the first that looks as `show`.

    An ellipsis stands for what is cut.
    """
    before = 0
    for text, look in pieces:
        if look == show:
            break
        before += cell_len(text)
    else:
        before = 0
    whole = sum(cell_len(text) for text, _ in pieces)
    # A third of the line is what came before: as much as it takes to read the word in its place.
    skip = max(0, min(before - width // 3, whole - width + 1)) if before > width // 2 else 0
    line, room = [("…", "")] if skip else [], width - bool(skip)
    for text, look in pieces:
        size = cell_len(text)
        if skip >= size:
            skip -= size
            continue
        rest = _without(text, skip) if skip else text
        skip = 0
        taken = rest if cell_len(rest) <= room else fit(rest, room)
        room -= cell_len(taken)
        line.append((taken, look))
        if room <= 0:
            break
    return [*line, (" " * room, "")] if room else line


def _without(text: str, cells: int) -> str:
    """The text without its first cells, from the next word on where one is near."""
    gone = 0
    for place, char in enumerate(text):
        if gone >= cells:
            space = text.find(" ", place, place + _WORD)
            return text[space + 1 if space >= 0 else place :]
        gone += cell_len(char)
    return ""

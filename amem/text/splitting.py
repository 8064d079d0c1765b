"""Text that is too long for one note, cut where it hurts least."""

from __future__ import annotations

import re
import unicodedata

from amem.errors import InvalidInput
from amem.text.sentences import sentence_ends

_PARAGRAPH = re.compile(r"\n\s*\n")
_PAUSE = re.compile(r"[，、；：,;:)）]\s*|\s+")
_JOINER = "\u200d"


def split_text(text: str, limit: int) -> list[str]:
    """`text` in pieces of at most `limit` characters, stripped, none empty; only white space at the cuts is lost.

    Cuts fall at the end of a paragraph, else of a sentence, else at a pause or space, else between two characters as a
    reader sees them. Raises InvalidInput for a limit below 1.
    """
    if limit < 1:
        raise InvalidInput(f"cannot split text into pieces of {limit} characters", hint="give a limit of at least 1")
    pieces: list[str] = []
    rest = text.strip()
    start = 0
    while len(rest) - start > limit:
        cut = _cut(rest, start, limit)
        if piece := rest[start:cut].strip():
            pieces.append(piece)
        start = cut
        while start < len(rest) and rest[start].isspace():
            start += 1
    if start < len(rest):
        pieces.append(rest[start:])
    return pieces


def _cut(text: str, start: int, limit: int) -> int:
    window = text[start : start + limit + 1]
    # A paragraph break early in the window would leave a crumb; a sentence near the limit serves better there.
    for ends, least in (
        ([match.start() for match in _PARAGRAPH.finditer(window)], limit // 4),
        (list(sentence_ends(window)), limit // 4),
        ([match.end() for match in _PAUSE.finditer(window)], limit // 2),
    ):
        fitting = [end for end in ends if least < end <= limit]
        if fitting:
            return start + fitting[-1]
    return _between_clusters(text, start, start + limit)


def _between_clusters(text: str, start: int, cut: int) -> int:
    """The last place at or before `cut` that splits no visible character, or `cut` where one fills the whole piece."""
    place = cut
    while place > start and _joined(text, place):
        place -= 1
    return place if place > start else cut


def _joined(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after == _JOINER or before == _JOINER or unicodedata.category(after).startswith("M"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    return _is_flag(after) and _flags_before(text, place) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    count = 0
    while count < place and _is_flag(text[place - 1 - count]):
        count += 1
    return count

"""How notes are shown to a model: short, on one line where they are many, and never able to end their delimiters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text import is_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.analysis import Neighbour

#: What small local models can weigh at once.
MOST_NEIGHBOURS = 5
NEIGHBOUR_WORDS = 60
NOTE_WORDS = 400
TURN_WORDS = 30

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff]+")
_DELIMITERS = re.compile("<{3,}|>{3,}")


def inert(text: str) -> str:
    """`text` without control characters and without the ``<<<`` and ``>>>`` that prompts put around notes."""
    return _DELIMITERS.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()


def first_words(text: str, most: int) -> str:
    """The beginning of `text`, at most `most` words long; two CJK characters count as one word."""
    halves = 0
    in_word = False
    for position, character in enumerate(text):
        cjk = is_cjk(character)
        if cjk:
            halves += 1
        elif not character.isspace() and not in_word:
            halves += 2
        in_word = not cjk and not character.isspace()
        # Text without spaces that is no CJK (a hash, a long URL) must not slip through as one word.
        if halves > 2 * most or position >= 12 * most:
            return text[:position].rstrip() + " …"
    return text


def note(text: str, most: int = NOTE_WORDS) -> str:
    """A note's content between the delimiters, its lines kept."""
    return first_words(inert(text), most)


def line(text: str, most: int) -> str:
    """The same on one line."""
    return first_words(" ".join(inert(text).split()), most)


def when(moment: datetime | None) -> str:
    """A time as a model reads it best; ``unknown`` for None."""
    return moment.strftime("%A %Y-%m-%d %H:%M UTC") if moment else "unknown"


def neighbours(shown: Sequence[Neighbour]) -> str:
    """Old notes, one block each under its handle."""
    return "\n".join(_neighbour(item) for item in shown)


def _neighbour(item: Neighbour) -> str:
    about = [
        f"{item.kind}" + (f", {item.at:%Y-%m-%d}" if item.at else ""),
        f"context: {line(item.context, TURN_WORDS) or '-'}",
        f"tags: {listed(item.tags)}",
    ]
    return f"{item.handle} ({'; '.join(about)})\n<<<{line(item.content, NEIGHBOUR_WORDS)}>>>"


def listed(words: Sequence[str]) -> str:
    """Words with commas between them; ``-`` for none."""
    return ", ".join(line(word, 8) for word in words) or "-"

"""How notes are shown to a model: short, on one line where they are many, and never able to end their delimiters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.prompts import CHINESE
from amem.text import is_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.analysis import KnownProcedure, Neighbour
    from amem.message import Message

#: What small local models can weigh at once.
MOST_NEIGHBOURS = 8
NEIGHBOUR_WORDS = 60
#: Of all neighbours together; where they are long they get equal shares of it.
NEIGHBOURS_WORDS = 220
CONTEXT_WORDS = 22
NOTE_WORDS = 280
NEW_NOTE_WORDS = 120
TURN_WORDS = 24
MESSAGE_WORDS = 200
#: How much of what was said before is shown with a piece of conversation: that many turns, that much of each.
EARLIER, EARLIER_WORDS = 30, 15
#: Most tags of an old note, and most of the collection's own, that a model is shown.
NEIGHBOUR_TAGS = 6

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff]+")
_DELIMITERS = re.compile("<{3,}|>{3,}")


def inert(text: str) -> str:
    """`text` without control characters and without the ``<<<`` and ``>>>`` that prompts put around notes."""
    return _DELIMITERS.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()


def count_words(text: str) -> int:
    """How long `text` is to a model, about: two CJK characters count as one word."""
    cjk = sum(map(is_cjk, text)) if not text.isascii() else 0
    return max((cjk + 1) // 2 + len(text.split()), len(text) // 12)


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


def when(moment: datetime | None, language: str = "") -> str:
    """A time as a model reads it best."""
    if moment is None:
        return "未知" if language == CHINESE else "unknown"
    day = f"周{'一二三四五六日'[moment.weekday()]}" if language == CHINESE else f"{moment:%A}"
    return f"{day} {moment:%Y-%m-%d %H:%M}"


def neighbours(shown: Sequence[Neighbour], language: str = "") -> str:
    """Old notes, one block each under its handle; what models wrote about them stands between the delimiters, too."""
    context, tags = ("说明：", "标签：") if language == CHINESE else ("context: ", "tags: ")
    words = _fair_share([count_words(item.content) for item in shown])
    blocks = []
    for item in shown:
        told = "\n".join(
            (
                line(item.content, words),
                f"{context}{line(item.context, CONTEXT_WORDS) or '-'}",
                f"{tags}{listed(item.tags[:NEIGHBOUR_TAGS])}",
            )
        )
        day = f", {item.at:%Y-%m-%d}" if item.at else ""
        blocks.append(f"{item.handle} ({item.kind}{day})\n<<<{told}>>>")
    return "\n".join(blocks)


def _fair_share(lengths: Sequence[int]) -> int:
    """The most words of each neighbour with which all of them keep to what they may have together."""
    room = NEIGHBOURS_WORDS
    for rank, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - rank)
        if length > share:
            return min(share, NEIGHBOUR_WORDS)
        room -= length
    return NEIGHBOUR_WORDS


def messages(said: Sequence[Message], handles: Sequence[str]) -> str:
    """What was said, one message a line under its handle, with the role that tells a person from the assistant."""
    return "\n".join(
        f"{handle} [{_said_at(message)}{_who(message)}] <<<{line(message.content, MESSAGE_WORDS)}>>>"
        for handle, message in zip(handles, said, strict=True)
    )


def earlier(said: Sequence[Message]) -> str:
    """The last of what was said before, oldest first; ``-`` when there is nothing."""
    lines = (f"{_who(message)}: {line(message.content, EARLIER_WORDS)}" for message in said[-EARLIER:])
    return "\n".join(lines) or "-"


def procedures(known: Sequence[KnownProcedure]) -> str:
    """Known procedures, one a line under its handle; ``-`` when there is none."""
    lines = (
        f"{item.handle}: {line(item.name, 12)} ({line(item.trigger, 20) or '-'}): "
        + "; ".join(f"{n}. {line(step, 20)}" for n, step in enumerate(item.steps[:10], 1))
        for item in known
    )
    return "\n".join(lines) or "-"


def listed(words: Sequence[str]) -> str:
    """Words with commas between them; ``-`` for none."""
    return ", ".join(line(word, 8) for word in words) or "-"


def _who(message: Message) -> str:
    speaker = line(message.speaker or "", 6)
    return f"{message.role}" + (f" {speaker}" if speaker else "")


def _said_at(message: Message) -> str:
    return f"{message.at:%Y-%m-%d %H:%M} " if message.at else ""

"""Core notes: the few that stand in every prompt, because an answer that ignores them is wrong.

Constraints first (what must not happen), then preferences, decisions and facts; within a kind pinned notes, then the
most important. A fact needs to be pinned or found important: most are, and only recall can tell which one matters now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.llm.showing import line
from amem.note import Kind
from amem.query import Filter
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.conversation.ports import Memory
    from amem.note import MemoryNote

ORDER = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)
#: Facts from this importance on are core; 0.5 is what a note has when nobody judged it.
IMPORTANT = 0.7
_WORDS = 40
#: Of each kind so many are looked at: about twice what fits.
_MOST = 40


def core_notes(memory: Memory, most: int) -> list[MemoryNote]:
    """The core notes that fit into `most` tokens, active ones only, in the order in which they are shown."""
    chosen: list[MemoryNote] = []
    room = most
    for kind in ORDER if most else ():
        for note in memory.list(Filter(kinds=(kind,)), limit=_MOST, order="pinned"):
            if kind is Kind.FACT and not note.pinned and note.importance < IMPORTANT:
                continue
            size = tokens(core_line(note)) + 1
            if size <= room:
                chosen.append(note)
                room -= size
    return chosen


def core_line(note: MemoryNote) -> str:
    """A core note as the model reads it, on one line: ``- (constraint) Never calls before nine.``"""
    return f"- ({note.kind}) {line(note.content, _WORDS)}"


def core_text(notes: Sequence[MemoryNote], nothing: str) -> str:
    """All of them, or the word for none."""
    return "\n".join(core_line(note) for note in notes) or nothing

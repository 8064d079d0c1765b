"""Why something was done, with the titles of notes in place of the beginnings of their ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.errors import AmbiguousId, NoteNotFound
from amem_tui.phrases import one_line, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.memory_system import AgenticMemorySystem

_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f-]{27})?\b")
_LONGEST = 50
_REVERSAL = re.compile(r"(?:undo|redo) of operation (\d+)")


def told(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """Each cause in words for people: ``“Green tea at 80 …” arrived``; what names no note stays as it is.

    Of what was undone or redone it says what that had been: ``update, changed content (operation 18)``.
    """
    found = {cause: cause for cause in causes}
    found |= _reversed(memory, found)
    ids = {short: _resolved(memory, short) for cause in found.values() for short in _ID.findall(cause)}
    cards = memory.cards_of([id for id in ids.values() if id is not None])

    def named(match: re.Match[str]) -> str:
        card = cards.get(ids[match.group()] or "")
        return match.group() if card is None else f"“{one_line(title(card.text), _LONGEST)}”"

    return {cause: _ID.sub(named, words) for cause, words in found.items()}


def _reversed(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """In place of the number of what was undone or redone, what it was and the number."""
    numbers = {cause: int(match[1]) for cause in causes if (match := _REVERSAL.fullmatch(cause))}
    held = {each.id: each for each in memory.operations(list(set(numbers.values())))} if numbers else {}
    # A redo takes back an undo: what is wanted is what that had taken back.
    before = {each.undoes for each in held.values() if each.undoes is not None}
    first = {each.id: each for each in memory.operations(list(before))} if before else {}
    found = {}
    for cause, number in numbers.items():
        undo = held.get(number)
        done = undo if undo is None or undo.undoes is None else first.get(undo.undoes, undo)
        if done is not None:
            found[cause] = f"{done.action}{f', {done.cause}' if done.cause else ''} (operation {done.id})"
    return found


def _resolved(memory: AgenticMemorySystem, short: str) -> str | None:
    try:
        return memory.resolve(short, deleted=True)
    except (NoteNotFound, AmbiguousId):
        return None

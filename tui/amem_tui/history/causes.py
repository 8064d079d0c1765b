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


def told(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """Each cause in words for people: ``“Green tea at 80 …” arrived``; what names no note stays as it is."""
    found = dict.fromkeys(causes, "")
    ids = {short: _resolved(memory, short) for cause in found for short in _ID.findall(cause)}
    cards = memory.cards_of([id for id in ids.values() if id is not None])

    def named(match: re.Match[str]) -> str:
        card = cards.get(ids[match.group()] or "")
        return match.group() if card is None else f"“{one_line(title(card.text), _LONGEST)}”"

    return {cause: _ID.sub(named, cause) for cause in found}


def _resolved(memory: AgenticMemorySystem, short: str) -> str | None:
    try:
        return memory.resolve(short, deleted=True)
    except (NoteNotFound, AmbiguousId):
        return None

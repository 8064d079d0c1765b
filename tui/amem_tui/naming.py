"""Titles for note ids, those of deleted notes too: the log speaks of notes that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Status
from amem.query import Filter
from amem_tui.phrases import title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.memory_system import AgenticMemorySystem

_DELETED_LOOKED_AT = 200


def titles(memory: AgenticMemorySystem, ids: Iterable[str]) -> dict[str, str]:
    """For each id its note's title, or the beginning of the id when the note was purged or deleted long ago."""
    wanted = dict.fromkeys(ids)
    found = {id: title(note.content) for id in wanted if (note := memory.read(id)) is not None}
    if len(found) < len(wanted):
        gone = memory.list(Filter(statuses=(Status.DELETED,)), limit=_DELETED_LOOKED_AT, order="recorded")
        found |= {note.id: title(note.content) for note in gone if note.id in wanted}
    return {id: found.get(id, id[:8]) for id in wanted}

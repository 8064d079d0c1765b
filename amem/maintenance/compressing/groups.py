"""Which fading notes are summed up together: those of one conversation, else those that name the same."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.note import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.note import MemoryNote

#: Fewer notes than these are not worth a note; more would not make a short one.
LEAST, MOST = 3, 12


def groups_of(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """Groups of LEAST to MOST notes of one scope, each in one at most and oldest first; the rest is left as it is."""
    scopes: defaultdict[Scope, list[MemoryNote]] = defaultdict(list)
    for note in notes:
        scopes[Scope.of(note.metadata)].append(note)
    return [group for some in scopes.values() for group in _of_one_scope(some)]


def _of_one_scope(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    conversations: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in notes:
        if note.conversation_id is not None:
            conversations[note.conversation_id].append(note)
    groups = [group for each in conversations.values() for group in _cut(each)]
    taken = {note.id for group in groups for note in group}
    return groups + _by_entities([note for note in notes if note.id not in taken])


def _by_entities(notes: Iterable[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """By the name that most of them share, then by the next, until no name is shared by enough."""
    naming: defaultdict[str, dict[str, MemoryNote]] = defaultdict(dict)
    for note in notes:
        for entity in note.entities:
            naming[entity.casefold()][note.id] = note
    groups: list[tuple[MemoryNote, ...]] = []
    while naming:
        name = max(naming, key=lambda each: (len(naming[each]), each))
        found = naming.pop(name)
        if len(found) < LEAST:
            break
        groups += _cut(list(found.values()))
        for others in naming.values():
            for id in found:
                others.pop(id, None)
    return groups


def _cut(notes: list[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """Neighbours in time together, in as few groups of about the same size as it takes."""
    if len(notes) < LEAST:
        return []
    ordered = sorted(notes, key=lambda note: (note.at is not None, note.at))
    parts = -(-len(ordered) // MOST)
    bounds = [round(place * len(ordered) / parts) for place in range(parts + 1)]
    return [tuple(ordered[start:end]) for start, end in pairwise(bounds)]

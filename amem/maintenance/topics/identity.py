"""Which topic a community is: the same one as last night, though a few notes came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Share of both together, and of the topic's own notes, from which a community is that topic.
_JACCARD, _MOST = 0.5, 0.6


def recognise(groups: Sequence[frozenset[str]], topics: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """For each known topic (by id, with its notes) the community that it is now; each is at most one topic's.

    The best overlap is settled first; ties go to the smaller id and the earlier community.
    """
    overlaps: list[tuple[float, str, int]] = []
    holding: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for note in group:
            holding.setdefault(note, []).append(place)
    for id, notes in topics.items():
        for place in {place for note in notes for place in holding.get(note, ())}:
            shared = len(notes & groups[place])
            jaccard = shared / len(notes | groups[place])
            if jaccard >= _JACCARD or shared >= _MOST * len(notes):
                overlaps.append((jaccard, id, place))
    found: dict[str, int] = {}
    taken: set[int] = set()
    for _, id, place in sorted(overlaps, key=lambda each: (-each[0], each[1], each[2])):
        if id not in found and place not in taken:
            found[id] = place
            taken.add(place)
    return found

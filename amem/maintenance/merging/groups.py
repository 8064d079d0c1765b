"""Groups out of pairs: complete linkage, so that every two notes of a group say the same."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def groups_of(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Notes (by key) of which every two are a pair, oldest first; the same pairs always make the same groups."""
    near: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    found: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for key in sorted(near):
        if key in taken:
            continue
        group = [key]
        for other in sorted(near[key] - taken):
            if all(other in near[member] for member in group):
                group.append(other)
        if len(group) > 1:
            found.append(tuple(group))
            taken.update(group)
    return found

"""The lines of the log: operations under their days, what one set off below it, folded where that is much.

Made once for the whole log (a hundred thousand operations take a fifth of a second, in a thread) and mended in place
when something is folded. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from amem.storage import LogOrder

#: What set off more than this is folded until somebody wants to see it.
_OPEN = 3


class Line(NamedTuple):
    """An operation `depth` steps in that set off `steps` others; with the id 0 the heading of a `day` (an ordinal)."""

    id: int
    day: int
    depth: int = 0
    steps: int = 0
    folded: bool = False


class Outline:
    """`toggled` are the operations that somebody folded or unfolded by hand."""

    def __init__(self, order: LogOrder, toggled: Set[int] = frozenset()) -> None:
        ids, parents = order.ids.tolist(), order.parents.tolist()
        here = set(ids)
        self._days: dict[int, int] = dict(zip(ids, order.days.tolist(), strict=True))
        self._children: dict[int, list[int]] = {}
        for id, parent in zip(reversed(ids), reversed(parents), strict=True):
            if parent in here:
                self._children.setdefault(parent, []).append(id)
        self.toggled = set(toggled)
        self.count = len(ids)
        self.lines: list[Line] = []
        day = 0
        for id, parent in zip(ids, parents, strict=True):
            if parent in here:
                continue
            if self._days[id] != day:
                day = self._days[id]
                self.lines.append(Line(0, day))
            self.lines.extend(self._branch(id, 0))

    def place(self, id: int) -> int | None:
        """Where an operation stands; None when it is folded away, or not in the log."""
        return next((at for at, line in enumerate(self.lines) if line.id == id), None)

    def toggle(self, place: int) -> None:
        """Fold the operation there, or unfold it."""
        line = self.lines[place]
        if not line.steps:
            return
        self.toggled ^= {line.id}
        end = place + 1
        while end < len(self.lines) and self.lines[end].id and self.lines[end].depth > line.depth:
            end += 1
        self.lines[place:end] = self._branch(line.id, line.depth)

    def above(self, place: int) -> int:
        """Where the operation stands that set off the one there; the same place when none did."""
        depth = self.lines[place].depth
        while place and self.lines[place].depth >= depth > 0:
            place -= 1
        return place

    def _branch(self, id: int, depth: int) -> Iterator[Line]:
        children = self._children.get(id, [])
        folded = (len(children) > _OPEN) != (id in self.toggled)
        yield Line(id, self._days[id], depth, len(children), bool(children) and folded)
        if not folded:
            for child in children:
                yield from self._branch(child, depth + 1)

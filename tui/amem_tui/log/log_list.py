"""The log as a list of any length: rows, days, what one operation set off."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.geometry import Region
from textual.message import Message

from amem_tui.formatting import SIGNS, author, maker, one_line, plural, title
from amem_tui.history.history_screen import causes_in_words
from amem_tui.lists import CursorList, Piece, fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.activity import LogOrder
    from amem.storage.records import Operation


@dataclass(frozen=True, slots=True)
class Row:
    """`note` is the id of the note the operation is about, if it is about any; `about` its title, or what is known."""

    operation: Operation
    clock: str
    about: str
    note: str | None

    @property
    def who(self) -> str:
        return maker(self.operation.actor).plain

    @property
    def extent(self) -> str:
        """What else it did: ``and 2 more, 3 links``."""
        others = len({*self.operation.created, *self.operation.notes}) - 1
        parts = [f"and {others:,} more"] if others > 0 else []
        if self.operation.links:
            parts.append(plural(self.operation.links, "link"))
        return ", ".join(parts)


def read_rows(memory: AgenticMemorySystem, ids: Sequence[int], zone: tzinfo) -> dict[int, Row]:
    """The rows of these operations. What only made links is about the note whose arrival set it off."""
    found = memory.operations(ids)
    parents = {each.id: each for each in memory.operations([each.parent for each in found if each.parent is not None])}
    about = {each.id: _first(each) or _first(parents.get(each.parent or 0)) for each in found}
    cards = memory.cards_of(list(dict.fromkeys(id for id in about.values() if id is not None)))
    causes = causes_in_words(memory, (each.cause for each in found if about[each.id] not in cards))
    rows = {}
    for each in found:
        id = about[each.id]
        card = None if id is None else cards.get(id)
        words = one_line(causes[each.cause]) if card is None else title(card.text)
        rows[each.id] = Row(each, each.at.astimezone(zone).strftime("%H:%M"), words, id)
    return rows


def _first(operation: Operation | None) -> str | None:
    return None if operation is None else next(iter((*operation.created, *operation.notes)), None)


# The lines of the log: operations under their days, what one set off below it, folded where that is much.
#
# Made once for the whole log (a hundred thousand operations take a fifth of a second, in a thread) and mended in
# place when something is folded. Pure.

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


_ROWS_KEPT = 2_000
#: Rows asked for at a time, above and below what is missing.
_AHEAD = 60
#: From this width on there is room for numbers and names.
_ROOMY = 70


class LogList(CursorList):
    """Operations under their days, on which the cursor does not rest. Whoever owns it answers `Wanted` with `fill`."""

    @dataclass
    class Wanted(Message):
        ids: list[int]

    @dataclass
    class Moved(Message):
        """The cursor came to another line."""

    @dataclass
    class Opened(Message):
        """A click on the line under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.outline: Outline | None = None
        self.rows: OrderedDict[int, Row] = OrderedDict()
        self._stale: set[int] = set()
        self._asked: set[int] = set()

    @property
    def chosen(self) -> Line | None:
        line = self._line(self.cursor)
        return line if line is not None and line.id else None

    @property
    def row(self) -> Row | None:
        return None if self.chosen is None else self.rows.get(self.chosen.id)

    @property
    def toggled(self) -> set[int]:
        """What was folded or unfolded by hand."""
        return set() if self.outline is None else self.outline.toggled

    def show(self, outline: Outline) -> None:
        """Replace what is listed. The cursor stays on its operation, and whoever is on top sees what is new there."""
        before, self.outline = self.chosen, outline
        self._stale, self._asked = set(self.rows), set()
        place = None if before is None else outline.place(before.id)
        self._resized()
        self.put_cursor(self.cursor if place is None else place, steady=True)

    def fill(self, rows: Mapping[int, Row]) -> None:
        self.rows.update(rows)
        self._stale -= rows.keys()
        while len(self.rows) > _ROWS_KEPT:
            self.rows.popitem(last=False)
        self._asked -= rows.keys()
        self.refresh()

    def came(self) -> None:
        self.post_message(self.Moved())

    def toggle(self) -> None:
        """Fold what the operation under the cursor set off, or unfold it."""
        if self.outline is not None and self.chosen is not None:
            self.outline.toggle(self.cursor)
            self._resized()
            self.refresh()

    def step_out(self) -> None:
        if self.outline is not None and self.chosen is not None:
            self.cursor = self.outline.above(self.cursor)

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        line = self.chosen
        if line is not None and line.steps and x in self._fold_marks(line):
            self.toggle()
        elif again:
            self.post_message(self.Opened())

    @property
    def count(self) -> int:
        """How many lines there are, those with a day's name too."""
        return len(self._lines)

    @property
    def _lines(self) -> list[Line]:
        return [] if self.outline is None else self.outline.lines

    def _line(self, place: int) -> Line | None:
        return self._lines[place] if 0 <= place < len(self._lines) else None

    def resting(self, place: int, by: int) -> int:
        """That place, or the one next to it where a day's name stands there."""
        line = self._line(place)
        if line is None or line.id:
            return place
        return place + 1 if by > 0 or place == 0 else place - 1

    def extent(self, place: int) -> Region:
        """The line, and its day where that is next above."""
        above = 1 if place and not self._lines[place - 1].id else 0
        return Region(0, place - above, 1, 1 + above)

    def pieces(self, place: int, part: int, width: int) -> Sequence[Piece]:
        line = self._lines[place]
        if not line.id:
            return [(date.fromordinal(line.day).strftime(" %Y-%m-%d  %A"), "bold $primary")]
        row = self.rows.get(line.id)
        if row is None or line.id in self._stale:
            self._want(place)
        if row is None:
            return [("  …", "")]
        operation, roomy = row.operation, width >= _ROOMY
        mark = ("▸" if line.folded else "▾") if line.steps else ("└" if line.depth else " ")
        who = row.who if roomy else row.who[:1]
        action = "strike $muted" if operation.undone else "bold"
        pieces = [
            (f"{operation.id:>6} " if roomy else " ", "$muted"),
            (f"{row.clock} ", "$muted"),
            ("  " * line.depth + mark + " ", "$warning"),
            (fit(who, 14 - 2 * min(line.depth, 3) if roomy else 1) + " ", SIGNS[author(operation.actor)][1]),
            (fit(operation.action, 10 if roomy else 8) + " ", action),
            ("undone " if operation.undone else "", "$warning"),
        ]
        more = (f"  {row.extent}" if row.extent and roomy else "") + (f" +{line.steps:,}" if line.folded else "")
        room = width - sum(cell_len(text) for text, _ in pieces) - cell_len(more) - (not self.show_vertical_scrollbar)
        about = fit(row.about, room).rstrip() if room > 3 else ""
        return [*pieces, (about, action if operation.undone else ""), (more, "$muted")]

    def _fold_marks(self, line: Line) -> range:
        start = (13 if self.size.width >= _ROOMY else 7) + 2 * line.depth
        return range(start, start + 2)

    def _want(self, place: int) -> None:
        if self._lines[place].id in self._asked:
            return
        near = self._lines[max(0, place - _AHEAD) : place + _AHEAD]
        wanted = [each.id for each in near if each.id and each.id not in self._asked]
        missing = [id for id in wanted if id not in self.rows or id in self._stale]
        self._asked.update(missing)
        if missing:
            self.post_message(self.Wanted(missing))

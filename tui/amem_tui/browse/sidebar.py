"""The sidebar: collections, kinds, tags, topics, time, memory and status, to narrow the list by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from amem_tui.browse.conditions import Condition, Conditions
from amem_tui.browse.facets import Facets
from amem_tui.browse.sidebar_lines import OPEN, Line, lines
from amem_tui.cells import fit
from amem_tui.cursor_list import CursorList
from amem_tui.toned import toned


class Sidebar(CursorList):
    """Draws what `show` was told last; says what is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "unfold", "Open", show=False),
        Binding("left", "fold", "Close", show=False),
        Binding("enter", "choose", "Choose", show=False),
        Binding("space", "choose(True)", "Choose and stay", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "sidebar--line",
        "sidebar--cursor",
        "sidebar--heading",
        "sidebar--chosen",
        "sidebar--count",
    }

    @dataclass
    class Chosen(Message):
        """A condition to put on or take off; None for all notes again. `stay` leaves the keyboard here."""

        condition: Condition | None
        stay: bool

    @dataclass
    class CollectionChosen(Message):
        """Another collection is to be opened."""

        name: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facets = Facets()
        self._conditions = Conditions()
        self._opened = set(OPEN)
        self._wanted = ""
        self._lines: list[Line] = []

    @property
    def count(self) -> int:
        """How many lines are to be seen."""
        return len(self._lines)

    @property
    def lines(self) -> list[Line]:
        """Those that are to be seen, from the top."""
        return self._lines

    @property
    def wanted(self) -> str:
        """What the lines are narrowed to."""
        return self._wanted

    def show(self, facets: Facets) -> None:
        """Draw these; the cursor stays on its line."""
        self._facets = facets
        self._write()

    def tick(self, conditions: Conditions) -> None:
        """Show which conditions are chosen."""
        self._conditions = conditions
        self._write()

    def narrow(self, wanted: str) -> None:
        """Show only what holds these words; all again for none."""
        self._wanted = wanted.strip()
        self._write()

    def _write(self) -> None:
        key = self._lines[self.cursor].key if self.cursor < len(self._lines) else ""
        self._lines = lines(self._facets, self._opened, self._conditions, self._wanted)
        self._resized()
        place = next((at for at, line in enumerate(self._lines) if line.key == key), self.cursor)
        self.put_cursor(place, steady=True)

    # -- moving and choosing -----------------------------------------------------------------------------------

    def action_unfold(self) -> None:
        line = self._line
        if line is not None and line.opened is False:
            self._turn(line.key)

    def action_fold(self) -> None:
        line = self._line
        if line is None or self._wanted:
            return
        if line.opened:
            self._turn(line.key)
        else:
            above = range(self.cursor - 1, -1, -1)
            self.go(next((at for at in above if self._lines[at].depth < line.depth), self.cursor))

    def action_choose(self, stay: bool = False) -> None:
        line = self._line
        if line is None:
            return
        if line.condition is not None or line.key == "all":
            self.post_message(self.Chosen(line.condition, stay))
        elif line.collection is not None:
            self.post_message(self.CollectionChosen(line.collection))
        else:
            self._turn(line.key)

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        line = self._lines[self.cursor]
        if line.opened is not None and not line.section and x < 2 * line.depth + 2:
            self._turn(line.key)
        else:
            self.action_choose()

    @property
    def _line(self) -> Line | None:
        return self._lines[self.cursor] if self.cursor < len(self._lines) else None

    def _turn(self, key: str) -> None:
        """Open or close."""
        self._opened ^= {key}
        self._write()

    # -- drawing -----------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        (place, _), width = self.at_line(y), self.size.width
        if place >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[place]
        base = self.get_component_rich_style("sidebar--cursor" if place == self.cursor else "sidebar--line")
        look = base
        if line.section:
            look = toned(base, self.get_component_rich_style("sidebar--heading", partial=True))
        if line.chosen:
            look = toned(base, self.get_component_rich_style("sidebar--chosen", partial=True))
        number = "" if line.count is None else f" {line.count:,} "
        arrow = {None: " ", True: "▾", False: "▸"}[line.opened]
        head = f"{' ' * (2 * line.depth - 1 if line.depth else 0)}{arrow}{'✓' if line.chosen else ' '}"
        if line.key == "all":
            head = " "
        text = fit(f"{head}{line.text}", max(1, width - len(number)))
        count = toned(base, self.get_component_rich_style("sidebar--count", partial=True))
        return Strip([Segment(text, look), Segment(number, count)]).adjust_cell_length(width, base).simplify()

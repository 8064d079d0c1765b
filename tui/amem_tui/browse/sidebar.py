"""The sidebar: collections, kinds, tags, topics, time, memory and status, to narrow the list by."""

from __future__ import annotations

from calendar import month_name
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from amem.note import Layer, Status
from amem_tui.browse.facets import Condition, Conditions, Facets
from amem_tui.lists import CursorList, fit
from amem_tui.phrases import one_line
from amem_tui.themes import toned

if TYPE_CHECKING:
    from collections.abc import Set

    from amem_tui.browse.facets import Facet


# The lines of the sidebar: sections that open and close, and in them what the list can be narrowed by.

#: Sections that are open from the start.
OPEN = frozenset({"kinds", "tags", "topics", "timeline"})
#: Tags and topics that are shown at first, and when one asks for more.
_FEW, _MANY = 12, 500
_LAYERS = {Layer.LONG_TERM: "long-term", Layer.SHORT_TERM: "short-term"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line called `key`. `opened` says that it can be opened, and whether it is; `section` that it is a heading.

    What can be chosen has a `condition` or a `collection`; "All notes" and "… more" have neither.
    """

    key: str
    text: str
    count: int | None = None
    depth: int = 1
    opened: bool | None = None
    chosen: bool = False
    condition: Condition | None = None
    collection: str | None = None

    @property
    def section(self) -> bool:
        return self.depth == 0 and self.opened is not None


def lines(facets: Facets, opened: Set[str], conditions: Conditions, wanted: str = "") -> list[Line]:
    """All that are to be seen; with `wanted` those that hold it, whether their sections are open or not."""
    return _Writer(facets, opened, conditions, wanted.casefold()).all()


@dataclass(frozen=True, slots=True)
class _Writer:
    facets: Facets
    opened: Set[str]
    conditions: Conditions
    wanted: str

    def all(self) -> list[Line]:
        facets = self.facets
        found = [] if self.wanted else [Line("all", "All notes", facets.total, 0, chosen=not self.conditions)]
        kinds = sorted(facets.kinds.items(), key=lambda item: -item[1])
        inside = {
            "kind": [self._line("kind", kind, kind, number) for kind, number in kinds],
            "tag": [self._line("tag", tag, tag, number) for tag, number in facets.tags.items()],
            "topic": [self._line("topic", each.id, each.name, each.notes) for each in facets.topics],
            "period": self._years(),
            "layer": [
                self._line("layer", layer, _LAYERS[layer], facets.layers[layer])
                for layer in _LAYERS
                if layer in facets.layers
            ],
            "status": [
                self._line("status", status, status, facets.statuses[status])
                for status in Status
                if status in facets.statuses
            ],
        }
        for each in self.conditions.chosen:  # what all else leaves nothing of can be taken off all the same
            line = self._line(each.facet, each.value, each.label, 0)
            if line.key not in {one.key for one in inside[each.facet]} and each.value not in facets.months:
                inside[each.facet].append(line)
        return [
            *found,
            *self._section("collections", "Collections", [self._collection(name) for name in facets.collections]),
            *self._section("kinds", "Kinds", inside["kind"]),
            *self._section("tags", "Tags", inside["tag"], facets.more_tags),
            *self._section("topics", "Topics", inside["topic"]),
            *self._section("timeline", "Timeline", inside["period"]),
            *self._section("layers", "Memory", inside["layer"]),
            *self._section("status", "Status", inside["status"]),
        ]

    def _section(self, name: str, title: str, inside: list[Line], more: int = 0) -> list[Line]:
        """The heading, and below it what is to be seen; nothing at all where there is nothing."""
        ticked = any(each.chosen and each.collection is None for each in inside)
        if self.wanted:
            inside = [each for each in inside if self.wanted in each.text.casefold()]
        if not inside:
            return []
        is_open = bool(self.wanted) or name in self.opened
        heading = Line(name, title, depth=0, opened=is_open, chosen=ticked and not is_open)
        return [heading, *(self._first(name, inside, more) if is_open else [])]

    def _first(self, name: str, inside: list[Line], more: int) -> list[Line]:
        if name not in ("tags", "topics"):
            return inside
        asked = bool(self.wanted) or f"more {name}" in self.opened
        shown = inside[: _MANY if asked else _FEW]
        # What is chosen stays in sight, however few notes carry it.
        shown += [each for each in inside[len(shown) :] if each.chosen]
        left = len(inside) + more - len(shown)
        if not left or self.wanted:
            return shown
        return [*shown, Line(f"more {name}", f"… {left:,} more{', f finds them' if asked else ''}")]

    def _years(self) -> list[Line]:
        found: list[Line] = []
        months = self.facets.months
        for year in sorted({month[:4] for month in months}, reverse=True):
            inside = sorted((month for month in months if month[:4] == year), reverse=True)
            key = f"period {year}"
            is_open = key in self.opened
            total = sum(months[month] for month in inside)
            found.append(self._line("period", year, year, total, opened=is_open))
            if is_open or self.wanted:
                found += [
                    self._line("period", month, f"{month_name[int(month[5:])]} {year}", months[month], depth=2)
                    for month in inside
                ]
        return found

    def _collection(self, name: str) -> Line:
        here, count = name == self.facets.here, self.facets.collections[name]
        return Line(f"collection {name}", one_line(name, 60), count, chosen=here, collection=name)

    def _line(
        self, facet: Facet, value: str, label: str, count: int, *, depth: int = 1, opened: bool | None = None
    ) -> Line:
        condition = Condition(facet, str(value), str(label))
        return Line(
            key=f"{facet} {value}",
            text=one_line(label, 60),
            count=count,
            depth=depth,
            opened=opened,
            chosen=condition in self.conditions,
            condition=condition,
        )


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

"""The lines of the sidebar: sections that open and close, and in them what the list can be narrowed by."""

from __future__ import annotations

from calendar import month_name
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.note import Layer, Status
from amem_tui.browse.conditions import Condition
from amem_tui.phrases import one_line

if TYPE_CHECKING:
    from collections.abc import Set

    from amem_tui.browse.conditions import Conditions, Facet
    from amem_tui.browse.facets import Facets

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

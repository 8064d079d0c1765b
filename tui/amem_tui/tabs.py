"""Names of pages or panes on one line, the open one marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Name:
    """A tab: what it is called, and with ever less room."""

    def __init__(self, id: str, *forms: str) -> None:
        self.id, self.forms = id, forms

    def form(self, brevity: int) -> str:
        """The name so many times shortened, or as short as it gets."""
        return self.forms[min(brevity, len(self.forms) - 1)]


@dataclass(frozen=True, slots=True)
class Placed:
    """A tab on the line, from the blank before its label at the cell `start` up to `stop`."""

    id: str
    label: str
    start: int
    stop: int


class TabStrip(Widget):
    """`active` is the id of the open one. With little room they stand closer, and the last ones are shortened first."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--name", "tabs--active", "tabs--count"}
    DEFAULT_CSS = """
    TabStrip { height: 1; }
    .tabs--name { color: $muted; background: $background; }
    .tabs--active { color: $primary; background: $panel; text-style: bold; }
    .tabs--count { color: $foreground; background: $background; }
    """

    @dataclass
    class Chosen(Message):
        tab: str

    def __init__(self, names: Sequence[Name], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self._active = names[0].id
        self._counts: Mapping[str, int] = {}

    @property
    def active(self) -> str:
        return self._active

    @property
    def labels(self) -> list[str]:
        """What stands on the line."""
        return [tab.label for tab in self._placed()]

    def mark(self, active: str, counts: Mapping[str, int]) -> None:
        """Say which page is open, and how much there is on the others."""
        self._active, self._counts = active, counts
        self.refresh()

    @on(events.Click)
    def _click(self, event: events.Click) -> None:
        shift = self._shift()
        for tab in self._placed():
            if tab.start <= event.x + shift < tab.stop:
                self.post_message(self.Chosen(tab.id))

    def render_line(self, y: int) -> Strip:
        plain, active, counted = (
            self.get_component_rich_style(name) for name in ("tabs--name", "tabs--active", "tabs--count")
        )
        segments: list[Segment] = []
        for tab in self._placed():
            look = active if tab.id == self._active else plain
            words, _, count = tab.label.rpartition(" ") if self._counts.get(tab.id) else (tab.label, "", "")
            segments.append(Segment(f" {words}", look))
            if count:
                segments.append(Segment(f" {count}", active if tab.id == self._active else counted))
            segments.append(Segment(" " * (tab.stop - tab.start - cell_len(tab.label) - 1), look))
        shift, width = self._shift(), self.size.width
        strip = Strip(segments)
        cut = strip.crop(shift, shift + width).adjust_cell_length(width, plain)
        # What goes on beyond the edges says so.
        if strip.cell_length > shift + width:
            cut = Strip([*cut.crop(0, width - 1), Segment("›", plain)])
        if shift:
            cut = Strip([Segment("‹", plain), *cut.crop(1, width)])
        return cut

    def _placed(self) -> list[Placed]:
        return placed(self._names, self._counts, self._active, self.size.width)

    def _shift(self) -> int:
        """How far the line is moved to the left so that the open tab is in sight, its neighbours too if they can be."""
        tabs = self._placed()
        end = tabs[-1].stop
        place = next(n for n, tab in enumerate(tabs) if tab.id == self._active)
        beyond = min(end, tabs[min(place + 1, len(tabs) - 1)].stop)
        start = tabs[max(0, place - 1)].start
        return min(start, max(0, beyond - self.size.width + 1)) if end > self.size.width else 0


def placed(names: Sequence[Name], counts: Mapping[str, int], active: str, width: int) -> list[Placed]:
    """The tabs from the left, in so many cells where they can be made to fit."""
    forms = dict.fromkeys((name.id for name in names), 0)
    found = _side_by_side(names, forms, counts, gap=2)
    most = max(len(name.forms) for name in names)
    # The open one keeps its name as long as the others can still be shortened.
    for brevity, open_too in ((0, True), *((n, False) for n in range(1, most)), (most - 1, True)):
        for name in reversed(names):
            if found[-1].stop <= width:
                return found
            if open_too or name.id != active:
                forms[name.id] = brevity
            found = _side_by_side(names, forms, counts, gap=1)
    return found


def _side_by_side(names: Sequence[Name], forms: Mapping[str, int], counts: Mapping[str, int], gap: int) -> list[Placed]:
    found, at = [], 0
    for name in names:
        words, count = name.form(forms[name.id]), counts.get(name.id, 0)
        label = f"{words} {count:,}" if count else words
        found.append(Placed(name.id, label, at, at + cell_len(label) + gap))
        at = found[-1].stop
    return found

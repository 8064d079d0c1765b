"""The names of the pane's pages on one line, the open one marked; what does not fit is a click or a key away."""

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


@dataclass(frozen=True, slots=True)
class Name:
    """A tab: what it is called, and in a few letters where there is no room."""

    id: str
    title: str
    short: str


class TabStrip(Widget):
    """`active` is the id of the open one. With little room the others are called by their short names."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--name", "tabs--active", "tabs--count"}

    @dataclass
    class Chosen(Message):
        """Somebody wants to see this page."""

        tab: str

    def __init__(self, names: Sequence[Name], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self._active = names[0].id
        self._counts: Mapping[str, int] = {}

    @property
    def active(self) -> str:
        """The id of the open tab."""
        return self._active

    @property
    def labels(self) -> list[str]:
        """What stands on the line."""
        return [label for _, label, _ in self._placed()]

    def mark(self, active: str, counts: Mapping[str, int]) -> None:
        """Say which page is open, and how much there is on the others."""
        self._active, self._counts = active, counts
        self.refresh()

    @on(events.Click)
    def _click(self, event: events.Click) -> None:
        shift = self._shift()
        for tab, label, start in self._placed():
            if start <= event.x + shift < start + cell_len(label) + 2:
                self.post_message(self.Chosen(tab))

    def render_line(self, y: int) -> Strip:
        plain, active, counted = (
            self.get_component_rich_style(name) for name in ("tabs--name", "tabs--active", "tabs--count")
        )
        segments: list[Segment] = []
        for tab, label, _ in self._placed():
            here = tab == self._active
            words, _, count = label.rpartition(" ") if self._counts.get(tab) else (label, "", "")
            segments.append(Segment(f" {words}", active if here else plain))
            if count:
                segments.append(Segment(f" {count}", active if here else counted))
            segments.append(Segment(" ", active if here else plain))
        shift, width = self._shift(), self.size.width
        strip = Strip(segments)
        cut = strip.crop(shift, shift + width).adjust_cell_length(width, plain)
        # What goes on beyond the edges says so.
        if strip.cell_length > shift + width:
            cut = Strip([*cut.crop(0, width - 1), Segment("›", plain)])
        if shift:
            cut = Strip([Segment("‹", plain), *cut.crop(1, width)])
        return cut

    def _placed(self) -> list[tuple[str, str, int]]:
        """(id, label, its first cell) from the left, before anything is shifted out of sight."""
        for brief in ((), (self._active,), None):
            placed, at = [], 0
            for name in self._names:
                words = name.title if brief == () or name.id in (brief or ()) else name.short
                count = self._counts.get(name.id, 0)
                label = f"{words} {count:,}" if count else words
                placed.append((name.id, label, at))
                at += cell_len(label) + 2
            if at <= self.size.width:
                break
        return placed

    def _shift(self) -> int:
        """How far the line is moved to the left so that the open tab is in sight, its neighbours too if they can be."""
        placed = self._placed()
        ends = [start + cell_len(label) + 2 for _, label, start in placed]
        place = next(n for n, (tab, _, _) in enumerate(placed) if tab == self._active)
        beyond = min(ends[-1], ends[min(place + 1, len(ends) - 1)])
        start = placed[max(0, place - 1)][2]
        return min(start, max(0, beyond - self.size.width + 1)) if ends[-1] > self.size.width else 0

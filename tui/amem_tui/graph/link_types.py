"""The row of link types: what the lines mean, how many there are, and which are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.note import LinkType
from amem.storage.graph_queries import TELLING
from amem_tui.formatting import link_words
from amem_tui.graph.drawing import COLOURS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


#: A piece of the line, and the type's name where there is less room, and least.
SHORT: Mapping[LinkType, tuple[str, str, str]] = {
    LinkType.RELATED: ("⠤⠤⠤", "relate", "rel"),
    LinkType.SUPPORTS: ("⠤⠤⠠", "support", "sup"),
    LinkType.CONTRADICTS: ("⠤ ⠤", "contra", "con"),
    LinkType.SUPERSEDES: ("⠤⠠⠄", "supers", "spd"),
    LinkType.CAUSED_BY: ("⠤⠠⠠", "cause", "cau"),
    LinkType.DERIVED_FROM: ("⠤⠤ ", "derive", "der"),
    LinkType.PART_OF: ("⠠ ⠄", "part", "prt"),
}


class TypeRow(Static, can_focus=True):
    """A toggle for each type; `place` is where its cursor stands while it has the keyboard."""

    @dataclass
    class Toggled(Message):
        """A type was clicked."""

        type: LinkType

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._place = 0
        self._hidden: Collection[LinkType] = ()
        self._counts: Mapping[LinkType, int] = {}

    @property
    def type(self) -> LinkType:
        """The one under the cursor."""
        return TELLING[self._place]

    def show(self, counts: Mapping[LinkType, int], hidden: Collection[LinkType]) -> None:
        """How many links of each type are drawn, and which types are not."""
        self._counts, self._hidden = counts, hidden
        self._draw()

    def move(self, by: int) -> None:
        """Put the cursor on another type."""
        self._place = (self._place + by) % len(TELLING)
        self._draw()

    @on(events.Resize)
    @on(events.Focus)
    @on(events.Blur)
    def _draw(self) -> None:
        self.update(Content("").join(self._words()))

    def on_click(self, event: events.Click) -> None:
        stop = 0
        for place, words in enumerate(self._words()):
            start, stop = stop, stop + cell_len(words.plain)
            if start <= event.x < stop:
                self._place = place
                self.post_message(self.Toggled(self.type))

    def _words(self) -> list[Content]:
        """One for each type, as long as there is room for all."""
        for form in range(6):
            found = [self._word(type, form) for type in TELLING]
            if sum(each.cell_length for each in found) <= self.size.width:
                break
        if self.has_focus:
            found[self._place] = found[self._place].stylize("reverse")
        return found

    def _word(self, type: LinkType, form: int) -> Content:
        """A type in one of six forms, each shorter than the one before.

        But for the shortest, a piece of its line stands before it, so that a type is not told by its colour alone.
        """
        (sample, half, short), number, name = SHORT[type], self._counts.get(type, 0), link_words(type)
        shown = [name, name, name, half, short, short][form]
        colour = "$muted strike" if type in self._hidden else COLOURS[type] if number else "$muted"
        if form == 5 or (form == 2 and not number):
            return Content.assemble(" ", (short, colour), " ")
        count = f" {number}" if number and form in (0, 2) else ""
        end = " " if form in (0, 2, 3) else ""
        return Content.assemble((f" {sample} ", COLOURS[type]), (shown, colour), (count, "$muted"), end)

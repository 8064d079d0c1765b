"""The row of link types: what the lines mean, how many there are, and which are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem.note import LinkType
from amem.storage.graph_queries import TELLING
from amem_tui.graph import drawing as braille
from amem_tui.graph.drawing import COLOURS, STROKES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from textual import events

_SAMPLES: Mapping[tuple[int, ...], str] = {
    braille.SOLID: "⠤⠤⠤",
    braille.DASHED: "⠤ ⠤",
    braille.LONG_DASHED: "⠤⠤ ",
    braille.DOTTED: "⠠ ⠄",
    braille.DASH_DOT: "⠤⠤⠠",
    braille.DASH_DOT_DOT: "⠤⠠⠠",
    braille.PAIRS: "⠤⠠⠄",
}
_HALF = {
    LinkType.RELATED: "relate",
    LinkType.SUPPORTS: "support",
    LinkType.CONTRADICTS: "contra",
    LinkType.SUPERSEDES: "supers",
    LinkType.CAUSED_BY: "cause",
    LinkType.DERIVED_FROM: "derive",
    LinkType.PART_OF: "part",
}
_SHORT = {
    LinkType.RELATED: "rel",
    LinkType.SUPPORTS: "sup",
    LinkType.CONTRADICTS: "con",
    LinkType.SUPERSEDES: "spd",
    LinkType.CAUSED_BY: "cau",
    LinkType.DERIVED_FROM: "der",
    LinkType.PART_OF: "prt",
}


def called(type: LinkType) -> str:
    """The type as a person says it."""
    return str(type).replace("_", " ")


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

    def on_resize(self) -> None:
        self._draw()

    def on_focus(self) -> None:
        self._draw()

    def on_blur(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        stop = 0
        for place, words in enumerate(self._words()):
            start, stop = stop, stop + cell_len(words.plain)
            if start <= event.x < stop:
                self._place = place
                self.post_message(self.Toggled(self.type))

    def _draw(self) -> None:
        self.update(Content("").join(self._words()))

    def _words(self) -> list[Content]:
        """One for each type, as long as there is room for all."""
        for words in (self._counted, self._sampled, self._present, self._halved, self._shortened, self._bare):
            found = [words(type) for type in TELLING]
            if sum(each.cell_length for each in found) <= self.size.width:
                break
        if self.has_focus:
            found[self._place] = found[self._place].stylize("reverse")
        return found

    def _counted(self, type: LinkType) -> Content:
        number = self._counts.get(type, 0)
        return Content.assemble(self._drawn(called(type), type), (f" {number}" if number else "", "$muted"), " ")

    def _sampled(self, type: LinkType) -> Content:
        return self._drawn(called(type), type)

    def _present(self, type: LinkType) -> Content:
        return self._counted(type) if self._counts.get(type) else self._bare(type)

    def _halved(self, type: LinkType) -> Content:
        return self._drawn(_HALF[type], type) + " "

    def _shortened(self, type: LinkType) -> Content:
        return self._drawn(_SHORT[type], type)

    def _bare(self, type: LinkType) -> Content:
        return Content.assemble(" ", self._coloured(_SHORT[type], type), " ")

    def _drawn(self, name: str, type: LinkType) -> Content:
        """With a piece of the line before it, so that a type is not told by its colour alone."""
        return Content.assemble((f" {_SAMPLES[STROKES[type]]} ", COLOURS[type]), self._coloured(name, type))

    def _coloured(self, name: str, type: LinkType) -> tuple[str, str]:
        if type in self._hidden:
            return name, "$muted strike"
        return name, COLOURS[type] if self._counts.get(type) else "$muted"

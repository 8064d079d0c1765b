"""The row of link types: what the lines mean, how many there are, and which are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from amem.note import LinkType
from amem.storage.graph_queries import TELLING
from amem_tui.formatting import link_words
from amem_tui.graph.drawing import COLOURS
from amem_tui.word_line import Word, WordLine

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


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


class TypeRow(WordLine, can_focus=True):
    """A toggle for each type; its cursor is seen while it has the keyboard."""

    @dataclass
    class Toggled(Message):
        """A type was clicked."""

        type: LinkType

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hidden: Collection[LinkType] = ()
        self._counts: Mapping[LinkType, int] = {}
        #: The one under the cursor.
        self.type = TELLING[0]

    def show(self, counts: Mapping[LinkType, int], hidden: Collection[LinkType]) -> None:
        """How many links of each type are drawn, and which types are not."""
        self._counts, self._hidden = counts, hidden
        self.refresh()

    def move(self, by: int) -> None:
        """Put the cursor on another type."""
        self.type = TELLING[(TELLING.index(self.type) + by) % len(TELLING)]
        self.refresh()

    def choose(self, id: str) -> None:
        self.type = LinkType(id)
        self.post_message(self.Toggled(self.type))

    def words(self, width: int) -> Sequence[Word]:
        """One for each type, as long as there is room for all."""
        for form in range(6):
            found = [self._word(type, form) for type in TELLING]
            if sum(each.cell_length for each in found) <= width:
                break
        if self.has_focus:
            place = TELLING.index(self.type)
            found[place] = found[place].stylize("reverse")
        return [Word(str(type), text) for type, text in zip(TELLING, found, strict=True)]

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

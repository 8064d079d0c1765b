"""Changes of fields as people read them: beside each other where there is room, else as one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from amem_tui.history.fields import FieldChange


class ChangesView(VerticalScroll):
    """Shows one change at a time; it scrolls with the keys of every scrolling pane once it has the focus."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="changes")
        self._shown: object = None

    async def show(self, blocks: Sequence[Widget], *, about: object = None) -> None:
        """Replace what is shown. The place in it is kept while it is `about` the same."""
        same = about is not None and about == self._shown
        self._shown = about
        place = self.scroll_y
        async with self.batch():
            await self.remove_children()
            await self.mount_all(blocks)
        self.scroll_to(y=place if same else 0, animate=False)

    async def say(self, words: str | Content) -> None:
        """Show a sentence alone."""
        await self.show([said(words)], about=str(words))


def said(words: str | Content, classes: str = "said") -> Static:
    """A line or more of words."""
    return Static(Content(words) if isinstance(words, str) else words, classes=classes, markup=False)


def field_blocks(changes: Iterable[FieldChange], *, beside: bool = True) -> list[Widget]:
    """Each changed field under its name; long ones in two columns where the screen is wide, and `beside` is asked."""
    blocks: list[Widget] = []
    for change in changes:
        blocks.append(said(change.name, "field-name"))
        if beside and change.long:
            columns = (said(change.before, "column"), said(change.after, "column"))
            blocks.append(Horizontal(*columns, classes="columns"))
            blocks.append(said(change.both, "both -narrow-only"))
        else:
            blocks.append(said(change.both, "both"))
    return blocks

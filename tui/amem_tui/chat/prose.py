"""A text within the conversation: Markdown drawn as notes are, as high as its lines."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from amem_tui.browse.pane.markdown import parts_of
from amem_tui.browse.pane.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.binding import BindingType

    from amem_tui.browse.pane.leaf import Part, Sheet

    Named = Callable[[Sequence[str]], Mapping[str, str]]


class Prose(Page, can_focus=False):
    """Only the lines in view are drawn, and laying out is done in a thread, so that a text may grow to any length."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, text: str = "", *, classes: str = "") -> None:
        super().__init__()
        self.add_class(*classes.split())
        self._first = text

    async def on_mount(self) -> None:
        if self._first:
            await self.tell(self._first)

    async def tell(self, text: str, named: Named | None = None) -> None:
        """Show this text; `named` says which notes the names in its links mean, and may take its time."""
        await self.show(await asyncio.to_thread(partial(parts_of, text, named)), keep=True)

    async def show(self, parts: Sequence[Part], *, keep: bool = False, choose: bool = False) -> None:
        if self.size.width:
            await super().show(parts, keep=keep, choose=choose)
        else:
            self._parts = parts  # laid out as soon as there is a width to lay it out at

    def _take(self, sheet: Sheet, width: int) -> None:
        super()._take(sheet, width)
        self.refresh(layout=True)

"""A list of lines to move through with the arrows or as in vi; what is chosen is known by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.widgets.option_list import Option


class Lines(OptionList, inherit_bindings=False):
    """An option list that keeps its cursor on the same thing when it is filled anew.

    A click moves the cursor, and opens only what it stands on already; what enter does is the screen's to say.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Up", show=False),
        Binding("down,j", "cursor_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True, markup=False)

    @property
    def chosen(self) -> str | None:
        """The id of the line under the cursor; None when there is none."""
        option = self.highlighted_option
        return None if option is None else option.id

    def fill(self, options: Sequence[Option], *, keep: str | None = None, near: bool = True) -> None:
        """Show these lines, with the cursor on the one it was on (or on `keep`), else on the nearest or on none."""
        wanted, place, top = keep or self.chosen, self.highlighted or 0, self.scroll_y
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(options)
            there = {option.id: at for at, option in enumerate(options) if not option.disabled}
            nearest = min(there.values(), key=lambda at: abs(at - place), default=None) if near else None
            self.highlighted = there.get(wanted, nearest)
        self.scroll_to(y=top, animate=False, immediate=True)
        self.call_after_refresh(self.scroll_to_highlight)

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if clicked is None or self.options[clicked].disabled:
            return
        if clicked == self.highlighted:
            self.action_select()
        else:
            self.highlighted = clicked

"""Names of a room's panes above them, where a narrow terminal shows one at a time.

A room's own style sheet says where that is: ``.-narrow PaneTabs { display: block; }``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult


class PaneTab(Static):
    """The name of a pane; a click shows it."""

    @dataclass
    class Chosen(Message):
        """Somebody wants to see that pane."""

        pane: str

    def __init__(self, pane: str, title: str) -> None:
        super().__init__(title, id=f"tab-{pane}")
        self._pane = pane

    @on(events.Click)
    def _choose(self) -> None:
        self.post_message(self.Chosen(self._pane))


class PaneTabs(Horizontal):
    """`panes` are titles by name; which one is in front is the room's to say."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $background; display: none; }
    PaneTab { width: auto; padding: 0 1; color: $muted; }
    PaneTab:hover { color: $foreground; }
    PaneTab.-here { color: $primary; text-style: bold underline; }
    """

    def __init__(self, panes: Mapping[str, str]) -> None:
        super().__init__()
        self._panes = panes

    def compose(self) -> ComposeResult:
        for pane, title in self._panes.items():
            yield PaneTab(pane, title)

    def point_at(self, pane: str) -> None:
        """Show which pane is in front."""
        for tab in self.query(PaneTab):
            tab.set_class(tab.id == f"tab-{pane}", "-here")

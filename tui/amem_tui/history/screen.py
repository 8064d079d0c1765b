"""The history room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.widgets import Static

from amem_tui.history.keys import KEYS
from amem_tui.notes_screen import NotesScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class HistoryScreen(NotesScreen):
    """To be built."""

    ROOM = "history"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield Static("", id="history-body")

    def reload(self) -> None:
        self.query_one("#history-body", Static).update(self._desk.note or "")

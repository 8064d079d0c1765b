"""The health room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.widgets import Static

from amem_tui.health.keys import KEYS
from amem_tui.notes_screen import NotesScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class HealthScreen(NotesScreen):
    """To be built."""

    ROOM = "health"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield Static("", id="health-body")

    def reload(self) -> None:
        self.query_one("#health-body", Static).update(self._desk.note or "")

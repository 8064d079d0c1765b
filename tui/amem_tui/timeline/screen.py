"""The timeline room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.widgets import Static

from amem_tui.notes_screen import NotesScreen
from amem_tui.timeline.keys import KEYS

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class TimelineScreen(NotesScreen):
    """To be built."""

    ROOM = "timeline"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield Static("", id="timeline-body")

    def reload(self) -> None:
        self.query_one("#timeline-body", Static).update(self._desk.note or "")

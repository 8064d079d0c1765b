"""The chat room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.widgets import Static

from amem_tui.chat.keys import KEYS
from amem_tui.notes_screen import NotesScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class ChatScreen(NotesScreen):
    """To be built."""

    ROOM = "chat"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def furnish(self) -> ComposeResult:
        yield Static("", id="chat-body")

    def reload(self) -> None:
        self.query_one("#chat-body", Static).update(self._desk.note or "")

"""Keys of the log."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("u", "undo", "Undo this one", id="log.undo"),
    Binding("escape", "leave", "Back", id="log.leave"),
)

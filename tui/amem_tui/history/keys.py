"""Keys of the history room."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("u", "undo_version", "Undo what made it", id="history.undo"),
    Binding("r", "roll_back", "Roll back to it", id="history.roll_back"),
    Binding("v", "compare", "Compare with now", id="history.compare"),
    Binding("w", "whole", "Whole text", id="history.whole"),
    Binding("enter", "read", "Open note", id="history.read"),
    Binding("escape", "leave", "Back", id="history.leave"),
)

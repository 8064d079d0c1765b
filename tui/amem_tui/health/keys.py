"""Keys of this room."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (Binding("escape", "leave", "Back", id="health.leave"),)

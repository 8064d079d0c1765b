"""Keys of the start screen."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("slash", "search", "Search", key_display="/", id="browse.search"),
    Binding("e", "edit", "Edit", id="browse.edit"),
    Binding("d", "delete", "Delete", id="browse.delete"),
    Binding("p", "pin", "Pin", id="browse.pin"),
    Binding("u", "undo", "Undo", id="browse.undo"),
    Binding("s", "sidebar", "Sidebar", id="browse.sidebar"),
    Binding("escape", "back", "Back", show=False, id="browse.back"),
)

"""Keys of the start screen, the most wanted first."""

from __future__ import annotations

from textual.binding import Binding

from amem_tui.browse.pane.keys import PANE_KEYS

KEYS = (
    Binding("slash", "search", "Search", key_display="/", id="browse.search"),
    Binding("f", "filter", "Filter", id="browse.filter"),
    Binding("s", "sidebar", "Sidebar", id="browse.sidebar"),
    Binding("o", "order", "Order", id="browse.order"),
    Binding("e", "edit", "Edit", id="browse.edit"),
    Binding("E", "edit_elsewhere", "Edit in $EDITOR", show=False, id="browse.elsewhere"),
    Binding("d", "delete", "Delete", id="browse.delete"),
    Binding("u", "undo", "Undo", id="browse.undo"),
    Binding("p", "pin", "Pin", id="browse.pin"),
    Binding("space", "mark", "Mark", id="browse.mark"),
    Binding("A", "mark_all", "Mark all listed", show=False, id="browse.mark_all"),
    Binding("x", "export", "Write to a file", id="browse.export"),
    Binding("y", "copy_note", "Copy text", id="browse.copy_note"),
    Binding("Y", "copy_id", "Copy id", show=False, id="browse.copy_id"),
    Binding("escape", "back", "Back", show=False, id="browse.back"),
    *PANE_KEYS,
)

"""Keys for the open note, which work wherever the keyboard is on the start screen."""

from __future__ import annotations

from textual.binding import Binding

PANE_KEYS = (
    Binding("left_square_bracket", "tab(-1)", "Page before", key_display="[", show=False, id="browse.previous_tab"),
    Binding("right_square_bracket", "tab(1)", "Next page", key_display="]", id="browse.next_tab"),
    Binding("plus", "link", "Link", key_display="+", id="browse.link"),
    Binding("minus", "unlink", "Unlink", key_display="-", id="browse.unlink"),
)

"""Keys of this room."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("enter", "open", "Open", id="timeline.open"),
    Binding("p", "pin", "Pin", id="timeline.pin"),
    Binding("tab", "pane(1)", "Next pane", id="timeline.pane"),
    Binding("shift+tab", "pane(-1)", "Pane before", show=False, id="timeline.pane_before"),
    Binding("full_stop", "today", "Today", key_display=".", id="timeline.today"),
    Binding("left_square_bracket", "page(-1)", "Older", key_display="[", id="timeline.older"),
    Binding("right_square_bracket", "page(1)", "Newer", key_display="]", id="timeline.newer"),
    Binding("plus,equals_sign", "ahead(1)", "Farther", key_display="+", id="timeline.farther"),
    Binding("minus", "ahead(-1)", "Nearer", key_display="-", id="timeline.nearer"),
    Binding("d", "ask_days", "Days ahead", id="timeline.days"),
    Binding("u", "undo", "Undo", id="timeline.undo"),
    Binding("escape", "leave", "Back", id="timeline.leave"),
)

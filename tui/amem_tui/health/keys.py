"""Keys of this room."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("m", "maintain", "Maintain", id="health.maintain"),
    Binding("d", "rehearse", "Dry run", id="health.dry_run"),
    Binding("x", "stop", "Stop", id="health.stop"),
    Binding("e", "retry", "Analyse what waits", id="health.retry"),
    Binding("u", "undo_run", "Undo the run", id="health.undo"),
    Binding("f", "check", "Full check", id="health.check"),
    Binding("F", "repair", "Repair", id="health.repair"),
    Binding("enter", "open", "Open", id="health.open"),
    Binding("tab", "pane(1)", "Next pane", id="health.pane"),
    Binding("shift+tab", "pane(-1)", "Pane before", show=False, id="health.pane_before"),
    Binding("escape", "leave", "Back", id="health.leave"),
)

"""Keys of the review queue."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("a", "decide('accept')", "Accept", id="review.accept"),
    Binding("r", "decide('reject')", "Reject", id="review.reject"),
    Binding("u", "undo", "Undo", id="review.undo"),
    Binding("escape", "leave", "Back", id="review.leave"),
)

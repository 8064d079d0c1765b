"""Keys of the review room."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("a", "decide('accept')", "Accept", id="review.accept"),
    Binding("r", "decide('reject')", "Reject", id="review.reject"),
    Binding("1", "hold(1)", "This was right", key_display="1…9", id="review.hold"),
    *(
        Binding(str(place), f"hold({place})", f"Number {place} was right", show=False, id=f"review.hold_{place}")
        for place in range(2, 10)
    ),
    Binding("equals_sign", "keep", "It holds all the same", key_display="=", id="review.keep"),
    Binding("equals_sign", "keep_both", "Both hold", key_display="=", id="review.keep_both"),
    Binding("x", "retract", "It holds no more", id="review.retract"),
    Binding("s", "succession", "Chain of the open note", id="review.succession"),
    Binding("u", "undo", "Undo", id="review.undo"),
    Binding("w", "whole", "Whole text", id="review.whole"),
    Binding("enter", "read", "Open note", id="review.read"),
    Binding("right,right_square_bracket", "section(1)", "Next section", show=False, id="review.next"),
    Binding("left,left_square_bracket", "section(-1)", "Section before", show=False, id="review.before"),
    Binding("escape", "leave", "Back", id="review.leave"),
)

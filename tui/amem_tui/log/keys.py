"""Keys of the log."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("u", "undo_one", "Undo this one", id="log.undo"),
    Binding("enter", "read", "Open note", id="log.read"),
    Binding("a", "choose_actor", "Who", id="log.actor"),
    Binding("s", "choose_since", "Since", id="log.since"),
    Binding("space", "fold", "Fold", id="log.fold"),
    Binding("right", "unfold", "Unfold", show=False, id="log.unfold"),
    Binding("left", "fold_away", "Fold, or to what set it off", show=False, id="log.fold_away"),
    Binding("escape", "leave", "Back", id="log.leave"),
)

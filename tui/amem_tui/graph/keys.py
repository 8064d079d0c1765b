"""Keys of the graph."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("enter", "centre", "Centre it", id="graph.centre"),
    Binding("enter", "read", "Read it", id="graph.enter"),
    Binding("space,enter", "hide", "Show or hide", id="graph.hide"),
    Binding("e", "read", "Read it", id="graph.read"),
    Binding("backspace", "back", "Back", key_display="⌫", id="graph.back"),
    Binding("1", "depth(1)", "1 hop", id="graph.near"),
    Binding("2", "depth(2)", "2 hops", id="graph.further"),
    Binding("3", "depth(3)", "3 hops", id="graph.furthest"),
    Binding("o", "overview", "Topics", id="graph.overview"),
    Binding("o", "around", "Around the note", id="graph.around"),
    Binding("f", "types", "Types", id="graph.types"),
    Binding("p", "page", "As a page", id="graph.page"),
    Binding("a", "all_types", "Show all types", id="graph.all-types"),
    Binding("up,k", "step('up')", "Up", show=False, id="graph.up"),
    Binding("down,j", "step('down')", "Down", show=False, id="graph.down"),
    Binding("left", "step('left')", "Left", show=False, id="graph.left"),
    Binding("right", "step('right')", "Right", show=False, id="graph.right"),
    Binding("tab", "next(1)", "Next note", show=False, id="graph.next"),
    Binding("shift+tab", "next(-1)", "Note before", show=False, id="graph.before"),
    Binding("home", "home", "To the centre", show=False, id="graph.home"),
    Binding("pagedown", "scroll_about(1)", "More below", show=False, id="graph.more"),
    Binding("pageup", "scroll_about(-1)", "Back up", show=False, id="graph.less"),
    Binding("escape", "leave", "Leave", show=False, id="graph.leave"),
)

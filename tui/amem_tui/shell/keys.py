"""Keys that work on every screen."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("question_mark", "keys", "Help", key_display="?", id="app.help"),
    Binding("b", "visit('browse')", "Browse", show=False, id="app.browse"),
    Binding("g", "visit('graph')", "Graph", show=False, id="app.graph"),
    Binding("h", "visit('history')", "History", show=False, id="app.history"),
    Binding("t", "visit('timeline')", "Timeline", show=False, id="app.timeline"),
    Binding("c", "visit('chat')", "Chat", show=False, id="app.chat"),
    Binding("r", "visit('review')", "Review", show=False, id="app.review"),
    Binding("l", "visit('log')", "Log", show=False, id="app.log"),
    Binding("H", "visit('health')", "Health", show=False, id="app.health"),
    Binding("n", "new", "New note", id="app.new"),
    Binding("ctrl+k", "switch_note", "Go to a note", show=False, priority=True, id="app.switch"),
    Binding("ctrl+o", "switch_collection", "Collections", show=False, priority=True, id="app.collections"),
    Binding("ctrl+p", "command_palette", "Everything, by name", show=False, priority=True, id="app.palette"),
    Binding("ctrl+r", "redo", "Redo", show=False, id="app.redo"),
    Binding("q", "quit", "Quit", show=False, id="app.quit"),
)

#: Keys of the form in which a note is written. They come before what the text would do with them.
FORM_KEYS = (
    Binding("ctrl+s", "save", "Save", priority=True, id="form.save"),
    Binding("escape", "leave", "Cancel", id="form.leave"),
    Binding("ctrl+e", "editor", "In $EDITOR", priority=True, id="form.editor"),
    Binding("ctrl+t", "other_version", "See the other version", priority=True, id="form.other"),
    Binding("ctrl+n", "as_new", "Save as a new note", priority=True, id="form.new"),
)
#: Keys of the list of collections.
COLLECTION_KEYS = (
    Binding("enter", "open", "Open", id="collections.open"),
    Binding("c", "copy", "Copy", id="collections.copy"),
    Binding("n", "make", "New", id="collections.new"),
    Binding("escape", "leave", "Back", id="collections.leave"),
)

"""Keys of this room. While something is being typed only those without a letter work."""

from __future__ import annotations

from textual.binding import Binding

KEYS = (
    Binding("escape", "stop", "Stop the answer", key_display="esc", id="chat.stop"),
    Binding("f5", "again_now", "Ask again", id="chat.again_now"),
    Binding("a", "again", "Ask again", id="chat.again"),
    Binding("enter", "send", "Send", id="chat.send"),
    Binding("ctrl+j,shift+enter,alt+enter", "new_line", "New line", id="chat.newline"),
    Binding("i,enter", "write", "Write", id="chat.write"),
    Binding("u", "undo", "Undo learnt", id="chat.undo"),
    Binding("p", "panel", "Recalled, learnt", id="chat.panel"),
    Binding("s", "chats", "Chats", id="chat.chats"),
    Binding("ctrl+n", "new_chat", "New chat", id="chat.new"),
    Binding("x", "incognito", "Incognito", id="chat.incognito"),
    Binding("m", "model", "Model", id="chat.model"),
    Binding("d", "forget", "Forget", id="chat.forget"),
    Binding("w", "remember", "Remember selection", id="chat.remember"),
    Binding("y", "copy", "Copy the answer", show=False, id="chat.copy"),
    Binding("left_square_bracket", "turn(-1)", "Earlier turn", key_display="[", show=False, id="chat.earlier"),
    Binding("right_square_bracket", "turn(1)", "Later turn", key_display="]", show=False, id="chat.later"),
    Binding("j", "down", "Down", show=False, id="chat.down"),
    Binding("k", "up", "Up", show=False, id="chat.up"),
    Binding("escape", "unfocus", "Leave the input", key_display="esc", id="chat.unfocus"),
    Binding("escape", "leave", "Back", key_display="esc", id="chat.leave"),
)

#: Actions whose keys are letters, and so wait until one has left the input; and those that only work in it.
LETTERS = frozenset(
    "write again undo panel chats incognito model forget remember copy turn down up leave".split()  # noqa: SIM905
)
WHILE_TYPING = frozenset(("send", "new_line", "again_now", "unfocus"))

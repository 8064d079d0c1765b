"""Every key there is, by what it does, and a person's own keys in place of them."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, REPLACED_KEYS, Keys, key_to_character

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping


BROWSE_KEYS = (
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
    Binding("left_square_bracket", "tab(-1)", "Page before", key_display="[", show=False, id="browse.previous_tab"),
    Binding("right_square_bracket", "tab(1)", "Next page", key_display="]", id="browse.next_tab"),
    Binding("plus", "link", "Link", key_display="+", id="browse.link"),
    Binding("minus", "unlink", "Unlink", key_display="-", id="browse.unlink"),
)


CHAT_KEYS = (
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


GRAPH_KEYS = (
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


HEALTH_KEYS = (
    Binding("m", "maintain", "Maintain", id="health.maintain"),
    Binding("d", "maintain(True)", "Dry run", id="health.dry_run"),
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


HISTORY_KEYS = (
    Binding("u", "undo_version", "Undo what made it", id="history.undo"),
    Binding("r", "roll_back", "Roll back to it", id="history.roll_back"),
    Binding("v", "compare", "Compare with now", id="history.compare"),
    Binding("w", "whole", "Whole text", id="history.whole"),
    Binding("enter", "read", "Open note", id="history.read"),
    Binding("escape", "leave", "Back", id="history.leave"),
)


LOG_KEYS = (
    Binding("u", "undo_one", "Undo this one", id="log.undo"),
    Binding("enter", "read", "Open note", id="log.read"),
    Binding("a", "choose_actor", "Who", id="log.actor"),
    Binding("s", "choose_since", "Since", id="log.since"),
    Binding("space", "fold", "Fold", id="log.fold"),
    Binding("right", "unfold", "Unfold", show=False, id="log.unfold"),
    Binding("left", "fold_away", "Fold, or to what set it off", show=False, id="log.fold_away"),
    Binding("escape", "leave", "Back", id="log.leave"),
)


REVIEW_KEYS = (
    Binding("a", "decide('accept')", "Accept", id="review.accept"),
    Binding("r", "decide('reject')", "Reject", id="review.reject"),
    Binding("1", "hold(1)", "This one is current", key_display="1…9", id="review.hold"),
    *(
        Binding(
            str(place),
            f"hold({place})",
            f"Number {place} is current",
            show=False,
            system=True,
            id=f"review.hold_{place}",
        )
        for place in range(2, 10)
    ),
    Binding("equals_sign", "decide('keep')", "Still current", key_display="=", id="review.keep"),
    Binding("equals_sign", "keep_both", "Both are current", key_display="=", id="review.keep_both"),
    Binding("x", "decide('retract')", "No longer current", id="review.retract"),
    Binding("s", "succession", "Chain of the open note", id="review.succession"),
    Binding("u", "undo", "Undo", id="review.undo"),
    Binding("w", "whole", "Whole text", id="review.whole"),
    Binding("enter", "read", "Open note", id="review.read"),
    Binding("right,right_square_bracket", "section(1)", "Next section", show=False, id="review.next"),
    Binding("left,left_square_bracket", "section(-1)", "Section before", show=False, id="review.before"),
    Binding("escape", "leave", "Back", id="review.leave"),
)


TIMELINE_KEYS = (
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


APP_KEYS = (
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
    Binding("d", "diff", "Diff", id="collections.diff"),
    Binding("n", "make", "New", id="collections.new"),
    Binding("escape", "dismiss", "Back", id="collections.leave"),
)
#: Keys of the diff of a fork.
FORK_KEYS = (
    Binding("m", "merge", "Merge", id="fork.merge"),
    Binding("enter", "read", "Open note", id="fork.read"),
    Binding("u", "undo", "Undo", id="fork.undo"),
    Binding("ctrl+r", "redo", "Redo", show=False, id="fork.redo"),
    Binding("escape", "dismiss", "Back", id="fork.leave"),
)


#: Keys by the room where they work, under the name that their ids begin with; those of ``app`` work in all rooms.
ROOM_KEYS = {
    "app": APP_KEYS,
    "form": FORM_KEYS,
    "collections": COLLECTION_KEYS,
    "fork": FORK_KEYS,
    "browse": BROWSE_KEYS,
    "graph": GRAPH_KEYS,
    "history": HISTORY_KEYS,
    "timeline": TIMELINE_KEYS,
    "chat": CHAT_KEYS,
    "review": REVIEW_KEYS,
    "log": LOG_KEYS,
    "health": HEALTH_KEYS,
}
#: What opens above a room, where the app's keys do nothing.
_SHEETS = {"form", "collections", "fork"}
_MODIFIERS = {"ctrl", "shift", "alt", "super", "hyper", "meta"}
_NAMED = {key.value.split("+")[-1] for key in Keys}


def every_key() -> dict[str, Binding]:
    """Bindings by id, ``browse.delete``; those of every screen first."""
    return {binding.id: binding for keys in ROOM_KEYS.values() for binding in keys if binding.id is not None}


def room_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """The key that leads to each room; where there are several, the first."""
    known = every_key()
    rooms = {room: known[f"app.{room}"] for room in ROOM_KEYS if f"app.{room}" in known}
    return {room: wanted.get(f"app.{room}", binding.key).split(",")[0].strip() for room, binding in rooms.items()}


def own_keys(wanted: Mapping[str, str], where: str = "config.toml") -> dict[str, str]:
    """The keys of the setting ``tui_keys``, as Textual takes them; `where` names the file that it may stand in.

    Raises InvalidInput for what names nothing that a key does, for what is no key, and where a key would do two
    things in one room.
    """
    known = every_key()
    for name, keys in wanted.items():
        if name not in known:
            raise InvalidInput(
                f"tui_keys: there is nothing called {name!r}",
                hint=f"{_alike(name, known)} It is set in {where} or AMEM_TUI_KEYS; docs/browser.md lists all names",
            )
        for key in keys.split(","):
            if not _is_key(key):
                raise InvalidInput(
                    f"tui_keys: {name} = {keys!r} names no key",
                    hint="write d, D, ctrl+d, f2, escape, space or slash, and several with commas between",
                )
    _refuse_clashes(wanted, known)
    return {name: _spelt(keys) for name, keys in wanted.items()}


def as_textual_wants(own: Mapping[str, str]) -> dict[str, str]:
    """A person's keys as a keymap of Textual.

    Textual takes a key from all that share it when one of them gets another: those that keep it are named as well.
    """
    known = every_key()
    left = {key for name in own for key in known[name].key.split(",")}
    staying = {name: binding.key for name, binding in known.items() if left & set(binding.key.split(","))}
    return staying | dict(own)


def _refuse_clashes(wanted: Mapping[str, str], known: Mapping[str, Binding]) -> None:
    """Where both keys are as they come, a room may take one of the app's; a person's own are to be told apart."""
    taken = {name: _spelt(wanted.get(name, binding.key)).split(",") for name, binding in known.items()}
    room_of = {binding.id: room for room, keys in ROOM_KEYS.items() for binding in keys}
    for name in wanted:
        for other, keys in taken.items():
            here, there = room_of[name], room_of[other]
            together = here == there or ("app" in (here, there) and not {here, there} & _SHEETS)
            if other != name and together and (both := set(keys) & set(taken[name])):
                raise InvalidInput(
                    f"tui_keys: {min(both)!r} would be both {name} and {other}",
                    hint=f"give {other} another key as well, or choose another for {name}",
                )


def _spelt(keys: str) -> str:
    """Each key by the name that Textual has for it: ``question_mark`` for ``?``."""
    return ",".join("+".join([*modifiers, _name_of(key)]) for *modifiers, key in map(_parts, keys.split(",")))


def _name_of(key: str) -> str:
    if len(key) == 1 and not key.isalnum():
        key = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(key, key)


def _is_key(said: str) -> bool:
    *modifiers, key = _parts(said)
    character = key_to_character(REPLACED_KEYS.get(key, key)) or ""
    return set(modifiers) <= _MODIFIERS and (key in _NAMED or (character != "" and character.isprintable()))


def _parts(key: str) -> list[str]:
    """Modifiers and the key itself: ``ctrl``, ``d``."""
    bare = key.strip()
    return bare.split("+") if len(bare) > 1 else [bare]


def _alike(name: str, known: Mapping[str, Binding]) -> str:
    if nearest := get_close_matches(name, known, n=1):
        return f'did you mean "{nearest[0]}"?'
    room, _, last = name.partition(".")
    near = [each for each in known if each.startswith(f"{room}.")] or [
        each for each in known if last and each.endswith(f".{last}")
    ]
    return f"there is {', '.join((near or list(known))[:6])}."

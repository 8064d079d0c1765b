"""The keys of a screen as help and footer show them: read from its bindings, a person's own keys included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem_tui.rooms import ROOMS
from amem_tui.shell.help import KeyGroup, KeyLine

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from textual.app import App
    from textual.binding import Binding
    from textual.dom import DOMNode
    from textual.screen import Screen

#: How keys are called that have a longer name in Textual than on the keyboard.
_SHORT = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "enter": "enter",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "plus": "+",
    "minus": "-",
}
#: Of every scrolling widget, and said by the arrow keys themselves.
_TEXTUALS_OWN = ("scroll_", "page_left", "page_right")


def keys_here(screen: Screen[Any], title: str) -> list[KeyGroup]:
    """What the keys of this screen do, and those of the widget that has the focus."""
    app = screen.app
    own = [binding for binding in _bound(screen) if binding.id is not None]
    focused = screen.focused
    within = [] if focused is None else [each for each in focused.ancestors_with_self if each not in (screen, app)]
    moving = [binding for node in within for binding in _bound(node) if not binding.action.startswith(_TEXTUALS_OWN)]
    groups = [KeyGroup(title, _lines(app, own)), KeyGroup("Where you are", _lines(app, moving))]
    return [group for group in groups if group.keys]


def keys_everywhere(app: App[Any]) -> list[KeyGroup]:
    """What keys do on every screen: the rooms first."""
    bound = [binding for binding in _bound(app) if binding.id is not None]
    rooms = [each for each in bound if room_of(each) is not None]
    others = [each for each in bound if room_of(each) is None]
    panes = KeyLine("tab", "Next pane (shift+tab: back)", True)
    everywhere = KeyGroup("Everywhere", [*_lines(app, others), panes])
    return [KeyGroup("Rooms", _lines(app, rooms)), everywhere]


def display(app: App[Any], binding: Binding) -> str:
    """A key as people call it."""
    if binding.key_display:
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    return "+".join([*modifiers, _SHORT.get(key) or (app.get_key_display(binding) if not modifiers else key)])


def room_of(binding: Binding) -> str | None:
    """The room that a key leads to, if it leads to one."""
    return next((room for room in ROOMS if binding.action == f"visit('{room}')"), None)


def _bound(node: DOMNode) -> Iterable[Binding]:
    keymap = node.app._keymap
    bindings = node._bindings.copy()
    bindings.apply_keymap(keymap)
    return [binding for _, binding in bindings]


def _lines(app: App[Any], bindings: Iterable[Binding]) -> list[KeyLine]:
    active = {(each.binding.key, each.binding.action) for each in app.screen.active_bindings.values()}
    keys: dict[tuple[str, str], list[str]] = {}
    works: dict[tuple[str, str], bool] = {}
    for binding in bindings:
        if binding.system or not binding.description:
            continue
        what = (binding.action, binding.description)
        keys.setdefault(what, []).append(display(app, binding))
        works[what] = works.get(what, False) or (binding.key, binding.action) in active
    return [KeyLine(" ".join(dict.fromkeys(shown)), what[1], works[what]) for what, shown in keys.items()]

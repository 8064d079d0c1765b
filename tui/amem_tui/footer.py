"""The keys of a screen as its footer and its help show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rich.cells import cell_len
from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.keys import format_key
from textual.screen import ModalScreen

from amem_tui.formatting import GLYPHS, SIGNS
from amem_tui.lists import fit
from amem_tui.page import Columns, Page
from amem_tui.word_line import Word, WordLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from textual.app import App, ComposeResult
    from textual.dom import DOMNode
    from textual.screen import Screen


_KEY_WIDTH = 13
#: Cells of a column of keys at least.
_COLUMN = 40
_MAKERS = (
    (*SIGNS["person"], "a person wrote it"),
    (*SIGNS["agent"], "an agent wrote it"),
    (*SIGNS["machine"], "a model or a rule concluded it"),
)
_OTHERS = (("▪", "pinned: never fades"),)


#: A key as it is shown, what it does, and whether that can be done now.
KeyLine: TypeAlias = tuple[str, str, bool]


class HelpScreen(ModalScreen[None]):
    """What every key does: of the screen below at the left, of every screen at the right, and what signs mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "Close", show=False),
        Binding("space", "focused.page_down", "Page down", show=False),
    ]

    def __init__(self, here: Content, everywhere: Content) -> None:
        super().__init__()
        self.columns = here, everywhere

    def compose(self) -> ComposeResult:
        page = Page(id="help")
        page.border_title, page.border_subtitle = "Keys", "escape closes"
        yield page

    async def on_mount(self) -> None:
        await self.query_one(Page).show([Columns(self.columns, _COLUMN)])


def help_screen(screen: Screen[Any], title: str, legend: Sequence[tuple[str, str]] = ()) -> HelpScreen:
    """Help on a screen of that title, and on the widget that has the focus there.

    `legend` says what signs of the screen mean, (sign, meaning), besides those that stand everywhere.
    """
    app, focused = screen.app, screen.focused
    own = [binding for binding in _bound(screen) if binding.id is not None]
    within = [] if focused is None else [each for each in focused.ancestors_with_self if each not in (screen, app)]
    moving = [binding for node in within for binding in _bound(node) if not binding.action.startswith(_TEXTUALS_OWN)]
    of_app = [binding for binding in _bound(app) if binding.id is not None]
    rooms = [binding for binding in of_app if binding.action.startswith("visit(")]
    others = _lines(app, [binding for binding in of_app if binding not in rooms])
    here = (_keys(title, _lines(app, own)), _keys("Where you are", _lines(app, moving)))
    panes = ("tab", "Next pane (shift+tab: back)", True)
    everywhere = (_keys("Rooms", _lines(app, rooms)), _keys("Everywhere", [*others, panes]), _signs(legend))
    gap = Content("\n\n")
    return HelpScreen(gap.join([each for each in here if each]), gap.join(everywhere))


def _keys(heading: str, keys: Sequence[KeyLine]) -> Content:
    lines = [_heading(heading)] if keys else []
    for key, what, works in keys:
        shown = Content.assemble((fit(key, max(_KEY_WIDTH, cell_len(key))), "bold $accent" if works else "$muted"), " ")
        lines.append(Content.assemble(shown, what if works else (f"{what} (not now)", "$muted")))
    return Content("\n").join(lines)


def _signs(legend: Sequence[tuple[str, str]]) -> Content:
    others = legend or _OTHERS
    room = 2 + max(cell_len(sign) for sign, *_ in (*_MAKERS, *others))
    lines = [_heading("Signs")]
    lines += [Content.assemble((fit(sign, room), f"bold {colour}"), what) for sign, colour, what in _MAKERS]
    lines += [Content.assemble((fit(sign, room), "bold"), what) for sign, what in others]
    kinds = [f"{glyph} {kind}" for kind, glyph in GLYPHS.items()]
    for first in range(0, len(kinds), 3):
        lines.append(Content.assemble(("".join(fit(each, 14) for each in kinds[first : first + 3]), "$secondary")))
    return Content("\n").join(lines)


def _heading(words: str) -> Content:
    return Content.assemble((words, "bold $primary"))


#: Of every scrolling widget, and said by the arrow keys themselves.
_TEXTUALS_OWN = ("scroll_", "page_left", "page_right")


def display(binding: Binding) -> str:
    if binding.key_display:
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    return "+".join([*modifiers, key if key == "enter" else format_key(key)])


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
        keys.setdefault(what, []).append(display(binding))
        works[what] = works.get(what, False) or (binding.key, binding.action) in active
    return [(" ".join(dict.fromkeys(shown)), what[1], works[what]) for what, shown in keys.items()]


_HELP = "keys"


class KeyFooter(WordLine):
    """As many keys as there is room for; help stands at the right, where it is always found. A click presses one."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: Sequence[Word] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        """Look what the keys do now; screens say at every key that is pressed that it may have changed."""
        if screen is self.screen and screen.app.app_focus:
            self.call_after_refresh(self._renew)

    @on(events.Resize)
    def _renew(self) -> None:
        if self.is_attached and (keys := self._fitting(self.size.width)) != self._keys:
            self._keys = keys
            self.refresh()

    def words(self, width: int) -> Sequence[Word]:
        return self._keys

    def choose(self, id: str) -> None:
        self.app.simulate_key(id)

    def _fitting(self, width: int) -> Sequence[Word]:
        own = {binding.action: place for place, (_, binding) in enumerate(self.screen._bindings)}
        first = getattr(self.screen, "FOOTER", ())
        own |= {action: place - len(first) for place, action in enumerate(first)}
        active = [each for each in self.screen.active_bindings.values() if each.binding.show and each.enabled]
        active.sort(key=lambda each: own.get(each.binding.action, len(own)))
        keys: dict[str, Word] = {}
        for each in active:
            keys.setdefault(each.binding.action, _key(each.binding))
        help_key = keys.pop(_HELP, None)
        room = width - (0 if help_key is None else help_key.text.cell_length)
        shown: list[Word] = []
        for key in keys.values():
            room -= key.text.cell_length
            if room < 0:
                room += key.text.cell_length
                break
            shown.append(key)
        return shown if help_key is None else [*shown, Word("", Content(" " * (room + 1))), help_key]


def _key(binding: Binding) -> Word:
    key = Content.styled(display(binding), "bold $footer-key-foreground")
    return Word(binding.key, key + f" {binding.description}  ")

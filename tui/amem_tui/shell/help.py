"""Every key of the screen below and of every screen, by what it does, and what the signs in lists mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amem_tui.cells import fit
from amem_tui.phrases import GLYPHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

_KEY_WIDTH = 13
_MAKERS = (
    ("●", "$success", "a person wrote it"),
    ("▲", "$primary", "an agent wrote it"),
    ("◆", "$accent", "a model or a rule concluded it"),
)
_OTHERS = (("▪", "pinned: never fades"),)


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key as it is shown, what it does, and whether that can be done now."""

    key: str
    what: str
    works: bool


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Keys that belong together."""

    heading: str
    keys: Sequence[KeyLine]


class HelpScreen(ModalScreen[None]):
    """`here` are the keys of the screen below, `everywhere` those of every screen.

    `legend` says what signs of the screen below mean, (sign, meaning), besides those that stand everywhere.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "leave", "Close", show=False),
        Binding("down,j", "scroll(1)", "Down", show=False),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("pagedown,space", "scroll(10)", "Page down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
    ]

    def __init__(
        self,
        here: Sequence[KeyGroup],
        everywhere: Sequence[KeyGroup],
        legend: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__()
        self._here, self._everywhere, self._legend = here, everywhere, legend

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as sheet:
            sheet.border_title = "Keys"
            sheet.border_subtitle = "escape closes"
            with Horizontal(id="help-columns"):
                with Vertical(classes="help-column"):
                    for group in self._here:
                        yield Static(_keys(group), classes="help-group")
                with Vertical(classes="help-column"):
                    for group in self._everywhere:
                        yield Static(_keys(group), classes="help-group")
                    yield Static(_signs(self._legend), classes="help-group")

    def action_leave(self) -> None:
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        self.query_one("#help", VerticalScroll).scroll_relative(y=lines, animate=False)


def _keys(group: KeyGroup) -> Content:
    lines = [_heading(group.heading)]
    for line in group.keys:
        key = Content.assemble((fit(line.key, _KEY_WIDTH), "bold $accent" if line.works else "$muted"), " ")
        lines.append(Content.assemble(key, line.what if line.works else (f"{line.what} (not now)", "$muted")))
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

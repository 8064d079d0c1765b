"""Every key that works on the screen below, with what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

_SIGNS = (
    ("● green", "a person wrote it"),
    ("▲ blue", "an agent wrote it"),
    ("◆ gold", "a model or a rule concluded it"),
)


class HelpScreen(ModalScreen[None]):
    """`keys` are (key, what it does)."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "leave", "Close", show=False)]

    def __init__(self, keys: list[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as sheet:
            sheet.border_title = "Keys"
            sheet.border_subtitle = "escape closes"
            lines = [Content.assemble((f"{key:>12}  ", "bold $accent"), what) for key, what in self._keys]
            lines += [Content("")]
            lines += [Content.assemble((f"{sign:>12}  ", "bold"), what) for sign, what in _SIGNS]
            yield Static(Content("\n").join(lines))

    def action_leave(self) -> None:
        self.dismiss()

"""A short list to choose from, and a line to type in where that says more."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from amem_tui.history.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


class ChooseScreen(ModalScreen[str | None]):
    """Ends with the id of what was chosen, with what was typed, or with None.

    `choices` are (id, words), `chosen` the id to begin at; with a `placeholder` there is a line to type in.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Choose", show=False),
        Binding("escape,q", "leave", "Close", show=False),
    ]
    AUTO_FOCUS = "#choices"

    def __init__(
        self, title: str, choices: Sequence[tuple[str, Content]], *, chosen: str = "", placeholder: str = ""
    ) -> None:
        super().__init__()
        self._title, self._choices, self._chosen, self._placeholder = title, choices, chosen, placeholder

    def compose(self) -> ComposeResult:
        with Vertical(id="choose") as sheet:
            sheet.border_title = Content(self._title)
            sheet.border_subtitle = Content("enter chooses, escape closes")
            yield Lines(id="choices")
            if self._placeholder:
                yield Input(placeholder=self._placeholder, id="choose-typed", compact=True)

    def on_mount(self) -> None:
        options = [Option(words, id=id) for id, words in self._choices]
        self.query_one(Lines).fill(options, keep=self._chosen)

    def action_choose(self) -> None:
        self.dismiss(self.query_one(Lines).chosen)

    @on(OptionList.OptionSelected)
    def _select(self) -> None:
        self.action_choose()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        self.dismiss(None)

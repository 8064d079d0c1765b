"""A question that is asked once, before something is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult


class AskScreen(ModalScreen[bool]):
    """`question` in a few words, `details` below it; y or enter says yes, n or escape no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", "Yes", show=False),
        Binding("n,escape,q", "answer(False)", "No", show=False),
    ]

    def __init__(self, question: str, details: Content) -> None:
        super().__init__()
        self._question, self._details = question, details

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(Content.styled(self._question, "bold"))
            yield Static(self._details, id="ask-details")
            yield Static(
                Content.assemble(("y", "bold $accent"), " yes   ", ("n", "bold $accent"), " no"), id="ask-keys"
            )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

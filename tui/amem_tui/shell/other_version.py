"""A note that two have changed: what it is now beside what one was about to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amem_tui.phrases import clean
from amem_tui.shell.footer import KeyFooter

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from amem.note import MemoryNote


class OtherVersionScreen(ModalScreen[bool]):
    """`now` is the note as it is stored, `mine` the text in the form; dismissed with whether mine shall replace it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "choose(False)", "Back to the form"),
        Binding("ctrl+s", "choose(True)", "Save mine in its place"),
    ]

    def __init__(self, now: MemoryNote, mine: str) -> None:
        super().__init__()
        self._now, self._mine = now, mine

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="other") as sheet:
            sheet.border_title = "Changed meanwhile"
            yield Static(Content.assemble(("As it is now", "bold $primary")))
            yield Static(Content(clean(self._now.content)), classes="version")
            yield Static(Content.assemble(("As you have it", "bold $primary")))
            yield Static(Content(clean(self._mine)), classes="version")
        yield KeyFooter()

    def action_choose(self, mine: bool) -> None:
        self.dismiss(mine)

"""Questions asked before something is done, and lists to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from amem_tui.formatting import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import ComposeResult


_NAMED = 5


class DeleteScreen(ModalScreen[bool]):
    """Asks once; True to delete. `titles` names some of the notes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,enter", "answer(True)", "Delete"),
        Binding("escape,q", "answer(False)", "Keep"),
    ]

    def __init__(self, question: str, titles: Sequence[str]) -> None:
        super().__init__()
        self._question, self._titles = question, titles

    def compose(self) -> ComposeResult:
        named = [f"  {one_line(title, 60)}" for title in self._titles[:_NAMED]]
        if len(self._titles) > _NAMED:
            named.append(f"  and {len(self._titles) - _NAMED:,} more")
        with Vertical(id="question") as box:
            box.border_title = Content(self._question)
            yield Static(Content("\n").join(Content(line) for line in named), id="named")
            yield Static("d or enter deletes    escape keeps", classes="answers")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class ExportScreen(ModalScreen[None]):
    """Asks for a path. `write` answers None when the file is written, else what is wrong with the path.

    It is told whether it may replace a file that is there: after it was asked for a second time. `forms` says which
    endings mean what.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Cancel")]

    def __init__(
        self, heading: str, path: str, write: Callable[[str, bool], Awaitable[str | None]], forms: str
    ) -> None:
        super().__init__()
        self._heading, self._path, self._write = heading, path, write
        self._keys = "    ".join(["enter writes", *([forms] if forms else []), "escape cancels"])
        self._refused = ""
        self._writing = False

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = Content(self._heading)
            yield Input(self._path, id="path", compact=True, select_on_focus=False)
            yield Static(self._keys, classes="answers")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _changed(self) -> None:
        self._refused = ""
        self.query_one(".answers", Static).update(Content(self._keys))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._writing:
            self._writing = True
            self._try(event.value.strip(), replace=self._refused == event.value)

    @work
    async def _try(self, path: str, *, replace: bool) -> None:
        refusal = await self._write(path, replace)
        self._writing = False
        if refusal is None:
            self.dismiss()
            return
        self._refused = self.query_one(Input).value
        self.query_one(".answers", Static).update(Content(refusal))

    def action_leave(self) -> None:
        self.dismiss()

"""Choose one of a list, or type what is not on it: chats, models, notes to be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import ComposeResult

    Lines = Sequence[tuple[str, Content]]


class Chooser(ModalScreen[str | None]):
    """Answers with the id of the line that was chosen, or None.

    `find` makes lines of what is typed; without it there is no input, unless `free`, where what is typed is the answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        Binding("j", "move('cursor_down')", "Down", show=False),
        Binding("k", "move('cursor_up')", "Up", show=False),
        Binding("down", "into", "Into the list", show=False),
    ]

    def __init__(
        self,
        heading: str,
        lines: Lines,
        *,
        words: str = "",
        prompt: str = "",
        find: Callable[[str], Awaitable[tuple[Lines, str]]] | None = None,
    ) -> None:
        super().__init__(classes="chooser")
        self._heading, self._lines, self._words, self._prompt, self._find = heading, lines, words, prompt, find

    def compose(self) -> ComposeResult:
        with Vertical(id="choosing") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = "enter chooses, escape closes"
            if self._prompt:
                yield Input(placeholder=self._prompt, id="typed", compact=True)
            yield Static(Content(self._words), id="words")
            yield OptionList(id="choices", compact=True)

    def on_mount(self) -> None:
        self._show(self._lines, self._words)
        if self._find is not None or not self._lines:
            self.set_focus(self.query_one("#typed") if self._prompt else None)
        else:
            self.set_focus(self.query_one("#choices"))

    def _show(self, lines: Lines, words: str) -> None:
        said = self.query_one("#words", Static)
        said.update(Content(words))
        said.display = bool(words)
        shown = self.query_one("#choices", OptionList)
        shown.clear_options()
        shown.add_options([Option(line, id=id) for id, line in lines])
        shown.highlighted = 0 if lines else None

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if not text:
            return
        if self._find is None:
            self.dismiss(text)
        else:
            self._look(text)

    @work(exclusive=True)
    async def _look(self, text: str) -> None:
        assert self._find is not None
        lines, words = await self._find(text)
        self._show(lines, words)
        if lines:
            self.set_focus(self.query_one("#choices"))

    def action_move(self, how: str) -> None:
        if not isinstance(self.focused, Input):
            getattr(self.query_one("#choices", OptionList), f"action_{how}")()

    def action_into(self) -> None:
        self.set_focus(self.query_one("#choices"))

    def action_leave(self) -> None:
        self.dismiss(None)

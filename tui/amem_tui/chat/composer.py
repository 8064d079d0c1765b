"""Where one writes to the assistant, and chooses chats, models and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from amem_tui.formatting import typeable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual import events
    from textual.app import ComposeResult


# Choose one of a list, or type what is not on it: chats, models, notes to be forgotten.

if TYPE_CHECKING:
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


# Where one writes to the assistant: as high as what is written, with what was said before under the arrow keys.


class Composer(TextArea):
    """Enter is left to the screen, which sends. Up and down in an empty input (or in what they brought back
    unchanged) bring earlier messages back."""

    def __init__(self) -> None:
        super().__init__(
            id="composer",
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder="Say something, or ask what the notes know",
        )
        self.cursor_blink = False
        self._said: list[str] = []
        self._place: int | None = None

    def said(self, texts: list[str]) -> None:
        """These were said before, the last one last."""
        self._said = texts
        self._place = None

    def take(self) -> str:
        """What was written; the input is empty afterwards."""
        text = self.text.strip()
        if text:
            self.clear()
            self._place = None
            if self._said[-1:] != [text]:
                self._said.append(text)
        return text

    def give_back(self, text: str) -> None:
        """Put what could not be sent where it was, unless something else has been written meanwhile."""
        if not self.text.strip():
            self.text = typeable(text)
            self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = typeable(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # no new line: the screen's key sends
        elif event.key in ("up", "down") and self._leafs():
            event.stop()
            event.prevent_default()
            self._leaf(-1 if event.key == "up" else 1)

    def _leafs(self) -> bool:
        if not self.text:
            return True
        return self._place is not None and self.text == typeable(self._said[self._place])

    def _leaf(self, by: int) -> None:
        at = len(self._said) if self._place is None else self._place
        at = max(0, at + by)
        if at < len(self._said):
            self._place, self.text = at, typeable(self._said[at])
        else:
            self._place, self.text = None, ""
        self.move_cursor(self.document.end)

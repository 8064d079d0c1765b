"""The line to type in: a question to search for, words to filter by, or part of a name in the sidebar."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

Mode = Literal["search", "filter", "sidebar"]

_PROMPTS: dict[Mode, tuple[str, str, str]] = {
    "search": (" / Search ", "$primary", "a question or words, then enter"),
    "filter": (" f Filter ", "$accent", "words, each of which may be unfinished"),
    "sidebar": (" f Find ", "$secondary", "part of a tag, a topic, a month"),
}
_IDLE = "/ searches by words and meaning    f filters as you type"


class _Typing(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "List"),
        Binding("down", "submit", "Into the list"),
    ]


class SearchLine(Horizontal):
    """`mode` says what is typed. Idle, with nothing typed, it says how to begin. Its input says what is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", "Clear")]

    class Cleared(Message):
        """Escape: nothing is to be typed after all."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.mode: Mode = "search"
        self._said: tuple[bool, Mode] | None = None
        self._prompt = Static(id="search-mode")
        self._input = _Typing(id="search", compact=True, select_on_focus=True)

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self._input

    def on_mount(self) -> None:
        self._label()

    @property
    def typing(self) -> bool:
        return self._input.has_focus

    def begin(self, mode: Mode, text: str) -> None:
        """Type in this mode, from this text on."""
        self.put(mode, text)
        self.set_class(False, "-idle")
        self.screen.set_focus(self._input)

    def put(self, mode: Mode, text: str) -> None:
        """Let this stand there, as if it had been typed."""
        self.mode = mode
        if self._input.value != text:
            with self.prevent(Input.Changed):
                self._input.value = text
        self._label()

    @on(Input.Changed)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _label(self) -> None:
        idle = not (self._input.value or self._input.has_focus)
        if (idle, self.mode) == self._said:  # nothing but letters: the line need not be laid out anew
            return
        self._said = (idle, self.mode)
        prompt, colour, what = _PROMPTS[self.mode]
        self._prompt.update(Content(" ") if idle else Content.styled(prompt, f"bold {colour}"))
        self._input.placeholder = _IDLE if idle else what
        self.set_class(idle, "-idle")

    def action_clear(self) -> None:
        self.put(self.mode, "")
        self.post_message(self.Cleared())

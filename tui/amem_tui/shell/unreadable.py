"""What stands in place of the notes while their store fails: what happened, to which collection, and what to do."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from amem.errors import StorageBusy, StorageCorrupt, StorageFull, StorageGone, StorageReadOnly
from amem_tui.phrases import clean
from amem_tui.shell.footer import KeyFooter

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult

    from amem.errors import AmemError

_HEADINGS = {
    StorageFull: "The disk is full or fails",
    StorageCorrupt: "The collection is damaged",
    StorageGone: "The collection is gone",
    StorageReadOnly: "It cannot be opened",
    StorageBusy: "The collection is busy",
}
_FIELDS = {"which": "Collection", "what": "What", "do": "What to do", "doctor": "Look at it"}


class Retry(Message):
    """The person wants the store tried again now."""


@dataclass
class GoOn(Message):
    """The person will do without what fails with these words."""

    words: str


class UnreadableScreen(ModalScreen[None]):
    """`for_now`: the collection is tried again every moment, and this goes by itself when it answers.

    Otherwise only some of it fails: one may go on without. Whoever pushed it dismisses it; what was being typed below
    it is still there then.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "retry", "Try again"),
        Binding("ctrl+o", "app.switch_collection", "Another collection"),
        Binding("escape", "go_on", "Go on without"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, error: AmemError, collection: str, home: Path, *, for_now: bool) -> None:
        super().__init__()
        self._error, self._collection, self._home = error, collection, home
        self.for_now = for_now
        self._over = False

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="unreadable"):
            for field, label in _FIELDS.items():
                with Horizontal(classes="line"):
                    yield Static(label, classes="label")
                    yield Static(id=f"unreadable-{field}", classes="value")
            yield Static(id="unreadable-safe")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.say(self._error)

    def say(self, error: AmemError) -> None:
        """Tell of this failure now, which may be another than before."""
        self._error = error
        self.query_one("#unreadable").border_title = Content(_heading(error))
        said = {
            "which": self._collection,
            "what": str(error),
            "do": error.hint or "try it again",
            "doctor": shlex.join(["amem", "--home", str(self._home), "--collection", self._collection, "doctor"]),
        }
        for field, words in said.items():
            self.query_one(f"#unreadable-{field}", Static).update(Content(clean(words)))
        waiting = " It is tried again every moment; this goes by itself when it answers." if self.for_now else ""
        self.query_one("#unreadable-safe", Static).update(Content(f"What was saved before is safe.{waiting}"))
        self.refresh_bindings()

    def end(self) -> None:
        """Go: at once, or when what was opened above is closed."""
        self._over = True
        self._go_when_seen()

    @on(events.ScreenResume)
    def _go_when_seen(self) -> None:
        if self._over and self.is_current:
            self.dismiss()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to go on with only where the collection as such can be read."""
        return action != "go_on" or not self.for_now

    def action_retry(self) -> None:
        self.post_message(Retry())

    def action_go_on(self) -> None:
        self.post_message(GoOn(str(self._error)))


def _heading(error: AmemError) -> str:
    return next(
        (words for kind, words in _HEADINGS.items() if isinstance(error, kind)), "The collection cannot be read"
    )

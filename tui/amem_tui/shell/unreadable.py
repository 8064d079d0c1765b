"""What stands in place of the notes while their store fails: what happened, to which collection, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
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
    StorageFull: "The disk has no room, or cannot be written",
    StorageCorrupt: "The collection is damaged",
    StorageGone: "The collection is not where it was",
    StorageReadOnly: "The collection cannot be opened",
    StorageBusy: "The collection is busy",
}


class Retry(Message):
    """The person wants the store tried again now."""


class UnreadableScreen(ModalScreen[None]):
    """`for_now`: the collection is tried again every moment, and this goes by itself when it answers.

    Otherwise only some of it fails: one may go on without. It is dismissed by `retry`; what was being typed below it
    is still there then.
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

    def compose(self) -> ComposeResult:
        with Vertical(id="unreadable") as sheet:
            sheet.border_title = Content(_heading(self._error))
            yield Static(id="unreadable-words")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.say(self._error)

    def say(self, error: AmemError) -> None:
        """Tell of this failure now, which may be another than before."""
        self._error = error
        self.query_one("#unreadable").border_title = Content(_heading(error))
        doctor = f"amem --home {self._home} --collection {self._collection} doctor"
        waiting = "It is tried again every moment; this goes by itself when it answers." if self.for_now else ""
        lines = [
            Content.assemble("Collection  ", (clean(self._collection), "bold")),
            Content.assemble("What        ", clean(str(error))),
            Content.assemble("What to do  ", clean(error.hint or "look at it with the command below")),
            Content.assemble("            ", (clean(doctor), "$accent")),
            Content(""),
            Content.assemble((f"What was saved before is safe. {waiting}".strip(), "$muted")),
        ]
        self.query_one("#unreadable-words", Static).update(Content("\n").join(lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to go on with only where the collection as such can be read."""
        return action != "go_on" or not self.for_now

    def action_retry(self) -> None:
        self.post_message(Retry())

    def action_go_on(self) -> None:
        self.dismiss()


def _heading(error: AmemError) -> str:
    return next(
        (words for kind, words in _HEADINGS.items() if isinstance(error, kind)), "The collection cannot be read"
    )

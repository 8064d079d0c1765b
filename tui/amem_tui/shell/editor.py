"""Write or edit a note's text. It closes when the text is saved, so that a refusal never costs what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult


class EditorScreen(ModalScreen[None]):
    """`save` stores the text and says whether it could."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save"),
        Binding("escape", "leave", "Cancel"),
    ]
    _KEYS = "ctrl+s saves    escape cancels"

    def __init__(self, heading: str, text: str, save: Callable[[str], Awaitable[bool]]) -> None:
        super().__init__()
        self._heading, self._text, self._save = heading, text, save
        self._saving = self._asked = False

    def compose(self) -> ComposeResult:
        with Vertical(id="sheet") as sheet:
            sheet.border_title = self._heading
            yield TextArea(self._text, id="draft", soft_wrap=True, tab_behavior="focus")
            yield Static(self._KEYS, id="keys")

    def on_mount(self) -> None:
        draft = self.query_one(TextArea)
        draft.move_cursor(draft.document.end)
        draft.focus()

    def on_text_area_changed(self) -> None:
        self._asked = False

    def action_save(self) -> None:
        if not self._saving:
            self._saving = True
            self._store(self.query_one(TextArea).text)

    @work
    async def _store(self, text: str) -> None:
        keys = self.query_one("#keys", Static)
        keys.update("Saving…")
        saved = await self._save(text)
        self._saving = False
        if saved:
            self.dismiss()
        else:
            keys.update(self._KEYS)

    def action_leave(self) -> None:
        if self._saving:
            return
        if self.query_one(TextArea).text == self._text or self._asked:
            self.dismiss()
            return
        self._asked = True
        self.query_one("#keys", Static).update("Not saved. ctrl+s saves, escape once more throws the text away.")

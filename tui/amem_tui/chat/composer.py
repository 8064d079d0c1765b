"""Where one writes to the assistant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import TextArea

from amem_tui.formatting import typeable

if TYPE_CHECKING:
    from textual import events


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

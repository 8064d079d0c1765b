"""What a person does to notes while they talk: take a lesson back, keep words as they are, hide a note."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content

from amem_tui import changes
from amem_tui.chat import reading
from amem_tui.chat.chooser import Chooser
from amem_tui.chat.conversing import ConversingScreen
from amem_tui.phrases import one_line, title

if TYPE_CHECKING:
    from collections.abc import Sequence


class ByHandScreen(ConversingScreen):
    """Everything done here stands in the panel as well, and is undone like what was learnt."""

    def action_undo(self) -> None:
        operation = self._panel.undoable
        if operation is not None:
            self.change(partial(changes.undo, self.memory, operation))

    @work(group="change")
    async def action_remember(self) -> None:
        text = (self.get_selected_text() or "").strip()
        if not text:
            return
        keep = partial(reading.remember, self.memory, text, incognito=self._talk.incognito)
        with self._desk.refusals():
            receipt = await self.ask(keep)
            if receipt.operation is not None:
                self._by_hand.append(receipt.operation)
            self.clear_selection()
            self._desk.say(f"Remembered “{one_line(text, 50)}”" if receipt.stored else "That is known already")
            await self._desk.look()
            self._show_aside()

    @work(group="change")
    async def action_forget(self) -> None:
        chosen = self._panel.note if self._panel.has_focus else None
        if chosen is None:
            chosen = await self.app.push_screen_wait(
                Chooser(
                    "Forget a note",
                    [],
                    words="Nothing is forgotten before you choose it.",
                    prompt="words of the note",
                    find=self._meant,
                )
            )
        if chosen is not None:
            await self._hide(chosen)

    async def _hide(self, id: str) -> None:
        with self._desk.refusals():
            held = await self.ask(partial(self.memory.read, id))
            forgotten = await self.ask(partial(reading.forget, self.memory, id))
            if forgotten.operation is None or held is None:
                self._desk.say("It was gone already")
                return
            self._by_hand.append(forgotten.operation)
            self._desk.say(f"Forgot “{one_line(title(held.content), 50)}”; u brings it back")
            await self._desk.look()
            self._show_aside()

    async def _meant(self, words: str) -> tuple[Sequence[tuple[str, Content]], str]:
        """The notes that may be meant, and what to say of them."""
        with self._desk.refusals():
            found = await self.ask(partial(reading.forget, self.memory, words))
            if found.operation is not None:  # somebody gave an id in full
                self._by_hand.append(found.operation)
                return [], "It is forgotten; u brings it back."
            lines = [(each.note, Content(one_line(title(each.text), 90))) for each in found.candidates]
            if not lines:
                return [], "No note has these words, or comes near them."
            return lines, "Which of these?" if found.worded else "Nearest, though none has these words:"
        return [], ""

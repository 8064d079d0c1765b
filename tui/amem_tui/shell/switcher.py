"""Any note from anywhere: type words of it and press enter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from amem.note import Status
from amem_tui.cells import fit
from amem_tui.phrases import GLYPHS, day, one_line, title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.cards import Card
    from amem_tui.desk import Desk

_SHOWN = 30
#: So many notes that hold the words are looked at for having them in their titles.
_LOOKED_AT = 200
_DATE = 12


class NoteSwitcher(ModalScreen[None]):
    """Notes that hold the words typed, each of which may be unfinished; the newest ones while nothing is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("enter", "open", "Open"),
        Binding("down,ctrl+j", "step(1)", "Down", show=False, priority=True),
        Binding("up", "step(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "step(10)", "Page down", show=False, priority=True),
        Binding("pageup", "step(-10)", "Page up", show=False, priority=True),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._found: Sequence[Card] = ()
        self._words: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="switcher", classes="sheet") as sheet:
            sheet.border_title = "Go to a note"
            sheet.border_subtitle = "enter opens, escape closes"
            yield Input(placeholder="words of the note", id="words", compact=True)
            found = OptionList(id="found", compact=True)
            found.can_focus = False
            yield found

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Input))
        self._find("")

    @on(Input.Changed, "#words")
    def _typed(self, event: Input.Changed) -> None:
        if event.value != (self._words or ""):
            self._find(event.value)

    @work(exclusive=True, group="find")
    async def _find(self, words: str) -> None:
        self._words = words
        with self._desk.refusals():
            self._found = await self._desk.ask(partial(found_by, self._desk.memory, words))
            self._show()

    def _show(self) -> None:
        shown = self.query_one("#found", OptionList)
        room = max(10, shown.size.width - _DATE - 6)
        shown.clear_options()
        shown.add_options([Option(_line(card, room, self._desk.zone), id=card.id) for card in self._found])
        if self._found:
            shown.highlighted = 0
        else:
            shown.add_option(Option(Content("No note holds these words."), disabled=True))

    def action_step(self, by: int) -> None:
        shown = self.query_one("#found", OptionList)
        if self._found:
            shown.highlighted = max(0, min((shown.highlighted or 0) + by, len(self._found) - 1))

    @on(Input.Submitted)
    def action_open(self) -> None:
        chosen = self.query_one("#found", OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self._open(chosen.id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self._open(event.option_id)

    def _open(self, id: str) -> None:
        self.dismiss()
        self._desk.rooms.read_note(id)

    def action_leave(self) -> None:
        self.dismiss()


def found_by(memory: AgenticMemorySystem, words: str, limit: int = _SHOWN) -> list[Card]:
    """The newest notes that hold these words, those first that have them in their titles.

    Without words the newest to arrive.
    """
    typed = words.casefold().split()
    shelf = memory.shelf(starting=words, order="time" if typed else "recorded")
    cards = memory.cards(shelf, 0, _LOOKED_AT if typed else limit)
    cards.sort(key=lambda card: not all(word in title(card.text).casefold() for word in typed))
    return cards[:limit]


def _line(card: Card, room: int, zone: tzinfo) -> Content:
    name = fit(one_line(title(card.text), room), room)
    return Content.assemble(
        (f"{GLYPHS[card.kind]} ", "$secondary"),
        (name, "" if card.status is Status.ACTIVE else "$muted"),
        (f"  {day(card.at, zone)}", "$muted"),
    )

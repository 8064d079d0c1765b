"""Actions of the open note: its pages by key, links made and taken away."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amem.note import LinkType
from amem_tui import changes
from amem_tui.browse.note_pane import NotePane
from amem_tui.browse.pane.tab_strip import Name, TabStrip
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import GLYPHS, day, one_line, title

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.storage.note_lists import Card
    from amem_tui.desk import Desk


# Link the open note to another: to which, as what, and why.

_SHOWN = 50
_TYPES = tuple(
    Name(str(type), str(type).replace("_", " "))
    for type in sorted(LinkType, key=lambda each: each is not LinkType.RELATED)
)


class _Targets(OptionList, can_focus=False):
    """Notes to link to. The arrows move in it from wherever one types, so that tab leads from line to line."""


class LinkPicker(ModalScreen[None]):
    """It closes when the link is made, so that a refusal never costs what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("ctrl+t", "type", "Type", priority=True),
        Binding("ctrl+s", "save", "Link"),
        Binding("up", "step(-1)", "Up", show=False),
        Binding("down", "step(1)", "Down", show=False),
    ]

    def __init__(self, desk: Desk, note: MemoryNote) -> None:
        super().__init__()
        self._desk, self._note = desk, note
        self._saving = self._hurried = False
        self._listed: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="linking") as sheet:
            sheet.border_title = Content(f"Link “{one_line(title(self._note.content), 50)}”")
            yield TabStrip(_TYPES, id="types")
            yield Input(placeholder="to the note that says …", id="wanted", compact=True)
            yield _Targets(id="targets", compact=True)
            yield Input(placeholder="because … (may stay empty)", id="reason", compact=True)
            yield Static(Content("enter links   ctrl+t type   tab reason   escape cancels"), id="keys")

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#wanted"))
        self._look("")

    @on(Input.Changed, "#wanted")
    def _typed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @work(exclusive=True, group="targets")
    async def _look(self, starting: str) -> None:
        with self._desk.refusals():
            found = await self._desk.ask(partial(_targets, self._desk.memory, starting, self._note.id))
            if not self.is_attached:
                return
            shown = self.query_one(OptionList)
            shown.clear_options()
            shown.add_options([Option(_line(card, self._desk), id=card.id) for card in found])
            if found:
                shown.highlighted = 0
            else:
                shown.add_option(Option(Content("No note holds these words."), disabled=True))
            self._listed = starting
            if self._hurried:
                self._hurried = False
                self.action_save()

    def action_step(self, by: int) -> None:
        shown = self.query_one(OptionList)
        (shown.action_cursor_down if by > 0 else shown.action_cursor_up)()

    def action_type(self) -> None:
        strip = self.query_one(TabStrip)
        names = [name.id for name in _TYPES]
        strip.mark(names[(names.index(strip.active) + 1) % len(names)], {})

    @on(TabStrip.Chosen)
    def _choose_type(self, event: TabStrip.Chosen) -> None:
        self.query_one(TabStrip).mark(event.tab, {})

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def action_save(self) -> None:
        if self._listed != self.query_one("#wanted", Input).value:
            self._hurried = True  # typed faster than looked up: what is highlighted is not what is meant
            return
        chosen = self.query_one(OptionList).highlighted_option
        if chosen is not None and chosen.id is not None and not self._saving:
            self._saving = True
            self._link(chosen.id, self.query_one(TabStrip).active, self.query_one("#reason", Input).value.strip())

    @work(group="change")
    async def _link(self, target: str, type: str, reason: str) -> None:
        made = await self._desk.carry_out(partial(changes.link, self._desk.memory, self._note.id, target, type, reason))
        self._saving = False
        if made:
            self.dismiss()

    def action_leave(self) -> None:
        self.dismiss()


def _targets(memory: AgenticMemorySystem, starting: str, but: str) -> list[Card]:
    """The newest notes that hold what is typed; all, before anything is."""
    found = memory.cards(memory.shelf(starting=starting), 0, _SHOWN + 1)
    return [card for card in found if card.id != but][:_SHOWN]


def _line(card: Card, desk: Desk) -> Content:
    return Content.assemble(
        (f"{GLYPHS[card.kind]} ", "$secondary"), title(card.text), (f"  {day(card.at, desk.zone)}", "$muted")
    )


# A screen with an open note on it: its pages by key, and links made and taken away.


class ReadingScreen(NotesScreen):
    """Answers `PANE_KEYS`."""

    @property
    def _pane(self) -> NotePane:
        return self.query_one(NotePane)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a note there are no pages, and without a chosen link there is none to take away."""
        if action in ("tab", "link", "unlink"):
            shown = self.query(NotePane)  # none before the screen is furnished
            return any(pane.chosen_link if action == "unlink" else pane.dossier for pane in shown)
        return super().check_action(action, parameters)

    def action_tab(self, by: int) -> None:
        self._pane.action_step_tab(by)

    def action_link(self) -> None:
        if self._pane.dossier is not None:
            self.app.push_screen(LinkPicker(self._desk, self._pane.dossier.note))

    def action_unlink(self) -> None:
        if (link := self._pane.chosen_link) is not None:
            self.change(partial(changes.unlink, self.memory, link))

"""Any note, collection or theme from anywhere, by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import get_system_commands_provider
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Provider
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from amem.collection import collection_names
from amem.errors import AmemError
from amem.note import Status
from amem_tui.lists import fit
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import GLYPHS, day, one_line, title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.note_lists import Card
    from amem_tui.desk import Desk


# Any note from anywhere: type words of it and press enter.

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


# What the palette knows besides keys: notes, collections and themes, by name.

_NOTES = 8
Hits = AsyncIterator[DiscoveryHit | Hit]


class _Named(Provider):
    """Things of one sort, by their names. A name is text, whatever signs it holds."""

    @property
    def desk(self) -> Desk | None:
        """The open collection, unless the screen below is none of its rooms."""
        return self.screen.desk if isinstance(self.screen, NotesScreen) else None

    def hit(self, score: float, name: str, about: str, run: Callable[[], object]) -> Hit:
        """A thing that was found."""
        return Hit(score, Content(name), run, text=name, help=about)

    def offer(self, name: str, about: str, run: Callable[[], object]) -> DiscoveryHit:
        """A thing that is shown before anything is typed."""
        return DiscoveryHit(Content(name), run, text=name, help=about)


class Notes(_Named):
    """Notes that hold what is typed; the newest ones before."""

    async def discover(self) -> Hits:
        for name, about, run in await self._found(""):
            yield self.offer(name, about, run)

    async def search(self, query: str) -> Hits:
        for place, (name, about, run) in enumerate(await self._found(query)):
            yield self.hit(max(0.1, 0.6 - place / 20), name, about, run)

    async def _found(self, words: str) -> list[tuple[str, str, Callable[[], object]]]:
        desk = self.desk
        if desk is None:
            return []
        try:
            cards = await desk.ask(partial(found_by, desk.memory, words, _NOTES))
        except AmemError:
            return []  # a store that fails is said by the loop that follows it
        return [
            (
                one_line(title(card.text), 80),
                f"Note of {day(card.at, desk.zone)}",
                partial(desk.rooms.read_note, card.id),
            )
            for card in cards
        ]


class Collections(_Named):
    """The other collections of the home."""

    async def discover(self) -> Hits:
        for name, run in await self._others():
            yield self.offer(f"Collection {name}", "Browse it instead of this one", run)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, run in await self._others():
            if score := matcher.match(f"Collection {name}"):
                yield self.hit(score, f"Collection {name}", "Browse it instead of this one", run)

    async def _others(self) -> list[tuple[str, Callable[[], object]]]:
        desk = self.desk
        if desk is None:
            return []
        settings = desk.memory.settings
        try:
            names = await desk.ask(partial(collection_names, settings.home))
        except OSError:
            return []
        return [
            (one_line(name, 60), partial(desk.rooms.switch_collection, name))
            for name in names
            if name != settings.collection
        ]


class Looks(_Named):
    """Themes, found once something of their name is typed."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name in self.app.available_themes:
            if score := matcher.match(f"Theme {name}"):
                yield self.hit(score, f"Theme {name}", "Change how it looks", partial(setattr, self.app, "theme", name))


PROVIDERS: set[type[Provider] | Callable[[], type[Provider]]] = {
    get_system_commands_provider,
    Notes,
    Collections,
    Looks,
}

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
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amem.collection import collection_names, folder_of, listed_collection
from amem.errors import AmemError, CollectionExists
from amem.note import Status
from amem_tui.desk import words
from amem_tui.footer import KeyFooter
from amem_tui.formatting import GLYPHS, clean, day, one_line, plural, title
from amem_tui.keymap import COLLECTION_KEYS
from amem_tui.lists import fit
from amem_tui.rooms import NotesScreen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo
    from pathlib import Path

    from textual.app import ComposeResult

    from amem.collection import Listed
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
        shown.add_options([Option(_note_line(card, room, self._desk.zone), id=card.id) for card in self._found])
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


def _note_line(card: Card, room: int, zone: tzinfo) -> Content:
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


# The collections of the home: which there are, going to another, copying this one, beginning a new one.

_NAME_ROOM = 24


class CollectionsScreen(ModalScreen[None]):
    """Every collection with how many notes and bytes it holds; a name is asked for on the line below."""

    BINDINGS: ClassVar[list[BindingType]] = [*COLLECTION_KEYS]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        settings = desk.memory.settings
        self._home, self._here = settings.home, settings.collection
        self._asking = ""
        self._copying = False

    def compose(self) -> ComposeResult:
        with Vertical(id="collections", classes="sheet") as sheet:
            sheet.border_title = "Collections"
            sheet.border_subtitle = Content(one_line(str(self._home), 60))
            yield OptionList(id="found", compact=True)
            yield Static(id="asked")
            yield Input(id="name", compact=True)
        yield KeyFooter()

    def on_mount(self) -> None:
        self._ask_name("")
        self.set_focus(self.query_one("#found"))
        self._list()

    @work(exclusive=True, group="list")
    async def _list(self) -> None:
        shown = self.query_one("#found", OptionList)
        with self._desk.refusals():
            # Each is opened to be counted, which may take its time; what is counted is shown.
            names = await self._desk.ask(partial(collection_names, self._home))
            before = shown.highlighted_option
            wanted = self._here if before is None else before.id
            shown.clear_options()
            for name in names:
                shown.add_option(Option(_collection_line(name, self._here, None), id=name))
            if names:
                shown.highlighted = names.index(wanted) if wanted in names else 0
            for name in names:
                found = await self._desk.ask(partial(listed_collection, self._home, name))
                shown.replace_option_prompt(name, _collection_line(name, self._here, found))

    # -- going there ---------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        chosen = self.query_one("#found", OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self._open(chosen.id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self._open(event.option_id)

    def _open(self, name: str) -> None:
        self.dismiss()
        if name != self._here:
            self._desk.rooms.switch_collection(name)

    # -- making one ----------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        self._ask_name("copy")

    def action_make(self) -> None:
        self._ask_name("make")

    def _ask_name(self, what: str) -> None:
        self._asking = what
        asked, name = self.query_one("#asked", Static), self.query_one("#name", Input)
        asked.display = name.display = bool(what)
        if what:
            said = f"Copy {self._here} to a collection called" if what == "copy" else "A new collection called"
            asked.update(Content(clean(said)))
            name.value = f"{self._here}-copy" if what == "copy" else ""
            self.set_focus(name)
        else:
            self.set_focus(self.query_one("#found"))

    @on(Input.Submitted, "#name")
    def _named(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._copying:
            self._make(self._asking, event.value.strip())

    @work(group="make")
    async def _make(self, what: str, name: str) -> None:
        asked = self.query_one("#asked", Static)
        try:
            await self._desk.ask(partial(_free, self._home, name))
            if what == "make":
                self._open(name)
                return
            self._copying = True
            asked.update(Content(clean(f"Copying to {name}…")))
            await self._desk.ask(partial(self._desk.memory.copy, name))
        except AmemError as error:
            asked.update(Content.assemble((words(error), "$error")))
            return
        finally:
            self._copying = False
        self._desk.say(f"{self._here} is copied to {name}; enter there opens it.")
        self._ask_name("")
        self._list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a name is typed its letters are no keys; a collection that fails has nothing to copy from."""
        return not self._asking or action == "leave"

    def action_leave(self) -> None:
        if self._asking and not self._copying:
            self._ask_name("")
        else:
            self.dismiss()


def _free(home: Path, name: str) -> None:
    """Raises InvalidInput for what cannot name a collection, and CollectionExists."""
    if folder_of(home, name).exists():
        raise CollectionExists(f"there is a collection {name!r} already", hint="choose another name")


def _collection_line(name: str, here: str, found: Listed | None) -> Content:
    mark = "▸ " if name == here else "  "
    head = Content.assemble((mark, "$accent"), (fit(clean(name), _NAME_ROOM), "bold" if name == here else ""))
    if found is None:
        return Content.assemble(head, (" …", "$muted"))
    if found.problem:
        return Content.assemble(head, " ", (one_line(found.problem), "$error"))
    size = f"{found.size / 1e6:,.1f} MB"
    return Content.assemble(head, (f"{plural(found.notes or 0, 'note'):>14}{size:>14}", "$muted"))

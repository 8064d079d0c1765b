"""Any note, collection or theme from anywhere, by name."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import get_system_commands_provider
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amem.collection_folders import collection_names, folder_of, listed_collection, with_present_origins
from amem.errors import AmemError, CollectionExists
from amem.labels import counted, size
from amem_tui.client import words
from amem_tui.dialogs import Lines, Prompt, found_by
from amem_tui.formatting import clean, day, one_line, title
from amem_tui.keymap import ROOM_KEYS
from amem_tui.lists import fit
from amem_tui.rooms import KeyFooter, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from amem.collection_folders import Listed
    from amem_tui.client import CollectionClient


_NOTES = 8


class Everything(Provider):
    """Notes that hold what is typed (the newest ones before), the other collections of the home, and themes."""

    async def discover(self) -> Hits:
        async for hit in self.search(""):
            yield DiscoveryHit(hit.prompt, hit.command, text=hit.text, help=hit.help)

    async def search(self, query: str) -> Hits:
        """What is called so; nothing of the open collection where the screen below is none of its rooms."""
        match = self.matcher(query).match
        if isinstance(self.screen, NotesScreen):
            client, here = self.screen.client, self.screen.memory.settings
            with suppress(AmemError):  # a store that fails is said by the loop that follows it
                for place, card in enumerate(await client.ask(found_by, client.memory, query, _NOTES)):
                    name, about = one_line(title(card.text), 80), f"Note of {day(card.at, client.zone)}"
                    read, score = partial(client.app.read_note, card.id), max(0.1, 0.6 - place / 20)
                    yield Hit(score, Content(name), read, name, about)
            with suppress(OSError):
                for collection in await client.ask(collection_names, here.home):
                    name = f"Collection {one_line(collection, 60)}"
                    if collection != here.collection and (score := match(name) if query else 1.0):
                        switch = partial(client.app.switch_collection, collection)
                        yield Hit(score, Content(name), switch, name, "Browse it instead of this one")
        for theme in self.app.available_themes if query else ():
            if score := match(f"Theme {theme}"):
                choose = partial(setattr, self.app, "theme", theme)
                yield Hit(score, f"Theme {theme}", choose, help="Change how it looks")


PROVIDERS: set[type[Provider] | Callable[[], type[Provider]]] = {get_system_commands_provider, Everything}


_NAME_ROOM = 24


class CollectionsScreen(ModalScreen[None]):
    """Every collection with how many notes and bytes it holds."""

    BINDINGS: ClassVar[list[BindingType]] = [*ROOM_KEYS["collections"]]

    def __init__(self, client: CollectionClient) -> None:
        super().__init__()
        self._client = client
        settings = client.memory.settings
        self._home, self._here = settings.home, settings.collection
        self._listed: dict[str, Listed] = {}

    def compose(self) -> ComposeResult:
        with Vertical(id="collections", classes="sheet") as sheet:
            sheet.border_title = "Collections"
            sheet.border_subtitle = Content(one_line(str(self._home), 60))
            yield Lines(id="choices")
        yield KeyFooter()

    def on_mount(self) -> None:
        self._list()

    @work(exclusive=True, group="list")
    async def _list(self) -> None:
        shown = self.query_one(Lines)
        # Each is opened to be counted, which may take its time; what is counted is shown.
        names = await self._client.ask(collection_names, self._home)
        lines = [Option(_collection_line(name, self._here, None), id=name) for name in names]
        shown.fill(lines, keep=shown.chosen or self._here)
        for name in names:
            found = await self._client.ask(listed_collection, self._home, name)
            self._listed[name] = found
            shown.replace_option_prompt(name, _collection_line(name, self._here, found))
            self.refresh_bindings()
        # What a source is called now is known when all are.
        for found in with_present_origins([self._listed[name] for name in names]):
            shown.replace_option_prompt(found.name, _collection_line(found.name, self._here, found))

    @property
    def _chosen(self) -> str | None:
        # Keys are looked at once more when the list is on its way out already.
        return next((shown.chosen for shown in self.query(Lines)), None)

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(OptionList.OptionSelected)
    def action_open(self) -> None:
        if self._chosen:
            self._open(self._chosen)

    def _open(self, name: str) -> None:
        self.dismiss()
        if name != self._here:
            self._client.app.switch_collection(name)

    def action_copy(self) -> None:
        heading = f"Copy {self._here} to a collection called"
        self.app.push_screen(Prompt(heading, f"{self._here}-copy", partial(self._make, copy=True), keys="enter copies"))

    def action_diff(self) -> None:
        """Show what the open collection and the chosen one did since one was copied from the other."""
        from amem_tui.history.fork_screen import ForkScreen, Pair

        if (chosen := self._chosen) and (known := self._kin(chosen)):
            self.app.push_screen(ForkScreen(Pair(self._client, chosen, into_other=known == "source")))

    def _kin(self, name: str) -> Literal["fork", "source", ""]:
        here, there = self._listed.get(self._here), self._listed.get(name)
        if here is None or there is None:
            return ""
        return "fork" if there.is_fork_of(here) else "source" if here.is_fork_of(there) else ""

    def action_make(self) -> None:
        self.app.push_screen(Prompt("A new collection called", "", self._make, keys="enter begins it"))

    async def _make(self, name: str, again: bool, *, copy: bool = False) -> str:
        try:
            await self._client.ask(_free, self._home, name)
            if copy:
                await self._client.ask(self._client.memory.copy, name)
        except AmemError as error:
            return words(error)
        if copy:
            self._client.say(f"{self._here} is copied to {name}; enter there opens it.")
            self._list()
        else:
            self.call_later(self._open, name)
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "diff" or bool(self.is_mounted and self._chosen and self._kin(self._chosen))


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
    origin = f"  fork of {one_line(found.origin, _NAME_ROOM)}" if found.origin else ""
    return Content.assemble(head, (f"{counted(found.active, 'note'):>14}{size(found.size):>14}{origin}", "$muted"))

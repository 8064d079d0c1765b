"""The app: one collection, its rooms, and the loop that notices what others write."""

from __future__ import annotations

import asyncio
import gc
import signal
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import SystemCommand, get_system_commands_provider
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widgets import Static

from amem.collection_folders import collection_names
from amem.errors import AmemError
from amem_tui.client import CollectionClient, words
from amem_tui.dialogs import HelpScreen, NotePicker, found_by
from amem_tui.failures import FailureHandling, UnreadableScreen
from amem_tui.formatting import day, one_line, title
from amem_tui.keymap import ROOM_KEYS, as_textual_wants, own_keys, room_keys
from amem_tui.note_form import NoteForm, write_in_editor
from amem_tui.rooms import ROOMS, START, NotesScreen, RoomBar, open_room
from amem_tui.themes import ThemedApp, known_theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.app import ComposeResult
    from textual.binding import Binding, BindingType
    from textual.screen import Screen

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.settings import Settings
    from amem_tui.browse.browse_room import BrowseScreen


def open_collection(settings: Settings, *, create: bool = True) -> AgenticMemorySystem:
    """The settings' collection, for a person. Raises StorageError, and CollectionNotFound without `create`."""
    from amem.memory_system import AgenticMemorySystem

    # Chroma is imported in the background, when the browser has long been drawn, and only where it lacks notes.
    return AgenticMemorySystem(settings=settings, actor="user", create=create)


#: Notes that the palette offers.
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


#: Actions of the app that need an open collection, and those of them whose keys work above any sheet as well.
_ABOUT_NOTES = frozenset({"visit", "new", "switch_note", "switch_collection", "command_palette", "keys"})
#: What a window's menu offers, and the app's actions that do it.
_CHOSEN = {"new": "new", "search": "find_notes", "collections": "switch_collection"}
#: Seconds between two looks at whether what was chosen can be done.
_AGAIN = 0.05
_OUT = frozenset({"q", "ctrl+q", "ctrl+c"})
_ABOVE_ALL = frozenset({"switch_note", "switch_collection", "command_palette"})


class NotesApp(ThemedApp, FailureHandling):
    """Browse `memory`, which stays the caller's to close, or the collection of `settings`, which the app opens itself.

    `create` says whether the first may be made; others' writes are looked for every `follow_every` seconds. Raises
    InvalidInput for a theme or for keys that cannot be used.
    """

    TITLE = "amem"
    CSS_PATH = "styles.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 (Textual declares it so)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [key for key in ROOM_KEYS["app"] if key.action != "app.new"]
    BINDING_GROUP_TITLE = "Everywhere"
    COMMANDS: ClassVar = {get_system_commands_provider, Everything}

    def __init__(
        self,
        memory: AgenticMemorySystem | None = None,
        *,
        settings: Settings | None = None,
        opening: Callable[..., AgenticMemorySystem] = open_collection,
        create: bool = True,
        follow_every: float = 0.5,
    ) -> None:
        found = settings if memory is None else memory.settings
        assert found is not None, "a browser needs a collection, or the settings of one"
        self.settings = found
        self._own_keys = own_keys(found.tui_keys, str(found.home / "config.toml"))
        #: The key that Textual's footer has at its right: a class's constant to Textual, set here by one's own keys.
        self.COMMAND_PALETTE_BINDING = self._own_keys.get("app.help", "question_mark").split(",")[0]  # type: ignore[misc]
        theme = known_theme(found.tui_theme)
        super().__init__()
        self.start_with_theme(theme)
        self._opening, self._create = opening, create
        self._opened: list[AgenticMemorySystem] = []
        self._client: CollectionClient | None = None if memory is None else CollectionClient(self, memory)
        self._follow_every = follow_every
        self._asked_at = -1
        #: Why the app could not begin.
        self.failure: AmemError | None = None

    def compose(self) -> ComposeResult:
        if self._client is not None:
            return
        yield RoomBar(self.settings.collection, START, room_keys(self.settings.tui_keys))
        yield Static(Content("Opening…"), id="opening")

    def on_mount(self) -> None:
        self.set_keymap(as_textual_wants(self._own_keys))
        self._handle_signals()
        if self._client is None:
            self._begin()
        else:
            self._settle(self._client)

    def _handle_signals(self) -> None:
        """Whoever ends the program by a signal gets the terminal back as it was."""
        if self.is_headless:
            return
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):  # as on Windows
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), self.exit)

    @work(group="collection", exclusive=True)
    async def _begin(self) -> None:
        try:
            memory = await asyncio.to_thread(self._opening, self.settings, create=self._create)
        except AmemError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        self._opened.append(memory)
        # All that was imported stays: a search for garbage that walks through it would hold up keys for a moment.
        gc.freeze()
        self._settle(CollectionClient(self, memory))

    def _settle(self, client: CollectionClient) -> None:
        self._client = client
        self.settings = client.memory.settings
        self._tell_window("opened", self.settings.collection)
        self.visit(START)
        self.run_worker(client.follow(self._follow_every), group="follow", exclusive=True)

    async def action_quit(self) -> None:
        """Go, but ask once, until another key is pressed, where something that was typed would be lost."""
        rooms = [self.get_screen(room) for room in ROOMS if self.is_screen_installed(room)]
        lost = next((said for screen in (*self.screen_stack, *rooms) if (said := getattr(screen, "unsaved", ""))), "")
        if not lost or self._asked_at == self.keys_pressed - 1:
            self.exit()
            return
        self._asked_at = self.keys_pressed
        key = self.key if self.key in _OUT else "ctrl+q"
        self.toast(f"{lost} {key} once more throws the text away.", error=True)
        self._tell_window("stays")

    async def choose(self, what: str) -> None:
        """Do what was chosen in the menu of the window around the browser; nothing leads away from an open sheet."""
        if what == "quit":
            self.key, self.keys_pressed = "ctrl+q", self.keys_pressed + 1
            await self.action_quit()
        elif what in _CHOSEN:
            self.run_worker(self._choose(_CHOSEN[what]), group="chosen", exclusive=True)

    async def _choose(self, action: str) -> None:
        while not self.takes_keys:
            await asyncio.sleep(_AGAIN)
        if isinstance(self.screen, ModalScreen):
            self.toast("Something is open here; escape closes it.", error=True)
        else:
            await self.run_action(action)

    def action_find_notes(self) -> None:
        self.visit(START)
        cast("BrowseScreen", self.get_screen(START)).action_search()

    def _tell_window(self, what: str, *said: str) -> None:
        # Only the driver of a page or window has somebody to tell.
        if tells := getattr(self._driver, what, None):
            tells(*said)

    def action_help_quit(self) -> None:
        """Say how to leave, to whoever tries it as in other programs."""
        key = self.settings.tui_keys.get("app.quit", "q").split(",")[0].strip()
        self.toast(f"{key} quits; ctrl+q does while you write.")

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()

    async def on_unmount(self) -> None:
        # Before the threads are waited for, so that what a model is asked for is called off and nobody waits for it.
        await asyncio.to_thread(self.close)

    @property
    def takes_keys(self) -> bool:
        """What is typed while a collection is being opened waits for it."""
        return super().takes_keys and self._client is not None

    def ends(self, key: str) -> bool:
        return self._client is None and key in _OUT

    @property
    def client(self) -> CollectionClient:
        assert self._client is not None, "asked for before the collection is open"
        return self._client

    def visit(self, room: str) -> None:
        """Go to a room. The start room lies below all others, of which one is open at a time."""
        if not self.is_screen_installed(room):
            self.install_screen(open_room(room, self.client), room)
        while len(self.screen_stack) > (1 if room == START else 2):
            if self.screen is self.get_screen(room):
                return
            self.pop_screen()
        self.push_screen(room)

    def leave(self) -> None:
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def read_note(self, id: str) -> None:
        self.visit(START)
        cast("BrowseScreen", self.get_screen(START)).turn_to(id)

    def write_note(self, note: MemoryNote | None = None) -> None:
        self.push_screen(NoteForm(self.client, note))

    action_new = write_note

    def write_elsewhere(self, note: MemoryNote) -> None:
        """Open a note's text in the person's own editor, and save what it leaves."""
        with self.client.refusals():
            text, problem = write_in_editor(self, note.content)
            if problem:
                self.toast(problem, error=True)
            if text != note.content:
                self.push_screen(NoteForm(self.client, note, text, at_once=not problem))
            elif not problem:
                self.toast("The text is as it was.")

    @work(group="collection", exclusive=True)
    async def switch_collection(self, name: str) -> None:
        """Close this collection and browse another of the same home, which is made if it is not there."""
        await self._move_to(name)

    def opened_beside(self, name: str) -> AgenticMemorySystem:
        """Open another collection of the home, the caller's to close. Raises StorageError and CollectionNotFound."""
        return self._opening(self.settings.replaced(collection=name), create=False)

    async def open_again(self) -> None:
        await self._move_to(self.settings.collection, create=False)

    async def _move_to(self, name: str, *, create: bool = True) -> None:
        try:
            settings = self.settings.replaced(collection=name)
            memory = await asyncio.to_thread(self._opening, settings, create=create)
        except AmemError as error:
            self.toast(words(error), error=True)
            return
        self._opened.append(memory)
        await self._move_out()
        self._settle(CollectionClient(self, memory))
        self.toast(f"This is {memory.settings.collection} now.")

    async def _move_out(self) -> None:
        """Leave every room of the collection that was open, and close it."""
        left, self._client = self._client, None
        self._done_without.clear()
        if left is not None:  # or another switch was cut short by this one
            left.left = True
        self.workers.cancel_group(self, "follow")
        for worker in list(self.workers):  # what the rooms were about to show, they will not be there to show
            if worker.node is not self:
                worker.cancel()
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        for room in ROOMS:
            if self.is_screen_installed(room):
                screen = self.get_screen(room)
                self.uninstall_screen(room)
                if screen.is_attached:
                    await screen.remove()
        if left is not None:
            await asyncio.to_thread(left.memory.close)
            self._opened = [each for each in self._opened if each is not left.memory]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing leads away from a sheet with something typed (a failing collection is left), nor before a room."""
        if action not in _ABOUT_NOTES:
            return True
        if action in _ABOVE_ALL and isinstance(self.screen, ModalScreen):
            return action == "switch_collection" and isinstance(self.screen, UnreadableScreen)
        return self._client is not None

    action_visit = visit

    def action_command_palette(self) -> None:
        self.push_screen(CommandPalette(placeholder="a key, a note, a collection or a theme"))

    def action_switch_note(self) -> None:
        self.push_screen(NotePicker(self.client))

    def action_switch_collection(self) -> None:
        from amem_tui.collections_screen import CollectionsScreen

        self.push_screen(CollectionsScreen(self.client))

    def action_keys(self) -> None:
        if isinstance(self.screen, NotesScreen):
            self.push_screen(HelpScreen(self.screen))

    def get_key_display(self, binding: Binding) -> str:
        if binding.key_display:
            return binding.key_display
        *modifiers, key = binding.key.split("+")
        return "+".join([*modifiers, key if key == "enter" else format_key(key)])

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, and every key of the screen that does something now, by its name."""
        for command in super().get_system_commands(screen):
            if command.title != "Keys":  # help shows them better
                yield command
        told = set[str]()
        for active in screen.active_bindings.values():
            binding, owner = active.binding, active.node
            if owner in (screen, self) and active.enabled and binding.description and binding.id not in {None, *told}:
                told.add(str(binding.id))
                yield SystemCommand(
                    binding.description,
                    f"Key {self.get_key_display(binding)}",
                    lambda action=binding.action, owner=owner: self.run_action(action, owner),
                )
        for name, run in getattr(screen, "commands", ()):
            yield SystemCommand(name, "", run)

"""The app: one collection, its rooms, and the loop that notices what others write."""

from __future__ import annotations

import asyncio
import gc
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import WorkerFailed

from amem.errors import AmemError, InvalidInput, StorageGone
from amem_tui.desk import CollectionChanged, Desk, words
from amem_tui.keymap import as_textual_wants, own_keys, room_keys
from amem_tui.notes_screen import NotesScreen
from amem_tui.room_bar import RoomBar
from amem_tui.rooms import ROOMS, START
from amem_tui.shell.collections import CollectionsScreen
from amem_tui.shell.help import HelpScreen
from amem_tui.shell.key_lists import display, keys_everywhere, keys_here
from amem_tui.shell.keys import KEYS
from amem_tui.shell.mishaps import in_words, write_down
from amem_tui.shell.note_form import NoteForm
from amem_tui.shell.one_key_at_a_time import OneKeyAtATime
from amem_tui.shell.opening import open_collection
from amem_tui.shell.own_editor import write_in_editor
from amem_tui.shell.palette import PROVIDERS
from amem_tui.shell.switcher import NoteSwitcher
from amem_tui.shell.unreadable import GoOn, Retry, UnreadableScreen
from amem_tui.themes import THEMES, known_theme, muted, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual.actions import ActionParseResult
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.dom import DOMNode
    from textual.screen import Screen
    from textual.theme import Theme

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.settings import Settings

#: Actions of the app that need an open collection, and those of them whose keys work above any sheet as well.
_ABOUT_NOTES = frozenset({"visit", "new", "switch_note", "switch_collection", "command_palette", "redo", "keys"})
_OUT = frozenset({"q", "ctrl+q", "ctrl+c"})
_ABOVE_ALL = frozenset({"switch_note", "switch_collection", "command_palette"})


class NotesApp(OneKeyAtATime[None]):
    """Browse `memory`, which stays the caller's to close, or the collection of `settings`, which the app opens itself.

    `opening` opens a collection by its settings, `create` whether the first may be made; others' writes are looked
    for every `follow_every` seconds. Raises InvalidInput for a theme or for keys that cannot be used.
    """

    TITLE = "amem"
    CSS_PATH = "styles.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 (Textual declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]
    COMMANDS = PROVIDERS

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
        if found is None:
            raise InvalidInput("a browser needs a collection, or the settings of one")
        self._settings = found
        self._own_keys = own_keys(found.tui_keys)
        self._first_theme = known_theme(found.tui_theme)
        super().__init__()
        self._opening, self._create = opening, create
        self._opened: list[AgenticMemorySystem] = []
        self._desk: Desk | None = None if memory is None else Desk(self, memory)
        self._follow_every = follow_every
        #: What fails and the person does without.
        self._done_without: set[str] = set()
        #: Why the app could not begin.
        self.failure: AmemError | None = None

    def compose(self) -> ComposeResult:
        """What is seen until the collection is open."""
        yield RoomBar(self._settings.collection, START, room_keys(self._settings.tui_keys))
        yield Static(Content("Opening…"), id="opening")

    def on_mount(self) -> None:
        self.set_keymap(as_textual_wants(self._own_keys))
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self._first_theme
        self.theme_changed_signal.subscribe(self, self._theme_chosen)
        self._heed_signals()
        if self._desk is None:
            self._begin()
        else:
            self._settle(self._desk)

    def _heed_signals(self) -> None:
        """Whoever ends the program by a signal gets the terminal back as it was."""
        if self.is_headless:
            return
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):  # as on Windows
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), self.exit)

    @work(group="collection", exclusive=True)
    async def _begin(self) -> None:
        try:
            memory = await asyncio.to_thread(self._opening, self._settings, create=self._create)
        except AmemError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        self._opened.append(memory)
        # All that was imported stays: a search for garbage that walks through it would hold up keys for a moment.
        gc.freeze()
        self._settle(Desk(self, memory))

    def _settle(self, desk: Desk) -> None:
        self._desk = desk
        self._settings = desk.memory.settings
        self.visit(START)
        self.run_worker(desk.follow(self._follow_every), group="follow", exclusive=True)

    def close(self) -> None:
        """Close the collections that the app opened itself."""
        while self._opened:
            self._opened.pop().close()

    async def on_unmount(self) -> None:
        # Before the threads are waited for, so that what a model is asked for is called off and nobody waits for it.
        await asyncio.to_thread(self.close)

    @property
    def takes_keys(self) -> bool:
        """What is typed while a collection is being opened waits for it."""
        return super().takes_keys and self._desk is not None

    def ends(self, key: str) -> bool:
        """But for leaving."""
        return self._desk is None and key in _OUT

    @property
    def desk(self) -> Desk:
        """The open collection."""
        assert self._desk is not None, "asked for before the collection is open"
        return self._desk

    # -- looks ---------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """A grey for what matters less, to be read on any theme."""
        return {"muted": muted(self.current_theme)}

    def get_css_variables(self) -> dict[str, str]:
        """The theme's colours, the signals among them so that they can be read as text."""
        self.theme_variables = super().get_css_variables() | readable(self.current_theme)
        return self.theme_variables

    def _theme_chosen(self, theme: Theme) -> None:
        if theme.name == self._first_theme:
            return
        where = self._settings.home / "config.toml"
        self.toast(f'{theme.name}, until you quit. To keep it: tui_theme = "{theme.name}" in {where}')

    # -- rooms ---------------------------------------------------------------------------------------------------

    def visit(self, room: str) -> None:
        """Go to a room. The start room lies below all others, of which one is open at a time."""
        if not self.is_screen_installed(room):
            self.install_screen(ROOMS[room].open(self.desk), room)
        while len(self.screen_stack) > (1 if room == START else 2):
            if self.screen is self.get_screen(room):
                return
            self.pop_screen()
        self.push_screen(room)

    def leave(self) -> None:
        """Back to the start room."""
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def read_note(self, id: str) -> None:
        """Open a note in the start room."""
        self.visit(START)
        start = self.get_screen(START)
        start.turn_to(id)  # type: ignore[attr-defined]

    def write_note(self, note: MemoryNote | None) -> None:
        """Open the form for a note; None begins a new one."""
        self.push_screen(NoteForm(self.desk, note))

    def write_elsewhere(self, note: MemoryNote) -> None:
        """Open a note's text in the person's own editor, and save what it leaves."""
        try:
            written = write_in_editor(self, note.content)
        except InvalidInput as error:
            self.desk.refuse(error)
            return
        if written.problem:
            self.toast(written.problem, error=True)
        if written.text != note.content:
            self.push_screen(NoteForm(self.desk, note, written.text, at_once=not written.problem))
        elif not written.problem:
            self.toast("The text is as it was.")

    def announce(self) -> None:
        """Tell the room in front that somebody wrote; the others look when they are entered."""
        for screen in self.screen_stack:
            if isinstance(screen, NotesScreen):
                screen.post_message(CollectionChanged())

    def toast(self, message: str, *, error: bool = False) -> None:
        """Say something in a corner of the screen."""
        self.notify(message, severity="error" if error else "information", timeout=8 if error else 4, markup=False)

    # -- collections -----------------------------------------------------------------------------------------------

    def switch_collection(self, name: str) -> None:
        """Close this collection and browse another of the same home, which is made if it is not there."""
        self._switch(name)

    @work(group="collection", exclusive=True)
    async def _switch(self, name: str, *, create: bool = True) -> None:
        try:
            settings = self._settings.replaced(collection=name)
            memory = await asyncio.to_thread(self._opening, settings, create=create)
        except AmemError as error:
            self.toast(words(error), error=True)
            return
        self._opened.append(memory)
        await self._move_out()
        self._settle(Desk(self, memory))
        self.toast(f"This is {memory.settings.collection} now.")

    async def _move_out(self) -> None:
        """Leave every room of the collection that was open, and close it."""
        left, self._desk = self._desk, None
        self._done_without.clear()
        if left is not None:
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

    # -- trouble -----------------------------------------------------------------------------------------------------

    def unreadable(self, error: AmemError, *, for_now: bool) -> None:
        """Say on a screen of its own that the store fails; `for_now`: it is looked at again and again meanwhile."""
        if self._desk is None:
            return  # the rooms of a collection that is being left
        if not for_now and str(error) in self._done_without:
            self.toast(words(error), error=True)
            return
        for screen in self.screen_stack:
            if isinstance(screen, UnreadableScreen):
                screen.for_now = screen.for_now or for_now
                if screen.is_mounted:
                    screen.say(error)
                return
        self.push_screen(UnreadableScreen(error, self._settings.collection, self._settings.home, for_now=for_now))

    def readable(self) -> None:
        """The store that failed answers again."""
        self._end_of_trouble()
        self.toast("The collection can be read again.")

    def _end_of_trouble(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, UnreadableScreen):
                screen.end()
        self.announce()

    @on(GoOn)
    def _go_on(self, event: GoOn) -> None:
        self._done_without.add(event.words)
        self._end_of_trouble()

    @on(Retry)
    @work(group="retry", exclusive=True)
    async def _retry(self) -> None:
        desk = self.desk
        try:
            await desk.ask(desk.memory.pulse)
        except StorageGone:
            # What stands in its place now, perhaps put back from a copy, is another file: open that.
            await self._switch(self._settings.collection, create=False).wait()
        except AmemError as error:
            self.unreadable(error, for_now=True)
        else:
            self._done_without.clear()
            self._end_of_trouble()

    def mishap(self, error: BaseException) -> None:
        """Say that something unforeseen happened, and write it down."""
        write_down(error)
        self.toast(in_words(error, self._settings.home), error=True)

    def _handle_exception(self, error: Exception) -> None:
        """The one place where exceptions that nobody caught arrive, from workers, messages and drawing."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, AmemError) and self._desk is not None and isinstance(error, WorkerFailed):
            self._desk.refuse(cause)
            return
        if not self._running:  # on the way out, where rooms lose their widgets before their last messages
            write_down(cause)
            return
        if self._exception is None:  # whoever drives the app in a test hears of it
            self._exception = error
            self._exception_event.set()
        if isinstance(error, WorkerFailed):
            self.mishap(cause)
            return
        # What handles messages has stopped: without it the app would only seem to be alive.
        write_down(cause)
        self._return_code = 1
        self.panic(Content(in_words(cause, self._settings.home)).plain)

    # -- keys ----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing leads away from a sheet on which something may have been typed, nor anywhere before there is a room.

        From the screen that says that a collection fails, another can be opened.
        """
        if action not in _ABOUT_NOTES:
            return True
        if action in _ABOVE_ALL and isinstance(self.screen, ModalScreen):
            return action == "switch_collection" and isinstance(self.screen, UnreadableScreen)
        return self._desk is not None

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key says; keys that were typed faster than a room could be furnished do nothing in it."""
        if isinstance(default_namespace, NotesScreen) and not default_namespace.is_mounted:
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def action_visit(self, room: str) -> None:
        self.visit(room)

    def action_new(self) -> None:
        self.write_note(None)

    def action_switch_note(self) -> None:
        self.push_screen(NoteSwitcher(self.desk))

    def action_switch_collection(self) -> None:
        self.push_screen(CollectionsScreen(self.desk))

    def action_redo(self) -> None:
        if isinstance(self.screen, NotesScreen):
            self.screen.action_redo()

    def action_keys(self) -> None:
        """Show the keys of the screen at hand."""
        screen = self.screen
        if isinstance(screen, NotesScreen):
            legend = getattr(screen, "LEGEND", ())
            self.push_screen(HelpScreen(keys_here(screen, ROOMS[screen.ROOM].title), keys_everywhere(self), legend))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, and every key of the screen that does something now, by its name."""
        for command in super().get_system_commands(screen):
            if command.title != "Keys":  # help shows them better
                yield command
        for active in screen.active_bindings.values():
            binding, owner = active.binding, active.node
            if owner in (screen, self) and active.enabled and binding.description and binding.id:
                yield SystemCommand(
                    binding.description,
                    f"Key {display(self, binding)}",
                    lambda action=binding.action, owner=owner: self.run_action(action, owner),
                )

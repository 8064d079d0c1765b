"""The app: one collection, its rooms, and the loop that notices what others write."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand

from amem_tui.browse.screen import BrowseScreen
from amem_tui.desk import CollectionChanged, Desk
from amem_tui.keymap import own_keys
from amem_tui.notes_screen import NotesScreen
from amem_tui.rooms import ROOMS, START
from amem_tui.shell.help import HelpScreen
from amem_tui.shell.key_lists import keys_everywhere, keys_here
from amem_tui.shell.keys import KEYS
from amem_tui.themes import INK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.screen import Screen

    from amem.memory_system import AgenticMemorySystem


class NotesApp(App[None]):
    """Browse `memory`, which stays the caller's to close; look for others' writes every `follow_every` seconds."""

    TITLE = "amem"
    CSS_PATH = "styles.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 (Textual declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, memory: AgenticMemorySystem, *, follow_every: float = 1.0) -> None:
        super().__init__()
        self._desk = Desk(self, memory)
        self._follow_every = follow_every

    def on_mount(self) -> None:
        self.set_keymap(own_keys(self._desk.memory.settings.tui_keys))
        self.register_theme(INK)
        self.theme = INK.name
        self.visit(START)
        self.run_worker(self._desk.follow(self._follow_every), group="follow")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """A grey for what matters less, readable on light and dark themes alike."""
        return {"muted": "#8b93a3"}

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, and every key of the screen by its name."""
        yield from super().get_system_commands(screen)
        for active in screen.active_bindings.values():
            binding, owner = active.binding, active.node
            if owner in (screen, self) and active.enabled and binding.description:
                yield SystemCommand(
                    binding.description,
                    f"Key {self.get_key_display(binding)}",
                    lambda action=binding.action: screen.run_action(action),
                )

    # -- rooms ---------------------------------------------------------------------------------------------------

    def visit(self, room: str) -> None:
        """Go to a room. The start room lies below all others, of which one is open at a time."""
        if not self.is_screen_installed(room):
            self.install_screen(ROOMS[room].open(self._desk), room)
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
        assert isinstance(start, BrowseScreen)
        start.turn_to(id)

    def announce(self) -> None:
        """Tell the room in front that somebody wrote; the others look when they are entered."""
        for screen in self.screen_stack:
            if isinstance(screen, NotesScreen):
                screen.post_message(CollectionChanged())

    def toast(self, message: str, *, error: bool = False) -> None:
        """Say something in a corner of the screen."""
        self.notify(message, severity="error" if error else "information", timeout=8 if error else 4, markup=False)

    # -- keys ----------------------------------------------------------------------------------------------------

    def action_visit(self, room: str) -> None:
        self.visit(room)

    def action_new(self) -> None:
        self.visit(START)
        start = self.get_screen(START)
        assert isinstance(start, BrowseScreen)
        start.action_new()

    def action_redo(self) -> None:
        if isinstance(self.screen, NotesScreen):
            self.screen.action_redo()

    def action_keys(self) -> None:
        """Show the keys of the screen at hand."""
        screen = self.screen
        if isinstance(screen, NotesScreen):
            self.push_screen(HelpScreen(keys_here(screen, ROOMS[screen.ROOM].title), keys_everywhere(self)))

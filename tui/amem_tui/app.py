"""The app: one collection, its screens, and the loop that notices what others write."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType

from amem_tui.browse import BrowseScreen
from amem_tui.desk import Desk
from amem_tui.help import HelpScreen
from amem_tui.theme import INK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.screen import Screen

    from amem.memory_system import AgenticMemorySystem

_LIST_KEYS = [
    ("↑ ↓ enter", "Move; open the note, follow a link"),
    ("tab", "Next pane"),
    ("ctrl+p", "Every command, themes"),
]


class NotesApp(App[None]):
    """Browse `memory`, which stays the caller's to close; look for others' writes every `follow_every` seconds."""

    TITLE = "amem"
    CSS_PATH = "styles.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 (Textual declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "keys", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, memory: AgenticMemorySystem, *, follow_every: float = 1.0) -> None:
        super().__init__()
        self._desk = Desk(self, memory)
        self._follow_every = follow_every

    def on_mount(self) -> None:
        self.register_theme(INK)
        self.theme = INK.name
        self.push_screen(BrowseScreen(self._desk))
        self.run_worker(self._desk.follow(self._follow_every), group="follow")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """A grey for what matters less, readable on light and dark themes alike."""
        return {"muted": "#8b93a3"}

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, and every key of the screen by its name."""
        yield from super().get_system_commands(screen)
        for active in screen.active_bindings.values():
            binding, owner = active.binding, active.node
            if owner is screen and active.enabled:
                yield SystemCommand(
                    binding.description,
                    f"Key {self.get_key_display(binding)}",
                    lambda action=binding.action: screen.run_action(action),
                )

    def action_keys(self) -> None:
        """Show the keys of the screen at hand."""
        known = [*type(self.screen).BINDINGS, *NotesApp.BINDINGS]
        keys = [
            (binding.key_display or self.get_key_display(binding), binding.description)
            for binding in Binding.make_bindings(known)
        ]
        self.push_screen(HelpScreen([*keys, *_LIST_KEYS]))

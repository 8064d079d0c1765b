"""The app's themes: which there are, colours that can be read on each, and how to keep one that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.app import App
from textual.filter import LineFilter

from amem.visible import without_driving
from amem_tui.themes import THEMES, muted, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.color import Color
    from textual.theme import Theme

    from amem.settings import Settings


class _Border(LineFilter):
    """Takes out of all that is drawn what would drive the terminal: ids, names and texts come from anybody."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            each if each.text.isprintable() else Segment(without_driving(each.text), each.style, each.control)
            for each in segments
        ]


class Looks(App[None]):
    """The part of the app that knows of colours, and of what may be drawn."""

    _settings: Settings
    _border = _Border()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._border]

    def begin_as(self, name: str) -> None:
        """Begin with this theme, before anything is drawn: a theme that is set later has all styles read again."""
        for theme in THEMES:
            self.register_theme(theme)
        self._first_theme = name
        self.set_reactive(App.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())
        dark = self.current_theme.dark
        self.update_classes({f"-theme-{name}": True, "-dark-mode": dark, "-light-mode": not dark}, update=False)

    def heed_theme(self) -> None:
        """Say of themes that are chosen from now on how to keep them."""
        self.theme_changed_signal.subscribe(self, self._theme_chosen)

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
        self.notify(f'{theme.name}, until you quit. To keep it: tui_theme = "{theme.name}" in {where}', markup=False)

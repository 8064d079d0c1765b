"""amem's themes, dark, light and high in contrast, and colours that can be read on any theme."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from amem.errors import InvalidInput
from amem.labels import without_driving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.settings import Settings


#: Least contrast of text that WCAG 2.2 asks for: level AA, and AAA for the theme that is made for it.
AA, AAA = 4.5, 7.0


def _own_themes() -> Iterator[Theme]:
    for name, colours in tomllib.loads(files("amem_tui").joinpath("themes.toml").read_text(encoding="utf-8")).items():
        variables = {"block-cursor-text-style": "bold", "footer-key-foreground": colours["accent"]}
        variables |= colours.pop("variables")
        dark = Color.parse(colours["background"]).brightness < 0.5
        yield Theme(name, warning=colours["accent"], dark=dark, variables=variables, **colours)


THEMES = tuple(_own_themes())
INK, PAPER, CONTRAST = THEMES
_GROUNDS = ("background", "surface", "panel")
_SIGNALS = ("primary", "secondary", "accent", "success", "warning", "error")


def theme_names() -> list[str]:
    return [theme.name for theme in THEMES] + sorted(BUILTIN_THEMES)


def known_theme(name: str) -> str:
    """The name, if a theme is called so. Raises InvalidInput, which lists the names."""
    if name not in theme_names():
        raise InvalidInput(f"tui_theme: there is no theme {name!r}", hint=f"use one of {', '.join(theme_names())}")
    return name


def contrast(one: Color, other: Color) -> float:
    """How well one colour is read on the other, from 1 (not at all) to 21: the contrast ratio of WCAG 2.2."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def muted(theme: Theme) -> str:
    """A grey for what matters less: as near to the background as can still be read on all that text stands on."""
    if theme.name.startswith("ansi"):
        return "ansi_bright_black" if theme.dark is False else "ansi_white"
    colours = colours_of(theme)
    text, grounds = colours["foreground"], [colours[name] for name in _GROUNDS]
    least = (AAA if theme is CONTRAST else AA) + 0.2
    greys = [text.blend(colours["background"], share / 100) for share in range(55, 0, -5)]
    return next((grey for grey in greys if _least_contrast(grey, grounds) >= least), text).hex


def readable(theme: Theme) -> dict[str, str]:
    """The theme's signal colours, moved towards the text as far as reading needs; none for the terminal's own."""
    if theme.name.startswith("ansi"):
        return {}
    colours = colours_of(theme)
    grounds = [colours["background"], colours["surface"]]
    return {name: _moved(colours[name], colours["foreground"], grounds, AA).hex for name in _SIGNALS}


def colours_of(theme: Theme) -> Mapping[str, Color]:
    """A theme's colours by the names that styles use, those that it leaves to Textual among them."""
    generated = theme.to_color_system().generate()
    return {name: _colour(generated[name], theme) for name in ("foreground", *_GROUNDS, *_SIGNALS)}


def _colour(said: str, theme: Theme) -> Color:
    # The terminal's own colours are whatever a person made them; black on white or the reverse stands for them.
    if said.startswith("ansi_"):
        return Color.parse("#101010" if ("background" in said or "black" in said) == theme.dark else "#f0f0f0")
    return Color.parse(said)


def _luminance(colour: Color) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def towards(colour: Color, other: Color, ground: Color, least: float) -> Color:
    """The colour, moved as little towards another as telling it from its ground takes; a terminal's own stay."""
    if any(each.ansi is not None for each in (colour, other, ground)):
        return colour
    return _moved(colour, other, [ground], least)


def _moved(colour: Color, other: Color, grounds: Sequence[Color], least: float) -> Color:
    steps = (colour.blend(other, share / 100, 1.0) for share in range(0, 100, 10))
    return next((each for each in steps if _least_contrast(each, grounds) >= least), other)


def _least_contrast(colour: Color, grounds: Sequence[Color]) -> float:
    return min(contrast(colour, ground) for ground in grounds)


@lru_cache(maxsize=512)
def toned(base: Style, tone: Style) -> Style:
    """The tone over a row's own style, its colour moved towards the text's where it could not be read there."""
    both = base + tone
    colours = (tone.color, base.color, base.bgcolor)
    known = [Color.from_rich_color(each) for each in colours if each is not None and each.type is ColorType.TRUECOLOR]
    if len(known) < len(colours):
        return both
    colour, text, ground = known
    return both + Style(color=towards(colour, text, ground, AA).rich_color)


class _Border(LineFilter):
    """Takes out of all that is drawn what would drive the terminal: ids, names and texts come from anybody."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            each if each.text.isprintable() else Segment(without_driving(each.text), each.style, each.control)
            for each in segments
        ]


class ThemedApp(App[None]):
    """The part of the app that knows of colours, and of what may be drawn."""

    settings: Settings
    _border = _Border()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._border]

    def start_with_theme(self, name: str) -> None:
        """Begin with this theme, before anything is drawn: a theme that is set later has all styles read again."""
        for theme in THEMES:
            self.register_theme(theme)
        self._first_theme = name
        self.set_reactive(App.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())
        dark = self.current_theme.dark
        self.update_classes({f"-theme-{name}": True, "-dark-mode": dark, "-light-mode": not dark}, update=False)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """A grey for what matters less, to be read on any theme."""
        return {"muted": muted(self.current_theme)}

    def get_css_variables(self) -> dict[str, str]:
        """The theme's colours, the signals among them so that they can be read as text."""
        self.theme_variables = super().get_css_variables() | readable(self.current_theme)
        return self.theme_variables

    def watch_theme(self, name: str) -> None:
        """Say of a theme that was chosen how to keep it."""
        if name != self._first_theme:
            where = self.settings.home / "config.toml"
            self.notify(f'{name}, until you quit. To keep it: tui_theme = "{name}" in {where}', markup=False)

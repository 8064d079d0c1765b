"""A colour on a ground that it was not made for: the cursor's, or a faint line's on the background."""

from __future__ import annotations

from functools import lru_cache

from rich.color import ColorType
from rich.style import Style
from textual.color import Color

from amem_tui.themes import AA, contrast


def towards(colour: Color, other: Color, ground: Color, least: float) -> Color:
    """The colour, moved as little towards another as it takes to be told from its ground (a ratio of WCAG 2.2).

    A terminal's own colours stay as they are, since nobody knows them.
    """
    if any(each.ansi is not None for each in (colour, other, ground)):
        return colour
    for share in range(0, 100, 10):
        moved = colour.blend(other, share / 100, 1.0)
        if contrast(moved, ground) >= least:
            return moved
    return other


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

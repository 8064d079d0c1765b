"""How pages of the pane say things: fields with their labels, entries that can be chosen, bars, marks of makers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem.note import Status
from amem_tui.browse.pane.leaf import Block, Place
from amem_tui.phrases import one_line, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage.cards import Card
    from amem_tui.browse.pane.aims import Aim

_LABEL = 11
_BAR = 10
#: Of a list no more are shown; who wants all asks for them elsewhere.
MOST = 300


def say(text: str, style: str = "$muted") -> Block:
    """A remark."""
    return Block(Content.styled(text, style))


def space() -> Block:
    """An empty line."""
    return Block(Content())


def field(label: str, value: Content, places: Sequence[Place] = ()) -> Block:
    """A label, and beside it what there is to say."""
    return Block(value, tuple(places), Content.styled(label.ljust(_LABEL), "$muted"), Content(" " * _LABEL))


def entry(head: Content, aim: Aim, *more: Content, indent: int = 0) -> Block:
    """Something to choose: a line, and below it what else there is to say."""
    text = Content("\n").join([head, *more])
    return Block(text, (Place(0, len(text), aim),), Content(" " * indent), Content(" " * (indent + 2)), entry=True)


def heading(text: str) -> Block:
    """What stands above a part of a page."""
    return Block(Content.styled(text, "bold $primary"))


def bar(share: float, width: int = _BAR) -> Content:
    """A bar for a share of 0..1; what exceeds 1 fills it."""
    full = max(0, min(width, round(share * width)))
    return Content.assemble(("▰" * full, "$primary"), ("▱" * (width - full), "$foreground 25%"))


def card_title(card: Card | None, id: str, width: int = 90) -> Content:
    """What a note at the other end of something is called; one that does not speak for the present is dimmed."""
    if card is None:
        return Content.styled(f"{one_line(id, 12)} is not here", "$muted italic")
    name = one_line(title(card.text), width)
    if card.status is Status.ACTIVE:
        return Content(name)
    return Content.assemble((name, "$muted strike"), (f" {card.status}", "$muted italic"))

"""The line above every screen: which collection, which room, and the way to the others.

Where there is little room a name shows its key as its first letter, underlined; where there is less, only the room that
one is in is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem_tui.phrases import one_line
from amem_tui.rooms import ROOMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult


#: Cells around a name; from how many columns on names have room for their keys; cells that facts need at least.
_PADDING = {False: 2, True: 1}
_WIDE, _FACTS = 100, 8


class RoomTab(Static):
    """The name of a room and its key; a click leads there."""

    @dataclass
    class Chosen(Message):
        """Somebody wants to go there."""

        room: str

    def __init__(self, room: str, key: str, *, here: bool) -> None:
        super().__init__(classes="-here" if here else "")
        self._room, self._key = room, key
        self.show(short=False)

    def show(self, *, short: bool) -> int:
        """Write the name, and return how many cells it takes."""
        name = ROOMS[self._room].title
        if not self._key:
            said = Content(name)
        elif short and self._key.casefold() == name[0].casefold():
            said = Content.assemble((self._key, "underline $accent"), name[1:])
        else:
            said = Content.assemble((self._key, "$accent"), " ", name)
        self.update(said)
        return said.cell_length + _PADDING[short]

    @on(events.Click)
    def _go(self) -> None:
        self.post_message(self.Chosen(self._room))


class RoomBar(Horizontal):
    """`room` is the one we are in; `facts` is what the room says of itself, at the right; `keys` lead to rooms."""

    def __init__(self, collection: str, room: str, keys: Mapping[str, str]) -> None:
        super().__init__(id="rooms")
        self._collection, self._room, self._keys = collection, room, keys

    def compose(self) -> ComposeResult:
        yield Static(id="collection")
        for room in ROOMS:
            yield RoomTab(room, self._keys.get(room, ""), here=room == self._room)
        yield Static(id="facts")

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Name as many rooms as there is room for beside a few facts."""
        width, tabs = self.size.width, self.query(RoomTab)
        collection = self.query_one("#collection", Static)
        name = one_line(self._collection, 20)
        short = width < _WIDE
        collection.update(
            Content.styled(f" {name}", "$muted")
            if short
            else Content.assemble((" amem ", "bold $primary"), (name, "$muted"))
        )
        taken = sum(tab.show(short=short) for tab in tabs) + cell_len(name) + 3
        alone = taken + _FACTS > width
        if short and alone:
            for tab in tabs:
                tab.show(short=False)
        self.set_class(short, "-short")
        self.set_class(alone, "-alone")

    def tell(self, facts: str | Content) -> None:
        """Say something about the room: how many notes, what is going on."""
        # Its width is what the tabs leave: nothing moves when the words change.
        self.query_one("#facts", Static).update(Content(facts) if isinstance(facts, str) else facts, layout=False)

"""The line above every screen: which collection, which room, and the way to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


class RoomTab(Static):
    """The name of a room and its key; a click leads there."""

    @dataclass
    class Chosen(Message):
        """Somebody wants to go there."""

        room: str

    def __init__(self, room: str, key: str, *, here: bool) -> None:
        name = Content(ROOMS[room].title)
        super().__init__(
            Content.assemble((key, "$accent"), " ", name) if key else name, classes="-here" if here else ""
        )
        self._room = room

    @on(events.Click)
    def _go(self) -> None:
        self.post_message(self.Chosen(self._room))


class RoomBar(Horizontal):
    """`room` is the one we are in; `facts` is what the room says of itself, at the right; `keys` lead to rooms."""

    def __init__(self, collection: str, room: str, keys: Mapping[str, str]) -> None:
        super().__init__(id="rooms")
        self._collection, self._room, self._keys = collection, room, keys

    def compose(self) -> ComposeResult:
        yield Static(
            Content.assemble((" amem ", "bold $primary"), (one_line(self._collection, 20), "$muted")), id="collection"
        )
        for room in ROOMS:
            yield RoomTab(room, self._keys.get(room, ""), here=room == self._room)
        yield Static(id="facts")

    def tell(self, facts: str | Content) -> None:
        """Say something about the room: how many notes, what is going on."""
        # Its width is what the tabs leave: nothing moves when the words change.
        self.query_one("#facts", Static).update(Content(facts) if isinstance(facts, str) else facts, layout=False)

"""The conversation so far: its last turns, and earlier ones when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amem_tui.chat.exchange import Exchange
from amem_tui.chat.reading import Chat
from amem_tui.phrases import plural

if TYPE_CHECKING:
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.storage.chats import Turn

#: So many turns are shown at once; a chat of years must not take years to open.
_AT_ONCE = 12


class Transcript(VerticalScroll):
    """Stays at its end while an answer is written, unless somebody scrolled up."""

    @dataclass
    class EarlierWanted(Message):
        """Somebody clicked on what says how many turns there are before these."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="transcript")
        self._zone = zone
        self._turns = Vertical(id="turns")
        self._above, self._greeting = Static(id="earlier"), Static(id="greeting")
        self._earlier: list[Turn] = []
        self._chat = Chat()
        self.exchanges: list[Exchange] = []
        self.chosen: Exchange | None = None

    def compose(self) -> ComposeResult:
        # As high as the view at least: an anchored view would put fewer lines at its bottom.
        with self._turns:
            yield self._above
            yield self._greeting

    def on_mount(self) -> None:
        self.anchor()

    @property
    def last(self) -> Exchange | None:
        """The newest turn."""
        return self.exchanges[-1] if self.exchanges else None

    @property
    def looked_at(self) -> Exchange | None:
        """The turn whose recalled notes are wanted: the chosen one, else the newest."""
        return self.chosen or self.last

    def greet(self, words: Content) -> None:
        """Say something where there is no turn yet."""
        self._greeting.update(words)
        self._greeting.display = not self.exchanges

    async def show(self, chat: Chat) -> None:
        """Show another chat."""
        self._chat, turns = chat, chat.turns
        self.choose(None)
        for each in self.exchanges:
            await each.remove()
        self._earlier = list(turns[:-_AT_ONCE])
        self.exchanges = [self._kept(each) for each in turns[-_AT_ONCE:]]
        await self._turns.mount_all(self.exchanges)
        self._settle()
        self.anchor()

    async def follow(self, chat: Chat) -> None:
        """Show what others did to this chat: turns of theirs, answers that came, words that were purged."""
        self._chat, turns = chat, chat.turns
        shown = {each.number: each for each in self.exchanges if each.number is not None}
        first = min(shown, default=0)
        self._earlier = [turn for turn in turns if turn.number < first]
        for turn in turns:
            if (held := shown.get(turn.number)) is not None:
                await held.become(turn, chat.titles)
            elif turn.number > first:
                await self._put_in(self._kept(turn))
        self._settle()

    async def _put_in(self, exchange: Exchange) -> None:
        """Show a turn where its number says; whoever reads further up goes on reading there."""
        number = exchange.number or 0
        later = next((place for place, each in enumerate(self.exchanges) if (each.number or 0) > number), None)
        await self._turns.mount(exchange, before=None if later is None else self.exchanges[later])
        self.exchanges.insert(len(self.exchanges) if later is None else later, exchange)

    async def add(self, exchange: Exchange) -> None:
        """Show one turn more, and go to the end."""
        self.exchanges.append(exchange)
        await self._turns.mount(exchange)
        self._settle()
        self.anchor()

    def drop(self, exchange: Exchange) -> None:
        """Take a turn away that did not come to be."""
        self.exchanges.remove(exchange)
        exchange.remove()
        self._settle()

    async def show_earlier(self) -> None:
        """Show some of the turns before the first one that is shown."""
        if not self._earlier:
            return
        more = [self._kept(each) for each in self._earlier[-_AT_ONCE:]]
        del self._earlier[-_AT_ONCE:]
        await self._turns.mount_all(more, after=self._greeting)
        self.exchanges = more + self.exchanges
        self._settle()

    async def step(self, by: int) -> None:
        """Choose the turn before or after."""
        if not self.exchanges:
            return
        at = self.exchanges.index(self.chosen) if self.chosen is not None else len(self.exchanges) - 1
        if at + by < 0 and self._earlier:
            before = len(self.exchanges)
            await self.show_earlier()
            at += len(self.exchanges) - before
        self.choose(self.exchanges[max(0, min(at + by, len(self.exchanges) - 1))])
        if self.chosen is not None:
            self.scroll_to_widget(self.chosen, animate=False, top=True)

    def choose(self, exchange: Exchange | None) -> None:
        """Mark a turn; None for the newest, whichever that is."""
        if self.chosen is not None:
            self.chosen.remove_class("-chosen")
        self.chosen = None if exchange is self.last else exchange
        if self.chosen is not None:
            self.chosen.add_class("-chosen")

    @on(events.Click, "#earlier")
    def _want_earlier(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.EarlierWanted())

    def _kept(self, turn: Turn) -> Exchange:
        return Exchange(turn.question, self._zone, turn, self._chat.titles)

    def _settle(self) -> None:
        count = plural(len(self._earlier), "earlier turn")
        self._above.update(Content.assemble((f"▲ {count}: [ goes back to them", "$muted")))
        self._above.display = bool(self._earlier)
        self._greeting.display = not self.exchanges

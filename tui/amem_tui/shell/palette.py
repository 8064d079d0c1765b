"""What the palette knows besides keys: notes, collections and themes, by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import get_system_commands_provider
from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from amem.collection import collection_names
from amem.errors import AmemError
from amem_tui.notes_screen import NotesScreen
from amem_tui.phrases import day, one_line, title
from amem_tui.shell.switcher import found_by

if TYPE_CHECKING:
    from amem_tui.desk import Desk

_NOTES = 8
Hits = AsyncIterator[DiscoveryHit | Hit]


class _Named(Provider):
    """Things of one sort, by their names. A name is text, whatever signs it holds."""

    @property
    def desk(self) -> Desk | None:
        """The open collection, unless the screen below is none of its rooms."""
        return self.screen.desk if isinstance(self.screen, NotesScreen) else None

    def hit(self, score: float, name: str, about: str, run: Callable[[], object]) -> Hit:
        """A thing that was found."""
        return Hit(score, Content(name), run, text=name, help=about)

    def offer(self, name: str, about: str, run: Callable[[], object]) -> DiscoveryHit:
        """A thing that is shown before anything is typed."""
        return DiscoveryHit(Content(name), run, text=name, help=about)


class Notes(_Named):
    """Notes that hold what is typed; the newest ones before."""

    async def discover(self) -> Hits:
        for name, about, run in await self._found(""):
            yield self.offer(name, about, run)

    async def search(self, query: str) -> Hits:
        for place, (name, about, run) in enumerate(await self._found(query)):
            yield self.hit(max(0.1, 0.6 - place / 20), name, about, run)

    async def _found(self, words: str) -> list[tuple[str, str, Callable[[], object]]]:
        desk = self.desk
        if desk is None:
            return []
        try:
            cards = await desk.ask(partial(found_by, desk.memory, words, _NOTES))
        except AmemError:
            return []  # a store that fails is said by the loop that follows it
        return [
            (
                one_line(title(card.text), 80),
                f"Note of {day(card.at, desk.zone)}",
                partial(desk.rooms.read_note, card.id),
            )
            for card in cards
        ]


class Collections(_Named):
    """The other collections of the home."""

    async def discover(self) -> Hits:
        for name, run in await self._others():
            yield self.offer(f"Collection {name}", "Browse it instead of this one", run)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, run in await self._others():
            if score := matcher.match(f"Collection {name}"):
                yield self.hit(score, f"Collection {name}", "Browse it instead of this one", run)

    async def _others(self) -> list[tuple[str, Callable[[], object]]]:
        desk = self.desk
        if desk is None:
            return []
        settings = desk.memory.settings
        try:
            names = await desk.ask(partial(collection_names, settings.home))
        except OSError:
            return []
        return [
            (one_line(name, 60), partial(desk.rooms.switch_collection, name))
            for name in names
            if name != settings.collection
        ]


class Looks(_Named):
    """Themes, found once something of their name is typed."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name in self.app.available_themes:
            if score := matcher.match(f"Theme {name}"):
                yield self.hit(score, f"Theme {name}", "Change how it looks", partial(setattr, self.app, "theme", name))


PROVIDERS: set[type[Provider] | Callable[[], type[Provider]]] = {
    get_system_commands_provider,
    Notes,
    Collections,
    Looks,
}

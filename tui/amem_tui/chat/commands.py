"""What has a letter for a key, by its name in the palette: whoever is typing cannot press letters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from amem_tui.chat.keys import KEYS, LETTERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from amem_tui.chat.screen import ChatScreen

_ASIDE = frozenset(("down", "up", "leave", "write", "turn(-1)", "turn(1)"))


class RoomCommands(Provider):
    """The room's keys that would work if nobody were typing."""

    async def discover(self) -> Hits:
        async for name, run in self._found():
            yield DiscoveryHit(name, run)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        async for name, run in self._found():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), run)

    async def _found(self) -> AsyncIterator[tuple[str, partial[object]]]:
        from amem_tui.chat.screen import ChatScreen

        screen = self.screen
        if not isinstance(screen, ChatScreen) or not screen.typing:
            return
        for binding in KEYS:
            if binding.action in LETTERS - _ASIDE and screen.works(binding.action):
                yield binding.description, partial(_act, screen, binding.action)


def _act(screen: ChatScreen, action: str) -> object:
    return getattr(screen, f"action_{action}")()

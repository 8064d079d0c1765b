"""Saying what others wrote, but not at every note of an agent that writes all the time."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from amem_tui.browse.news import told

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from amem_tui.browse.news import News

_PAUSE = 4.0


class Headlines:
    """Gathers news and tells them at most every few seconds."""

    def __init__(self, say: Callable[[str], None], now: Callable[[], float] = monotonic) -> None:
        self._say, self._now = say, now
        self._counts: Counter[str] = Counter()
        self._said = -_PAUSE

    def hear(self, news: News, *, but: Set[str]) -> None:
        """Take in what is new, and say it unless something was said a moment ago; `but` need not be told of."""
        for actor, ids in news.made.items():
            if unseen := len(set(ids) - but):
                self._counts[actor] += unseen
        if self._counts and self._now() - self._said >= _PAUSE:
            self._say(told(self._counts))
            self._counts.clear()
            self._said = self._now()

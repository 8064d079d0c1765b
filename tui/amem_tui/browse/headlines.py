"""Saying what others wrote, but not at every note of an agent that writes all the time."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from amem_tui.browse.news import told

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from amem_tui.browse.news import News

#: Seconds between two of them.
_PAUSE = 4.0


class Headlines:
    """Gathers news and `say`s them at most every few seconds; `later` calls something after so many seconds."""

    def __init__(self, say: Callable[[str], None], later: Callable[[float, Callable[[], None]], object]) -> None:
        self._say, self._later = say, later
        self._counts: Counter[str] = Counter()
        self._free = 0.0
        self._waiting = False

    def hear(self, news: News, *, but: Set[str]) -> None:
        """Take in what is new, and say it, now or soon; `but` need not be told of."""
        for actor, ids in news.made.items():
            if unseen := len(set(ids) - but):
                self._counts[actor] += unseen
        if self._counts and not self._waiting:
            self._waiting = (left := self._free - monotonic()) > 0
            if self._waiting:
                self._later(left, self._tell)
            else:
                self._tell()

    def _tell(self) -> None:
        self._say(told(self._counts))
        self._counts.clear()
        self._free = monotonic() + _PAUSE
        self._waiting = False

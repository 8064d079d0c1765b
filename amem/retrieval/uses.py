"""Counts hits as used: best effort, in one small write, never in the way of an answer."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from amem.errors import StorageBusy, StorageFull, StorageReadOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.clock import Clock
    from amem.storage import Store

logger = logging.getLogger("amem.retrieval")

#: Longest that an answer waits for its use to be counted.
_PATIENCE = 0.25


class Uses:
    """Counts at most one use per note and day; remembers today's, so that most searches write nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._day = ""
        self._counted: set[int] = set()

    def count(self, keys: Sequence[int]) -> None:
        """Count these notes as used; nothing happens in a collection that cannot be written now."""
        fresh = self._fresh(keys)
        if not fresh or self._store.read_only:
            return
        try:
            with self._store.write(wait=_PATIENCE) as session:
                session.usage.touch(fresh)
        except (StorageBusy, StorageFull, StorageReadOnly) as error:
            logger.warning("the use of %d notes was not counted: %s", len(fresh), error)
            return
        with self._lock:
            self._counted.update(fresh)

    def _fresh(self, keys: Sequence[int]) -> list[int]:
        today = self._clock.now().date().isoformat()
        with self._lock:
            if today != self._day:
                self._day, self._counted = today, set()
            return [key for key in dict.fromkeys(keys) if key not in self._counted]

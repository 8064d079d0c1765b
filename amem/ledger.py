"""Keeps what models cost in the collection's own database, by the day of its time zone."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from amem.errors import StorageError
from amem.llm.guarded import Spent

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from amem.clock import Clock
    from amem.storage.store import Store

_log = logging.getLogger(__name__)
#: Seconds that an answer waits for its cost to be written down, while others write; else the next entry holds it too.
_PATIENCE = 2.0


def day_of(moment: datetime, zone: tzinfo) -> str:
    """The day that what is spent at that time belongs to."""
    return moment.astimezone(zone).date().isoformat()


class StoreLedger:
    """The ledger of one collection; many processes may keep one each. Days begin at midnight in `zone`.

    An answer that has been paid for must not be lost because its cost could not be written down (a full disk, a
    read-only folder): that is logged, still counts in this process, and is written with the next entry that can be.
    """

    def __init__(self, store: Store, clock: Clock, zone: tzinfo) -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._lock = threading.Lock()
        self._unwritten: dict[tuple[str, str], Spent] = {}

    @property
    def today(self) -> str:
        """The day that is counted now, as ``2026-03-01``."""
        return day_of(self._clock.now(), self._zone)

    def spent_today(self) -> int:
        """Tokens read and written today, by every process."""
        today = self.today
        with self._lock:
            here = sum(
                spent.tokens_in + spent.tokens_out for (day, _), spent in self._unwritten.items() if day == today
            )
            with self._store.read() as session:
                return session.spending.of(today) + here

    def add(self, model: str, spent: Spent) -> None:
        """Count what calls to a model cost today."""
        key = (self.today, model)
        with self._lock:
            entries = self._unwritten | {key: self._unwritten.get(key, Spent()) + spent}
            try:
                with self._store.write(wait=_PATIENCE) as session:
                    for (day, name), each in entries.items():
                        session.spending.add(
                            day, name, calls=each.calls, tokens_in=each.tokens_in, tokens_out=each.tokens_out
                        )
            except StorageError as error:
                self._unwritten = entries
                _log.warning("what %s cost could not be written down: %s", model, error)
            else:
                self._unwritten = {}

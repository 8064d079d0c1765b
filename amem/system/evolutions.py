"""How often the notes of a collection evolved, over all processes, so that every so many of them it is consolidated."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from amem.errors import StorageError

if TYPE_CHECKING:
    from amem.storage.jobs import Evolved
    from amem.storage.store import Store

_log = logging.getLogger("amem")
#: Evolutions that a process counts before it writes them down; what a killed one had not written is not counted.
_AT_ONCE = 10


class EvolutionCount:
    """Counts evolutions in this process, and adds them to the collection's own count now and then."""

    def __init__(self, store: Store, every: int) -> None:
        self._store, self._every = store, every
        self._lock = threading.Lock()
        self._kept: Evolved | None = None
        self._unwritten = 0

    @property
    def total(self) -> int:
        """All evolutions of the collection, those of other processes as of when they were last written down."""
        with self._lock:
            return self._held().total + self._unwritten

    def count(self, evolved: int) -> bool:
        """Count so many more; True when a consolidation is due, which `consolidated` says is done.

        A count that cannot be written down now (a full disk, a closed collection) is written down with the next.
        """
        if not evolved or self._store.read_only:
            return False
        with self._lock:
            self._unwritten += evolved
            try:
                kept = self._held()
                if self._unwritten >= _AT_ONCE or kept.total + self._unwritten - kept.at >= self._every:
                    self._write()
                kept = self._held()
            except StorageError as error:
                _log.warning("what evolved could not be counted yet: %s", error)
                return False
            return kept.total - kept.at >= self._every

    def consolidated(self, seq: int) -> None:
        """A consolidation has seen the collection up to this value of the change counter."""
        with self._lock:
            self._write()
            with self._store.write() as session:
                session.evolutions.consolidated(seq)
                self._kept = session.evolutions.read()

    def write(self) -> None:
        """Write down what this process has counted. Raises StorageError."""
        with self._lock:
            self._write()

    def _held(self) -> Evolved:
        if self._kept is None:
            with self._store.read() as session:
                self._kept = session.evolutions.read()
        return self._kept

    def _write(self) -> None:
        if self._unwritten:
            with self._store.write() as session:
                self._kept = session.evolutions.add(self._unwritten)
            self._unwritten = 0

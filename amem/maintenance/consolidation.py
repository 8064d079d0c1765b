"""Consolidation: the index brought up to date, and rewordings merged, after every so many evolutions."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import MaintenanceRunning, StorageError
from amem.maintenance.cycle import CONSOLIDATION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.collection import Collection
    from amem.collection_retriever import CollectionRetriever
    from amem.maintenance.phase import MaintenanceReport
    from amem.note import Receipt
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


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Keeps the index of one collection in step with what is written, and consolidates it when that is due.

    `maintain` runs a cycle of maintenance; `notify` hears in a line what it changed.
    """

    collection: Collection
    evolutions: EvolutionCount
    retriever: CollectionRetriever
    maintain: Callable[[str], MaintenanceReport]
    notify: Callable[[str], None] | None

    def run(self) -> int:
        """Embed what changed since the last time, and merge rewordings; returns how many notes were embedded."""
        with self.collection.store.read() as session:
            counter, seen = session.counter, session.evolutions.read().seq
        embedded = self.collection.vectorizer.embed_missing(after=seen)
        self.collection.dense.refresh()
        self.retriever.refill()
        if self.collection.settings.nightly and not self.collection.store.read_only:
            try:
                report = self.maintain(CONSOLIDATION)
            except MaintenanceRunning:  # which merges, too
                _log.info("maintenance is running: consolidation leaves merging to it")
            else:
                if self.notify is not None and (line := report.line()):
                    self.notify(line)
        if not self.collection.store.read_only:
            self.evolutions.consolidated(counter)
        return embedded

    def keep_up(self, receipts: Sequence[Receipt]) -> None:
        """Count what evolved, and consolidate where that is due. Raises nothing: the notes are stored in any case."""
        due = self.count(receipts)
        try:
            if self.collection.vectorizer.reads(["context", "tags"]):
                # Evolution changed what is embedded of these; until it is embedded, only their words find them.
                touched = {id for receipt in receipts for id in (receipt.id, *(each.id for each in receipt.evolved))}
                self.collection.vectorizer.embed_missing(sorted(touched))
            if due:
                self.run()
        except Exception as error:  # the next consolidation makes up for it
            _log.warning("the index is not up to date yet: %s", error)

    def count(self, receipts: Sequence[Receipt]) -> bool:
        """Count those that evolved anything; True when a consolidation is due."""
        return self.evolutions.count(sum(1 for receipt in receipts if receipt.links or receipt.evolved))

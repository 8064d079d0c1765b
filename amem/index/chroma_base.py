"""Chroma as the base of the dense leg: checked, fed and, when it breaks, rebuilt by a thread of its own.

Only the process that holds ``chroma.lock`` touches the folder. In Chroma a vector's id is its note's key and a hash of
the vector, so an id never changes its vector: which rows Chroma holds can be read off its ids, whoever wrote them and
however that ended. Rows it holds are *covered*; all others are scanned exactly by each search, so an answer is right
whatever state Chroma is in.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.index.chroma import ChromaFailed, failures_as_exceptions
from amem.index.chroma_folder import LOCK, ChromaFolder
from amem.index.feed import ACTIVE, GONE
from amem.index.topk import contenders

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.index.chroma import ChromaIndex
    from amem.index.rows import Hits, Matrix, Rows

logger = logging.getLogger("amem.index")

_FEED = 500
_PROBES, _MISSES = 32, 8
_TRIES = 3
_LOOSE = 2_000
_RETRY = 30.0
_QUIET = 3.0


class Coverage(Protocol):
    """What the base needs of the dense leg."""

    @property
    def rows(self) -> Rows:
        """The rows as they are now."""
        ...

    def cover(self, seen: Rows, chosen: NDArray[np.intp], covered: bool) -> bool:
        """Mark rows of `seen` as covered or not; False when they have been renumbered since."""
        ...


class _Renumbered(Exception):
    """The rows were packed or reloaded while Chroma was being fed."""


class ChromaBase:
    """Keeps a Chroma folder in step with the rows, in the background, and asks it."""

    def __init__(self, folder: Path, leg: Coverage, *, feed_from: int = 1_000) -> None:
        self._leg, self._feed_from = leg, feed_from
        self._folder, self._lock = ChromaFolder(folder), folder / LOCK
        self._index: ChromaIndex | None = None
        self._held = 0
        self._failure: str | None = None
        self._state = "not started"
        self._signal = threading.Condition()
        self._stop = self._dirty = self._resting = False
        self._asked = self._fed = 0
        self._thread: threading.Thread | None = None
        self._not_before = 0.0

    @property
    def state(self) -> str:
        """What it is doing or why it is not used, in words."""
        return self._state

    @property
    def serving(self) -> bool:
        """True while searches may ask Chroma."""
        return self._index is not None

    def follow(self, rows: Rows) -> None:
        """Take note of new rows: start the thread where none runs, wake it where there is enough to do."""
        with self._signal:
            self._start()
            gone = rows.covered & (rows.states == GONE)
            if len(rows.loose) >= self._feed_from or gone.any() or self._index is None:
                self._poke()

    def wait(self, timeout: float) -> bool:
        """Have Chroma fed with every row; False when it is not within `timeout` seconds, or never will be."""
        with self._signal:
            self._start()
            self._asked += 1
            ticket = self._asked
            self._poke()
            self._signal.wait_for(lambda: self._fed >= ticket or not self._running(), timeout)
            return self._fed >= ticket and self.serving

    def close(self, timeout: float = 30.0) -> None:
        """Stop the thread, which closes Chroma and gives the lock back."""
        with self._signal:
            self._stop = True
            self._poke()
        if self._thread is not None:
            self._thread.join(timeout)
        atexit.unregister(self.close)

    def search(self, rows: Rows, vector: Matrix, k: int) -> Hits | None:
        """The k nearest active rows, from Chroma and an exact scan of what it lacks; None: scan everything.

        More than k are fetched, as some hits may be superseded, archived or gone; HNSW is not trusted to give more
        than a quarter of what it holds.
        """
        index, fetch = self._index, 2 * k + 16
        if index is None and not self._running():
            with self._signal:
                self._start()
        if index is None or len(rows.loose) > max(_LOOSE, len(rows.keys) // 20):
            return None
        while 4 * fetch <= self._held:
            try:
                with failures_as_exceptions():
                    hits = index.nearest(vector, fetch)
            except ChromaFailed as failure:
                self._broken(index, failure)
                return None
            keys = np.array([int(name.partition(":")[0]) for name, _ in hits], dtype=np.int64)
            found = np.unique(rows.find(keys))
            found = found[found >= 0]
            found = found[rows.covered[found] & (rows.states[found] == ACTIVE)]
            if len(found) >= k:
                near = contenders(np.einsum("ij,j->i", rows.loose_vectors(), vector), k)
                return rows.rank(vector, np.concatenate((found, rows.loose[near])), k)
            fetch *= 4
        return None

    def _broken(self, index: ChromaIndex, failure: ChromaFailed) -> None:
        with self._signal:
            # A query that raised because its client was being closed says nothing about the folder.
            if index is self._index:
                self._index, self._failure = None, str(failure)
                self._poke()

    def _running(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and not self._resting

    def _start(self) -> None:
        if self._running() or self._stop or time.monotonic() < self._not_before:
            return
        self._resting = False
        self._thread = threading.Thread(target=self._run, name="amem-chroma", daemon=True)
        self._thread.start()
        # A daemon thread that is in the middle of a write when the interpreter goes could break the folder.
        atexit.register(self.close)

    def _poke(self) -> None:
        self._dirty = True
        self._signal.notify_all()

    def _run(self) -> None:
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock, mode=0o600)
        try:
            with lock.acquire(timeout=0):
                self._hold()
        except Timeout:
            self._rest("in use by another process; this one scans exactly", _RETRY)
        except OSError as error:
            self._rest(f"cannot be locked ({error}); scanning exactly", _RETRY)

    def _rest(self, state: str, seconds: float) -> None:
        with self._signal:
            self._state, self._not_before = state, time.monotonic() + seconds
            self._resting = True
            self._signal.notify_all()

    def _hold(self) -> None:
        """Keep the folder for as long as the process wants it; rebuild it when it breaks, but not for ever."""
        for attempt in range(1, _TRIES + 1):
            try:
                with failures_as_exceptions():
                    while not self._stop:
                        self._keep()
                self._state = "closed"
                return
            except ChromaFailed as failure:
                self._index = None
                self._folder.set_aside()
                logger.warning("the Chroma folder is broken (%s); moved aside, search scans exactly", failure)
                if attempt == _TRIES:
                    self._rest(f"given up after {_TRIES} failures ({failure}); scanning exactly", float("inf"))

    def _keep(self) -> None:
        """Open the folder and keep it in step until told to stop, or until the rows belong to another space."""
        rows = first = self._leg.rows
        self._state, self._failure = "opening", None
        index = self._folder.open(rows.space, rows.dimension)
        known: object = None
        while not self._stop and (rows.space, rows.dimension) == (first.space, first.dimension):
            self._dirty = False
            if self._failure is not None:
                raise ChromaFailed(self._failure)
            try:
                if known is not rows.matrix:
                    self._index = None
                    self._reconcile(index, rows)
                    known = rows.matrix
                self._feed(index, self._leg.rows, everything=self._index is None)
            except _Renumbered:
                self._dirty = True
            with self._signal:
                woken = self._signal.wait_for(lambda: self._dirty, None if self._folder.settled else _QUIET)
            if not woken:
                self._folder.settle()
            rows = self._leg.rows
        if self._failure is not None:
            raise ChromaFailed(self._failure)
        self._index = None
        self._folder.settle()
        self._folder.close()

    def _reconcile(self, index: ChromaIndex, rows: Rows) -> None:
        """Read off Chroma's ids which rows it holds, delete what it should not hold, and ask it for a few."""
        self._state = "checking"
        held = set(index.ids())
        kept = np.flatnonzero(rows.states != GONE)
        names = _names(rows, kept)
        inside = np.fromiter((name in held for name in names), dtype=np.bool_, count=len(names))
        stale = held.difference(names)
        if stale:
            self._folder.disturb()
            index.delete(stale)
        self._held = len(held) - len(stale)
        self._probe(index, rows, kept[inside])
        self._mark(rows, np.arange(len(rows.keys)), False)
        self._mark(rows, kept[inside], True)

    def _probe(self, index: ChromaIndex, rows: Rows, covered: NDArray[np.intp]) -> None:
        """Ask for a few vectors that are there: ids can outlive their vectors."""
        chosen = covered[:: max(1, len(covered) // _PROBES)][:_PROBES]
        misses = 0
        for vector in rows.take(chosen):
            hits = index.nearest(vector, 1)
            misses += not hits or hits[0][1] < 0.999
        if misses > len(chosen) * _MISSES / _PROBES:
            raise ChromaFailed(f"{misses} of {len(chosen)} vectors are not found by a search for them")

    def _feed(self, index: ChromaIndex, rows: Rows, *, everything: bool) -> None:
        asked = self._asked
        dead = np.flatnonzero(rows.covered & (rows.states == GONE))
        if len(dead):
            # Uncovered first: a note that is restored meanwhile is then scanned until it is fed again.
            self._mark(rows, dead, False)
            self._folder.disturb()
            index.delete(_names(rows, dead))
            self._held -= len(dead)
        fresh = np.flatnonzero(~rows.covered & (rows.states != GONE))
        if everything or asked > self._fed or len(fresh) >= self._feed_from:
            for start in range(0, len(fresh), _FEED):
                if self._stop:
                    return
                self._state = f"feeding, {len(fresh) - start:,} of {len(rows.keys):,} vectors to go"
                some = fresh[start : start + _FEED]
                self._folder.disturb()
                index.upsert(_names(rows, some), rows.take(some))
                self._held += len(some)
                self._mark(rows, some, True)
        with self._signal:
            self._index, self._fed = index, asked
            self._state = f"serving {self._held:,} vectors"
            self._signal.notify_all()

    def _mark(self, rows: Rows, chosen: NDArray[np.intp], covered: bool) -> None:
        if not self._leg.cover(rows, chosen, covered):
            raise _Renumbered


def _names(rows: Rows, chosen: NDArray[np.intp]) -> list[str]:
    """The ids of rows in Chroma: key and hash of the vector."""
    names: list[str] = []
    for start in range(0, len(chosen), _FEED):
        some = chosen[start : start + _FEED]
        for key, vector in zip(rows.keys[some].tolist(), rows.take(some), strict=True):
            names.append(f"{key}:{blake2b(vector.tobytes(), digest_size=8).hexdigest()}")
    return names

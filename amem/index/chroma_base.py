"""A collection's notes in Chroma: kept in step with the store by a thread, checked, rebuilt when it breaks, searched.

Only the process that holds ``chroma.lock`` touches the folder. Every note that is not deleted is in there under its own
id, with its vector, text and metadata. The thread follows the change counter: what changed since the value it has
reached is stored again or deleted, in batches. Rows of the dense leg that Chroma holds are *covered*; all others are
scanned exactly by each search, so an answer is right whatever state Chroma is in. Whether Chroma is asked at all is a
matter of speed: from `serve_from` notes on.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import AmemError
from amem.index.chroma import ChromaFailed, failures_as_exceptions
from amem.index.chroma_folder import LOCK, ChromaFolder
from amem.index.vector_rows import ACTIVE, GONE, contenders

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.index.chroma import ChromaIndex
    from amem.index.dense_index import DenseLeg
    from amem.index.vector_rows import Hits, Matrix, Rows, VectorFeed

logger = logging.getLogger("amem.index")

#: Notes stored at once; between two batches the thread looks whether it has to stop.
BATCH = 250
_PROBES, _MISSES = 32, 8
_TRIES = 3
_LOOSE = 2_000
#: Seconds: until a lock that another process holds is tried again; between two looks for what others wrote; without
#: new notes before they are stored, and as long as that is waited for. Each costs Chroma twice as much alone, an import
#: needs the processor itself, and one batch of it may take seconds on a busy machine.
_RETRY, _POLL, _GATHER, _GATHER_MOST = 30.0, 2.0, 10.0, 600.0
#: Seconds that importing Chroma takes, and storing one note in it.
_IMPORT, _EACH = 1.0, 0.008
#: Seconds that the end of the process waits for the thread.
_EXIT = 30.0


class _Renumbered(Exception):
    """The rows were packed, reloaded or embedded anew while Chroma was being fed."""


class ChromaBase:
    """Keeps a Chroma folder in step with the notes, in the background, and asks it."""

    def __init__(
        self, folder: Path, leg: DenseLeg, source: VectorFeed, *, serve_from: int = 0, pause: float = _GATHER
    ) -> None:
        self._leg, self._source = leg, source
        self._serve_from, self._pause = serve_from, pause
        self._folder, self._lock = ChromaFolder(folder), folder / LOCK
        self._index: ChromaIndex | None = None
        self._upto = self._held = 0
        self._failure: str | None = None
        self._state = "not started"
        self._signal = threading.Condition()
        self._stop = self._dirty = self._resting = self._unchecked = False
        self._asked = self._fed = 0
        self._thread: threading.Thread | None = None
        self._not_before = 0.0
        self._deadline = float("inf")

    @property
    def state(self) -> str:
        """What it is doing or why it is not used, in words."""
        return self._state

    @property
    def serving(self) -> bool:
        """True while searches ask Chroma."""
        return self._index is not None and self._leg.rows.kept >= self._serve_from

    def follow(self, rows: Rows) -> None:
        """Take note of new rows: start the thread where none runs, wake it where there is something to do."""
        with self._signal:
            self._start()
            if rows.seq != self._upto:
                self._poke()

    def index(self, timeout: float, *, check: bool = False) -> ChromaIndex | None:
        """The open index once it holds every note; None when that takes longer, or another process has the folder.

        With `check` Chroma is counted and probed again, as when it is opened.
        """
        with self._signal:
            self._start()
            self._unchecked |= check
            self._asked += 1
            ticket = self._asked
            self._poke()
            self._signal.wait_for(lambda: self._fed >= ticket or not self._running(), timeout)
            return self._index if self._fed >= ticket else None

    def close(self, timeout: float = 2.0) -> None:
        """Store what is missing if that takes no longer than `timeout` seconds, else leave it to the next process.

        The lock is given back when the thread ends, which may be a little later. May be called again.
        """
        with self._signal:
            self._deadline = min(self._deadline, time.monotonic() + timeout)
            self._stop = True
            self._poke()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return  # `_at_exit` waits for it: a thread that is in Chroma when the interpreter goes may crash it.
        atexit.unregister(self._at_exit)

    def search(self, rows: Rows, vector: Matrix, k: int) -> Hits | None:
        """The k nearest active rows, from Chroma and an exact scan of what it lacks; None: scan everything.

        More than k are fetched, as some hits may be superseded, archived or gone; HNSW is not trusted to give more
        than a quarter of what it holds.
        """
        index, fetch = self._index, 2 * k + 16
        if index is None or rows.kept < self._serve_from:
            if not self._running():
                with self._signal:
                    self._start()
            return None
        if len(rows.loose) > max(_LOOSE, len(rows.keys) // 20):
            return None
        while 4 * fetch <= self._held:
            try:
                with failures_as_exceptions():
                    hits = index.nearest(vector, fetch)
            except ChromaFailed as failure:
                self._broken(index, failure)
                return None
            keys = np.array(list(self._source.keys_of([name for name, _ in hits]).values()), dtype=np.int64)
            found = np.unique(rows.find(keys))
            found = found[found >= 0]
            found = found[rows.covered[found] & (rows.states[found] == ACTIVE)]
            if len(found) >= k:
                near = contenders(np.einsum("ij,j->i", rows.loose_vectors, vector), k)
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
        atexit.register(self._at_exit)

    def _at_exit(self) -> None:
        self.close()
        if self._thread is not None:
            self._thread.join(_EXIT)

    def _poke(self) -> None:
        self._dirty = True
        self._signal.notify_all()

    def _late(self) -> bool:
        """Whether the collection is closed, and the time for last batches over."""
        return self._stop and time.monotonic() >= self._deadline

    def _run(self) -> None:
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock, mode=0o600)
        try:
            with lock.acquire(timeout=0):
                self._hold()
        except Timeout:
            self._rest("kept by another process; this one scans exactly", _RETRY)
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
                    while not self._stop or (self._behind() and not self._late()):
                        self._keep()
                self._state = "closed"
                return
            except ChromaFailed as failure:
                self._index = None
                if self._late():  # the store was closed meanwhile: that says nothing of the folder
                    self._folder.close()
                    return
                self._folder.set_aside()
                logger.warning("the Chroma folder is broken (%s); moved aside, search scans exactly", failure)
                if attempt == _TRIES:
                    self._rest(f"given up after {_TRIES} failures ({failure}); scanning exactly", float("inf"))
            except AmemError as error:  # the store: closed under our hands, busy for long, damaged
                self._index = None
                self._folder.close()
                if not self._stop:
                    self._rest(f"the notes cannot be read ({error})", _RETRY)
                return

    def _behind(self) -> bool:
        """Whether the folder has to be opened: it lacks changes, somebody asks for it, or searches profit from it."""
        if self._asked > self._fed:
            return True
        self._leg.refresh()
        rows = self._leg.rows
        if not rows.dimension:
            return False
        if rows.kept >= self._serve_from and not self._stop:
            return True
        label = self._folder.label()
        return label is None or label.files is None or (label.space, label.seq) != (rows.space, rows.seq)

    def _takes(self) -> float:
        """Seconds that importing Chroma takes, and storing what the folder lacks or has as it was."""
        label = self._folder.label()
        seq = 0 if label is None or label.files is None else label.seq
        return _IMPORT + _EACH * len(self._source.touched(seq)[1])

    def _keep(self) -> None:
        """Wait until the folder is needed, open it, and keep it in step until told to stop or another space begins."""
        self._failure = None
        while not self._behind():
            self._state = "in step"
            with self._signal:
                self._signal.wait_for(lambda: self._dirty or self._stop, _POLL)
                self._dirty = False
            if self._stop:
                return
        # Where it holds notes from before a purge, not even for the time of that import.
        self._folder.forget_others(self._leg.rows.space)
        # Importing Chroma takes a second that a process which has just started, or imports notes, needs for its user.
        self._gather(self._pause)
        if self._stop and self._asked == self._fed and time.monotonic() + self._takes() > self._deadline:
            self._deadline = 0.0  # given up half way nothing would be left of it
            return
        import chromadb  # noqa: F401  # here, to look at the time after it

        if self._late():
            return
        rows = first = self._leg.rows
        self._state = "opening"
        index, self._upto = self._folder.open(rows.space, rows.dimension)
        self._unchecked |= self._upto > 0
        known: object = None
        while (rows.space, rows.dimension) == (first.space, first.dimension):
            if self._failure is not None:
                raise ChromaFailed(self._failure)
            try:
                if known is not rows.matrix:
                    self._index = None
                    self._cover_what_is_held(rows)
                    known = rows.matrix
                self._feed(index, rows)
            except _Renumbered:
                self._dirty = True
            if self._stop:
                break
            self._idle()
            self._leg.refresh()
            rows = self._leg.rows
        self._index = None
        self._folder.settle(self._upto)
        self._folder.close()

    def _idle(self) -> None:
        """Wait for something to do; label the folder when nothing is."""
        while not (self._stop or self._failure):
            with self._signal:
                woken = self._signal.wait_for(lambda: self._dirty or self._stop, _POLL)
            if not woken:
                self._leg.refresh()  # which pokes this thread where another process has written
                if not self._dirty:
                    if not self._folder.settled:
                        self._folder.settle(self._upto)
                    continue
            self._gather(_GATHER)
            break
        self._dirty = False

    def _gather(self, quiet: float) -> None:
        """Wait until nobody has written for `quiet` seconds, `_GATHER_MOST` at most; no longer once it is asked for.

        As long as somebody writes for long, it waits in any case.
        """
        until = time.monotonic() + _GATHER_MOST
        with self._signal:
            while self._leg.is_written or time.monotonic() < until:
                self._dirty = False
                pause = _POLL if self._leg.is_written else quiet
                if self._signal.wait_for(lambda: self._stop or self._asked > self._fed, pause):
                    return
                if not (self._dirty or self._leg.is_written):
                    return

    def _cover_what_is_held(self, rows: Rows) -> None:
        """Mark the rows that Chroma holds: all but those of notes that changed after it was last in step."""
        covered = rows.states != GONE
        _, touched = self._source.touched(self._upto)
        if not self._upto:
            covered[:] = False
        covered &= ~np.isin(rows.keys, touched)
        self._mark(rows, np.flatnonzero(~covered), False)
        self._mark(rows, np.flatnonzero(covered), True)

    def _feed(self, index: ChromaIndex, rows: Rows) -> None:
        """Store and delete what changed since Chroma was last in step; given up when the collection is closed."""
        asked, seq = self._asked, rows.seq
        counter, keys = self._source.touched(self._upto)
        for start in range(0, len(keys), BATCH):
            if self._late():
                return
            self._state = f"feeding, {len(keys) - start:,} notes to go"
            self._put(index, rows, keys[start : start + BATCH])
        self._held = len(index)
        if self._unchecked and counter == seq == self._source.counter():
            self._unchecked = False
            self._check(index, rows)
        with self._signal:
            self._upto = min(counter, seq)
            self._index, self._fed = index, asked
            self._state = f"in step, {self._held:,} notes"
            self._signal.notify_all()

    def _put(self, index: ChromaIndex, rows: Rows, keys: NDArray[np.int64]) -> None:
        at = rows.find(keys)
        notes = self._source.described(keys.tolist())
        alive = (at >= 0) & np.isin(keys, list(notes))
        alive[alive] = rows.states[at[alive]] != GONE
        if not alive.all():
            # Uncovered first: a note that is restored meanwhile is then scanned until it is stored again.
            dead = at[~alive]
            self._mark(rows, dead[dead >= 0], False)
            self._folder.disturb()
            index.delete_notes(keys[~alive].tolist())
        if alive.any():
            self._folder.disturb()
            index.put_notes([(key, notes[key]) for key in keys[alive].tolist()], rows.take(at[alive]))
            self._mark(rows, at[alive], True)

    def _check(self, index: ChromaIndex, rows: Rows) -> None:
        """Count what Chroma holds and ask it for a few vectors: ids can outlive their vectors. Raises ChromaFailed."""
        if self._held != rows.kept:
            raise ChromaFailed(f"it holds {self._held:,} notes of {rows.kept:,}")
        kept = np.flatnonzero(rows.states != GONE)
        chosen = kept[:: max(1, len(kept) // _PROBES)][:_PROBES]
        misses = 0
        for vector in rows.take(chosen):
            hits = index.nearest(vector, 1)
            misses += not hits or hits[0][1] < 0.999
        if misses > len(chosen) * _MISSES / _PROBES:
            raise ChromaFailed(f"{misses} of {len(chosen)} vectors are not found by a search for them")

    def _mark(self, rows: Rows, chosen: NDArray[np.intp], covered: bool) -> None:
        if not self._leg.cover(rows, chosen, covered):
            raise _Renumbered

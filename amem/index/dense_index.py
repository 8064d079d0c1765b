"""The dense leg: every committed vector, searched exactly, or by Chroma with an exact scan of what it lacks.

The truth is in the store. The leg follows its change counter, keeps the vectors in memory (their bulk mapped from a
cache file) and answers from one consistent state of them. Any number of threads may search while one refreshes.
"""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from amem.errors import InvalidInput, StorageCorrupt
from amem.index.vector_rows import GONE, NAME, CacheDamaged, Rows, Tail, read_cache, write_cache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from amem.index.chroma import ChromaIndex
    from amem.index.chroma_base import ChromaBase
    from amem.index.vector_rows import Hits, Keys, Matrix, VectorDelta, VectorFeed


logger = logging.getLogger("amem.index")

#: Below this many rows the database is read as fast as a file.
WORTH_CACHING = 1_000
#: From so many notes on Chroma is asked. Below, comparing all takes some 20 ms at most, misses none, and needs no graph
#: of gigabytes to be built, opened and held (docs/adr/0035).
CHROMA_FROM = 1_000_000
_SHARE = 0.1
#: Seconds that closing waits for Chroma to take in the last notes.
CLOSING = 2.0


class DenseLeg:
    """Nearest notes by cosine. Keys are the store's integers; vectors are L2-normalised float32.

    `folder` None keeps everything in memory. With `base` "auto" or "chroma" the process that gets its lock keeps the
    notes in Chroma, too; "auto" asks it from `chroma_from` notes on, where it is the quicker one, "chroma" always;
    "exact" never imports it. Nothing is read before the first `refresh` or search.
    """

    def __init__(
        self,
        feed: VectorFeed,
        *,
        folder: Path | None,
        base: Literal["auto", "exact", "chroma"] = "auto",
        chroma_from: int = CHROMA_FROM,
        pause: float = 10.0,
    ) -> None:
        self._feed, self._folder = feed, folder
        self._wanted, self._chroma_from, self._pause = base, 0 if base == "chroma" else chroma_from, pause
        self._lock = threading.RLock()
        self._rows: Rows | None = None
        self._tail = Tail()
        self._cache_state = "none" if folder else "none, kept in memory"
        self._cache_works, self._cached = folder is not None, False
        self._chroma: ChromaBase | None = None
        self._writing = 0
        self._closed = False

    @property
    def rows(self) -> Rows:
        """The vectors as of the last refresh."""
        if self._rows is None:
            self.refresh()
        assert self._rows is not None
        return self._rows

    @property
    def seq(self) -> int:
        """The change counter that searches answer for; 0 before the first refresh."""
        return 0 if self._rows is None else self._rows.seq

    @contextmanager
    def fed_later(self) -> Iterator[None]:
        """Feed Chroma only on demand within the block, since a long write needs the processor itself."""
        with self._lock:
            self._writing += 1
        try:
            yield
        finally:
            with self._lock:
                self._writing -= 1

    @property
    def is_written(self) -> bool:
        """Whether somebody writes for long: see `fed_later`."""
        return self._writing > 0

    def __len__(self) -> int:
        return self.rows.kept

    def refresh(self, seen: int | None = None) -> None:
        """Take in what any process has committed since; microseconds when that is nothing.

        `seen` is the change counter where the caller has just read it.
        """
        rows = self._rows
        if rows is not None and (self._feed.counter() if seen is None else seen) == rows.seq:
            return
        with self._lock:
            rows = self._rows
            if rows is None:
                rows = self._from_cache()
            rows = self._caught_up(rows)
            self._rows = rows
            self._keep_tidy()
            self._follow_with_chroma()

    def search(self, vector: ArrayLike, k: int, *, allowed: Keys | None = None) -> Hits:
        """The k nearest as (keys, cosines), best first, equal cosines by key.

        `allowed` None asks the active notes; else exactly those keys answer, whatever their state unless gone.
        """
        rows = self.rows
        question = self._question(rows, vector)
        if k < 1 or not rows.dimension:
            return _nothing()
        if allowed is not None:
            return rows.search_among(question, k, np.asarray(allowed, dtype=np.int64))
        if self._chroma is not None:
            hits = self._chroma.search(rows, question, k)
            if hits is not None:
                return hits
        return rows.search(question, k)

    def search_many(
        self,
        matrix: ArrayLike,
        k: int,
        *,
        allowed: Keys | None = None,
        least: float = -1.0,
        without: Keys | None = None,
    ) -> list[Hits]:
        """As `search`, for each row of `matrix`; always exact.

        Only hits of a cosine of `least` at least, and for each question none of the key that it is to be `without`.
        """
        rows = self.rows
        questions = np.ascontiguousarray(matrix, dtype=np.float32)
        if k < 1 or not rows.dimension or not len(questions):
            return [_nothing() for _ in questions]
        self._question(rows, questions[0])
        kept = None if allowed is None else np.asarray(allowed, dtype=np.int64)
        if len(questions) == 1 and least <= -1.0 and without is None:
            # For a single question the plain scan is twice as fast as a matrix product.
            return [rows.search(questions[0], k) if kept is None else rows.search_among(questions[0], k, kept)]
        return rows.search_many(questions, k, allowed=kept, least=least, without=without)

    def cosines(self, vector: ArrayLike, keys: ArrayLike) -> NDArray[np.float32]:
        """Cosine of each key's vector with `vector`; nan for keys that have none."""
        rows = self.rows
        question = self._question(rows, vector)
        found, known = _known(rows, keys)
        out = np.full(len(found), np.nan, dtype=np.float32)
        out[known] = rows.cosines(question, found[known])
        return out

    def typical(self, vector: ArrayLike) -> tuple[float, float]:
        """Mean and spread (standard deviation, above 0) of the cosines of a fixed sample of the active notes.

        Where there are few notes, what is usual for sentence encoders stands in for those that are missing.
        """
        rows = self.rows
        return rows.typical(self._question(rows, vector))

    def vectors(self, keys: ArrayLike) -> Matrix:
        """Each key's vector, shape (len(keys), dimension); a row of nan for keys that have none."""
        rows = self.rows
        found, known = _known(rows, keys)
        out = np.full((len(found), rows.dimension), np.nan, dtype=np.float32)
        out[known] = rows.take(found[known])
        return out

    def status(self) -> dict[str, Any]:
        """For ``amem doctor``: what answers, how much it holds, and the state of cache and Chroma in words."""
        rows = self.rows
        chroma = self._chroma
        return {
            "base": "chroma" if chroma is not None and chroma.serving else "exact",
            "wanted": self._wanted,
            "size": rows.kept,
            "tail": len(rows.tail),
            "seq": rows.seq,
            "space": rows.space,
            "path": None if self._folder is None else str(self._folder),
            "cache": self._cache_state,
            "chroma": "off" if chroma is None else chroma.state,
        }

    def flush(self, timeout: float = 60.0) -> None:
        """Write the cache file now, and have Chroma hold every note where this process keeps it."""
        self.write_cache()
        self.wait_for_chroma(timeout)

    def forget_purged(self, timeout: float = 30.0) -> bool:
        """Have no file but the database hold anything from before a purge, which began another space.

        False when another process has Chroma's folder open and does not let go of it within `timeout` seconds.
        """
        from amem.index.chroma_folder import forget_purged

        if self._folder is None:
            return True
        (self._folder / NAME).unlink(missing_ok=True)
        self.write_cache()
        return forget_purged(self._folder, self.rows.space, timeout)

    def write_cache(self) -> None:
        """Write the cache file now."""
        with self._lock:
            self.refresh()
            if self._folder is not None:
                self._write_cache()

    def wait_for_chroma(self, timeout: float, *, check: bool = False) -> bool:
        """Wait until Chroma holds every note; False when this process does not keep it, or not by then."""
        return self.chroma(timeout, check=check) is not None

    def chroma(self, timeout: float, *, check: bool = False) -> ChromaIndex | None:
        """Chroma's index once it holds every note; None when this process does not keep it, or not by then.

        With `check` Chroma is counted and probed again; where it is broken, it is rebuilt.
        """
        self.refresh()
        return None if self._chroma is None else self._chroma.index(timeout, check=check)

    def cover(self, seen: Rows, chosen: NDArray[np.intp], covered: bool) -> bool:
        """Mark rows as held by Chroma or not; False when they have been renumbered since `seen`."""
        with self._lock:
            rows = self._rows
            if rows is None or rows.matrix is not seen.matrix:
                return False
            self._rows = rows.covering(chosen, covered)
            return True

    def close(self, timeout: float = CLOSING) -> None:
        """Stop Chroma, after `timeout` seconds at most, and leave a cache file where that saves time. Twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            rows = self._rows
        if self._chroma is not None:
            self._chroma.close(timeout)
        if rows is not None and self._cache_works and len(rows.keys) >= WORTH_CACHING:
            gone = len(rows.keys) - rows.kept
            if gone or len(rows.tail) > max(WORTH_CACHING, _SHARE * len(rows.matrix)):
                self._write_cache()

    def _question(self, rows: Rows, vector: ArrayLike) -> Matrix:
        question = np.ascontiguousarray(vector, dtype=np.float32)
        if question.ndim != 1 or (rows.dimension and len(question) != rows.dimension):
            shape = " x ".join(map(str, question.shape))
            raise InvalidInput(
                f"a question's vector of {shape} numbers cannot be compared with vectors of {rows.dimension}",
                hint="use the model the collection was embedded with, or amem reindex",
            )
        return question

    def _caught_up(self, rows: Rows | None) -> Rows:
        """`rows` with everything committed since, or everything anew."""
        if rows is None:
            return self._anew(self._feed.delta(0))
        delta = self._feed.delta(rows.seq)
        if delta.space != rows.space or delta.seq < rows.seq:
            return self._anew(self._feed.delta(0))
        if len(delta.vector_keys) and rows.dimension not in (0, delta.vectors.shape[1]):
            raise StorageCorrupt(
                f"vectors of {delta.vectors.shape[1]} numbers in a space of {rows.dimension}", hint="run amem reindex"
            )
        return rows.after(delta, self._tail) or self._anew(self._feed.delta(0))

    def _anew(self, delta: VectorDelta) -> Rows:
        self._tail, self._cached = Tail(), False
        matrix = np.ascontiguousarray(delta.vectors, dtype=np.float32)
        order = np.argsort(delta.state_keys, kind="stable")
        states = np.full(len(delta.vector_keys), GONE, dtype=np.uint8)
        if len(order):
            at = np.searchsorted(delta.state_keys, delta.vector_keys, sorter=order)
            at = order[np.minimum(at, len(order) - 1)]
            same = delta.state_keys[at] == delta.vector_keys
            states[same] = delta.states[at[same]]
        return Rows.of(delta.seq, delta.space, matrix, delta.vector_keys.astype(np.int64), states)

    def _from_cache(self) -> Rows | None:
        if self._folder is None:
            return None
        path = self._folder / NAME
        try:
            rows = read_cache(path)
        except FileNotFoundError:
            return None
        except (CacheDamaged, OSError, ValueError, KeyError) as error:
            logger.warning("the vector cache %s is not used (%s); it will be rebuilt", path, error)
            self._cache_state = f"was damaged ({error})"
            return None
        self._tail = Tail()
        self._cached, self._cache_state = True, f"{len(rows.keys):,} vectors, seq {rows.seq}"
        return rows

    def _keep_tidy(self) -> None:
        """Write the cache anew, or pack the rows where there is none, when enough of them lie outside the matrix."""
        rows = self._rows
        assert rows is not None
        gone = len(rows.keys) - rows.kept
        limit = max(WORTH_CACHING, _SHARE * len(rows.keys))
        if self._cache_works:
            if (not self._cached and len(rows.keys) >= WORTH_CACHING) or len(rows.tail) + gone > limit:
                self._write_cache()
        elif gone > limit:
            kept, forgotten = rows.packed()
            self._tail = Tail()
            self._rows = Rows.of(rows.seq, rows.space, rows.take(kept), rows.keys[kept], rows.states[kept], forgotten)

    def _write_cache(self) -> None:
        rows = self._rows
        if rows is None or self._folder is None:
            return
        path = self._folder / NAME
        try:
            write_cache(path, rows)
            written = read_cache(path)
        except (CacheDamaged, OSError, ValueError, KeyError) as error:
            if self._cache_works:
                logger.warning("cannot keep a vector cache at %s (%s); going on without", path, error)
            self._cache_works, self._cache_state = False, f"cannot be written ({error})"
            return
        self._cached, self._cache_state = True, f"{len(written.keys):,} vectors, seq {written.seq}"
        self._rows, self._tail = written, Tail()

    def _follow_with_chroma(self) -> None:
        rows = self._rows
        assert rows is not None
        if self._folder is None or self._wanted == "exact" or self._closed or not rows.dimension:
            return
        if self._chroma is None:
            from amem.index.chroma_base import ChromaBase

            self._chroma = ChromaBase(self._folder, self, self._feed, serve_from=self._chroma_from, pause=self._pause)
        self._chroma.follow(rows)


def _known(rows: Rows, keys: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    found = rows.find(np.asarray(keys, dtype=np.int64))
    known = found >= 0
    known[known] = rows.states[found[known]] != GONE
    return found, known


def _nothing() -> Hits:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)

"""A store of vectors in memory, that speaks the feed's protocol, and vectors that lie in clusters as texts' do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from amem.index import ACTIVE, GONE, VectorDelta
from amem.index.vector_rows import Described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

DIMENSION = 32


def clustered(count: int, seed: int = 0, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Unit vectors around one centre for every twenty of them."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, count // 20), dimension))
    vectors = centres[random.integers(len(centres), size=count)] + 0.35 * random.standard_normal((count, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


class MemoryFeed:
    """Keys with vector and state, and a change counter, under a lock."""

    def __init__(self, space: str = "test 32 content #1") -> None:
        self.notes: dict[int, tuple[NDArray[np.float32], int]] = {}
        self.changed: dict[int, tuple[int, int]] = {}
        self.seq = 0
        self.name = space
        self.deltas: list[int] = []
        self._next = 1
        self._lock = threading.Lock()

    def counter(self) -> int:
        return self.seq

    def delta(self, after: int) -> VectorDelta:
        with self._lock:
            self.deltas.append(after)
            touched = [key for key, (seq, _) in self.changed.items() if seq > after]
            states = [self.notes[key][1] if key in self.notes else GONE for key in touched]
            fresh = [key for key, (_, seq) in self.changed.items() if seq > after and key in self.notes]
            vectors = [self.notes[key][0] for key in fresh]
            width = len(vectors[0]) if vectors else 0
            return VectorDelta(
                self.seq,
                self.name,
                np.array(touched, dtype=np.int64),
                np.array(states, dtype=np.uint8),
                np.array(fresh, dtype=np.int64),
                np.array(vectors, dtype=np.float32).reshape(len(fresh), width),
            )

    def touched(self, after: int) -> tuple[int, NDArray[np.int64]]:
        with self._lock:
            return self.seq, np.array([key for key, (seq, _) in self.changed.items() if seq > after], dtype=np.int64)

    def described(self, keys: Sequence[int]) -> dict[int, Described]:
        with self._lock:
            return {
                key: Described(f"note-{key}", f"text of {key}", {"status": self.notes[key][1], "tags": None})
                for key in keys
                if key in self.notes and self.notes[key][1] != GONE
            }

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        return {id: int(id.removeprefix("note-")) for id in ids}

    def add(self, vectors: NDArray[np.float32]) -> list[int]:
        with self._lock:
            self.seq += 1
            keys = list(range(self._next, self._next + len(vectors)))
            self._next += len(vectors)
            for key, vector in zip(keys, vectors, strict=True):
                self.notes[key] = vector, ACTIVE
                self.changed[key] = self.seq, self.seq
            return keys

    def replace(self, key: int, vector: NDArray[np.float32]) -> None:
        with self._lock:
            self.seq += 1
            self.notes[key] = vector, self.notes[key][1]
            self.changed[key] = self.seq, self.seq

    def mark(self, keys: Iterable[int], state: int) -> None:
        with self._lock:
            self.seq += 1
            for key in keys:
                self.notes[key] = self.notes[key][0], state
                self.changed[key] = self.seq, self.changed[key][1]

    def purge(self, key: int) -> None:
        with self._lock:
            self.seq += 1
            del self.notes[key]
            self.changed[key] = self.seq, self.changed[key][1]

    def reindex(self, space: str, embed: Callable[[int], NDArray[np.float32]]) -> None:
        with self._lock:
            self.seq += 1
            self.name = space
            for key, (_, state) in self.notes.items():
                self.notes[key] = embed(key), state
                self.changed[key] = self.seq, self.seq

    def nearest(self, vector: NDArray[np.float32], k: int, allowed: Iterable[int] | None = None) -> list[int]:
        """The right answer, the slow way."""
        pool = (
            [key for key, (_, state) in self.notes.items() if state == ACTIVE]
            if allowed is None
            else [key for key in set(allowed) if key in self.notes and self.notes[key][1] != GONE]
        )
        cosines = {key: np.float32(self.notes[key][0].astype(float) @ vector.astype(float)) for key in pool}
        return sorted(pool, key=lambda key: (-cosines[key], key))[:k]

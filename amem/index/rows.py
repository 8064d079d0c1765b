"""Vectors in memory: a matrix that is read only, a tail that grows, and for each row whose vector it is and its state.

A `Rows` never changes once made; a delta makes the next one, so that a search sees all of a delta or nothing of it. A
row holds one version of one key's vector: another vector for the key is another row, and the old row is gone. The
matrix and the tail are shared from one `Rows` to the next, keys and states (9 bytes a row) are copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.index.feed import ACTIVE, GONE
from amem.index.topk import contenders, ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from amem.index.feed import VectorDelta

    Keys = NDArray[np.int64]
    Matrix = NDArray[np.float32]
    Hits = tuple[Keys, NDArray[np.float32]]

_FEW = 2_000
_AT_ONCE = 16_000_000
_CHUNK = 1_024
_SAMPLE = 256
#: The golden ratio in 64 bits (Knuth's multiplicative hash).
_MIX = np.uint64(0x9E3779B97F4A7C15)
#: Unrelated texts have a cosine of about this with sentence encoders, and it spreads as much; it stands for so many
#: notes that a small collection has not got.
_USUAL, _UNSEEN = 0.1, 8


class Tail:
    """Room for rows that come after the matrix; rows once written never change, so views of them stay true."""

    def __init__(self) -> None:
        self._room: Matrix = np.empty((0, 0), dtype=np.float32)
        self._used = 0

    def append(self, vectors: Matrix) -> Matrix:
        """Add rows and give a view of all rows so far."""
        used = self._used + len(vectors)
        if used > len(self._room):
            room = np.empty((max(64, 2 * len(self._room), used), vectors.shape[1]), dtype=np.float32)
            if self._used:
                room[: self._used] = self._room[: self._used]
            self._room = room
        self._room[self._used : used] = vectors
        self._used = used
        return self._room[:used]


class Rows:
    """One state of all the vectors. `matrix` rows come first, `tail` rows after them.

    `covered` marks rows that an approximate index holds as well; `forgotten` are keys whose vector was thrown away
    because they were gone, and whose return therefore needs a reload.
    """

    __slots__ = (
        "_loose",
        "_loose_vectors",
        "_order",
        "_other",
        "_sample",
        "covered",
        "forgotten",
        "keys",
        "matrix",
        "seq",
        "space",
        "states",
        "tail",
    )

    def __init__(
        self,
        seq: int,
        space: str,
        matrix: Matrix,
        tail: Matrix,
        keys: Keys,
        states: NDArray[np.uint8],
        covered: NDArray[np.bool_],
        forgotten: Keys,
    ) -> None:
        self.seq, self.space = seq, space
        self.matrix, self.tail = matrix, tail
        self.keys, self.states, self.covered, self.forgotten = keys, states, covered, forgotten
        self._order: NDArray[np.intp] | None = None
        self._other: NDArray[np.intp] | None = None
        self._loose: NDArray[np.intp] | None = None
        self._loose_vectors: Matrix | None = None
        self._sample: Matrix | None = None

    @classmethod
    def of(
        cls, seq: int, space: str, matrix: Matrix, keys: Keys, states: NDArray[np.uint8], forgotten: Keys | None = None
    ) -> Rows:
        """Rows of a whole matrix, nothing in the tail."""
        none = np.empty(0, dtype=np.int64)
        tail = np.empty((0, matrix.shape[1]), dtype=np.float32)
        covered = np.zeros(len(keys), dtype=np.bool_)
        return cls(seq, space, matrix, tail, keys, states, covered, none if forgotten is None else forgotten)

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 while there is none."""
        return int(self.matrix.shape[1] or self.tail.shape[1])

    @property
    def kept(self) -> int:
        """How many rows are not gone."""
        return len(self.keys) - int(np.sum(self.states == GONE))

    def after(self, delta: VectorDelta, tail: Tail) -> Rows | None:
        """The next state; None when a key came back whose vector is not here any more."""
        old = self.find(delta.vector_keys)
        replaced = old >= 0
        states = self.states.copy()
        fresh = (
            np.where(replaced, states[old], ACTIVE).astype(np.uint8) if len(states) else np.zeros(len(old), np.uint8)
        )
        states[old[replaced]] = GONE
        grown = Rows(
            delta.seq,
            self.space,
            self.matrix if self.dimension else np.empty((0, delta.vectors.shape[1]), dtype=np.float32),
            tail.append(delta.vectors) if len(old) else self.tail,
            np.concatenate((self.keys, delta.vector_keys)),
            np.concatenate((states, fresh)),
            np.concatenate((self.covered, np.zeros(len(old), dtype=np.bool_))),
            self.forgotten,
        )
        rows = grown.find(delta.state_keys)
        known = rows >= 0
        grown.states[rows[known]] = delta.states[known]
        if len(self.forgotten):
            back = delta.state_keys[~known & (delta.states != GONE)]
            if np.isin(back, self.forgotten).any():
                return None
        return grown

    def covering(self, rows: NDArray[np.intp], covered: bool) -> Rows:
        """The same rows, with some of them marked as covered or not."""
        marks = self.covered.copy()
        marks[rows] = covered
        return Rows(self.seq, self.space, self.matrix, self.tail, self.keys, self.states, marks, self.forgotten)

    def find(self, keys: Keys) -> NDArray[np.intp]:
        """The newest row of each key, -1 where there is none."""
        if not len(self.keys) or not len(keys):
            return np.full(len(keys), -1, dtype=np.intp)
        if self._order is None:
            self._order = np.argsort(self.keys, kind="stable")
        at = np.searchsorted(self.keys, keys, side="right", sorter=self._order) - 1
        rows = self._order[np.maximum(at, 0)]
        return np.where((at >= 0) & (self.keys[rows] == keys), rows, -1)

    def take(self, rows: NDArray[np.intp]) -> Matrix:
        """The vectors of these rows, one each, copied."""
        start = len(self.matrix)
        if not len(self.tail):
            return self.matrix[rows]
        if not start:
            return self.tail[rows]
        out = np.empty((len(rows), self.dimension), dtype=np.float32)
        first = rows < start
        out[first] = self.matrix[rows[first]]
        out[~first] = self.tail[rows[~first] - start]
        return out

    def cosines(self, vector: Matrix, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Cosines in double precision, rounded: equal vectors get equal ones, wherever they lie."""
        out = np.empty(len(rows), dtype=np.float32)
        wide = vector.astype(np.float64)
        for start in range(0, len(rows), _CHUNK):
            some = rows[start : start + _CHUNK]
            out[start : start + _CHUNK] = np.einsum("ij,j->i", self.take(some).astype(np.float64), wide)
        return out

    def search(self, vector: Matrix, k: int) -> Hits:
        """The k active rows nearest to `vector`."""
        scores = self._scores(vector)
        scores[self._inactive()] = -np.inf
        return self.rank(vector, contenders(scores, k), k)

    def search_among(self, vector: Matrix, k: int, allowed: Keys) -> Hits:
        """The k nearest of these keys, whatever their state unless gone."""
        if len(allowed) > _FEW:
            rows = np.flatnonzero(np.isin(self.keys, allowed) & (self.states != GONE))
            scores = self._scores(vector)[rows]
        else:
            rows = np.unique(self.find(allowed))
            rows = rows[rows >= 0]
            rows = rows[self.states[rows] != GONE]
            scores = np.einsum("ij,j->i", self.take(rows), vector)
        return self.rank(vector, rows[contenders(scores, k)], k)

    def search_many(self, vectors: Matrix, k: int) -> list[Hits]:
        """As `search`, for each row of `vectors`, at a fraction of the cost."""
        hits: list[Hits] = []
        inactive = self._inactive()
        step = max(1, _AT_ONCE // max(1, len(self.keys)))
        for start in range(0, len(vectors), step):
            some = vectors[start : start + step]
            scores = np.empty((len(some), len(self.keys)), dtype=np.float32)
            edge = len(self.matrix)
            np.matmul(some, self.matrix.T, out=scores[:, :edge])
            if len(self.tail):
                np.matmul(some, self.tail.T, out=scores[:, edge:])
            scores[:, inactive] = -np.inf
            hits += [self.rank(vector, contenders(row, k), k) for vector, row in zip(some, scores, strict=True)]
        return hits

    def rank(self, vector: Matrix, rows: NDArray[np.intp], k: int) -> Hits:
        """The k best of these few rows, with their cosines."""
        return ranked(self.keys[rows], self.cosines(vector, rows), k)

    @property
    def loose(self) -> NDArray[np.intp]:
        """Active rows that are not covered."""
        if self._loose is None:
            self._loose = np.flatnonzero(~self.covered & (self.states == ACTIVE))
        return self._loose

    def loose_vectors(self) -> Matrix:
        """The vectors of the loose rows."""
        if self._loose_vectors is None:
            self._loose_vectors = self.take(self.loose)
        return self._loose_vectors

    def typical(self, vector: Matrix) -> tuple[float, float]:
        """Mean and spread of the cosines with a sample of the active rows, eased towards what is usual where few."""
        sample = self._sampled()
        cosines = (sample @ vector if len(sample) else np.empty(0)).astype(np.float64)
        count = len(cosines) + _UNSEEN
        mean = (cosines.sum() + _UNSEEN * _USUAL) / count
        squares = np.square(cosines - mean).sum() + _UNSEEN * (_USUAL**2 + (_USUAL - mean) ** 2)
        return float(mean), float(np.sqrt(squares / count))

    def _sampled(self) -> Matrix:
        """Vectors of active rows, chosen by a hash of their keys, so that every process takes the same ones."""
        if self._sample is None:
            active = np.flatnonzero(self.states == ACTIVE)
            mixed = self.keys[active].astype(np.uint64) * _MIX
            chosen = active[np.lexsort((self.keys[active], mixed))[:_SAMPLE]] if len(active) > _SAMPLE else active
            self._sample = self.take(chosen)
        return self._sample

    def packed(self) -> tuple[NDArray[np.intp], Keys]:
        """The rows worth keeping, by key, and the keys forgotten if only those are kept."""
        rows = np.flatnonzero(self.states != GONE)
        rows = rows[np.argsort(self.keys[rows], kind="stable")]
        lost = np.setdiff1d(self.keys[self.states == GONE], self.keys[rows])
        return rows, np.union1d(self.forgotten, lost)

    def _inactive(self) -> NDArray[np.intp]:
        if self._other is None:
            self._other = np.flatnonzero(self.states != ACTIVE)
        return self._other

    def _scores(self, vector: Matrix) -> NDArray[np.float32]:
        # einsum on one thread reads memory as fast as BLAS on two (6 ms for 100,000 x 384), and does not slow down
        # tenfold when another process has the second core.
        out = np.empty(len(self.keys), dtype=np.float32)
        start = len(self.matrix)
        np.einsum("ij,j->i", self.matrix, vector, out=out[:start])
        if len(self.tail):
            np.einsum("ij,j->i", self.tail, vector, out=out[start:])
        return out

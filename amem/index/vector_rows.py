"""Vectors in memory, fed by the store, kept in one file between processes."""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import struct
import tempfile
import time
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np

from amem.token_vectors import product

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


# The best rows of a column of scores, exactly, without sorting the rest.

BLOCK = 64
_ROUNDING = np.float32(2e-6)


def contenders(scores: NDArray[np.float32], k: int, slack: float = 0.0) -> NDArray[np.intp]:
    """Rows that can be among the k best: all within float32 rounding of the k-th best score, in row order.

    `slack` is how far two scores may be wrong against each other besides. Rows of minus infinity never are. The rows
    are cut into blocks; as the k best of the blocks' maxima lie in k different blocks, at least k rows reach the
    smallest of them. That bound costs one pass over the scores and a partition of a 64th of them, 20 times less than
    partitioning them all (0.04 against 0.7 ms at 100,000).
    """
    count = len(scores)
    if k >= count:
        return np.flatnonzero(scores > -np.inf)
    pool = scores
    if count // BLOCK >= 2 * k:
        width = count // BLOCK
        maxima = scores[: width * BLOCK].reshape(BLOCK, width).max(axis=0)
        bound = np.partition(maxima, width - k)[width - k]
        pool = scores[scores >= bound]
    bound = np.partition(pool, len(pool) - k)[len(pool) - k] - _ROUNDING - np.float32(slack)
    return np.flatnonzero(scores >= bound) if bound > -np.inf else np.flatnonzero(scores > -np.inf)


def ranked(
    keys: NDArray[np.int64], cosines: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best of these few, best first, equal cosines by key."""
    order = np.lexsort((keys, -cosines))[:k]
    return keys[order], cosines[order]


# Where the dense leg gets its vectors from: a narrow view of the store, which alone holds the truth.

ACTIVE, SUPERSEDED, ARCHIVED, GONE = range(4)
"""States a key can be in; gone means deleted, purged, or without a vector in the active space."""


@dataclass(frozen=True, slots=True)
class VectorDelta:
    """What changed after some value of the change counter, read as one consistent snapshot.

    `vector_keys` may leave out a key whose vector is the one it always had, even where its state went from gone back
    to active; the leg then reloads everything if it has thrown that vector away.
    """

    seq: int
    """The change counter this delta brings the reader up to."""
    space: str
    """Fingerprint of the vector space in use: collection, model, dimension, recipe. Another one after a reindex."""
    state_keys: NDArray[np.int64]
    """Keys of notes that changed in any way."""
    states: NDArray[np.uint8]
    """Their states now, one for each of `state_keys`."""
    vector_keys: NDArray[np.int64]
    """Keys whose vector is new or another."""
    vectors: NDArray[np.float32]
    """Those vectors, L2-normalised, shape (len(vector_keys), dimension)."""


@dataclass(frozen=True, slots=True)
class Described:
    """A note as Chroma keeps it beside its vector; a field whose value is None is left out."""

    id: str
    document: str
    metadata: Mapping[str, Any]


class VectorFeed(Protocol):
    """Called from several threads at once. Keys are integers that are never used twice."""

    def counter(self) -> int:
        """The change counter: grows with every committed write of any process. Takes microseconds."""
        ...

    def delta(self, after: int) -> VectorDelta:
        """Everything that changed after that counter value; 0 gives all there is."""
        ...

    def touched(self, after: int) -> tuple[int, NDArray[np.int64]]:
        """The change counter, and keys of all notes that changed in any way after that value, the purged included."""
        ...

    def described(self, keys: Sequence[int]) -> dict[int, Described]:
        """What Chroma is to hold of these notes; the deleted and the purged are left out."""
        ...

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Keys of these note ids; those that belong to no note are left out."""
        ...


# A byte for each number of a vector: four times less to read than float32, and enough to find whom to compare exactly.

#: From so many rows on the matrix has a byte copy, which is scanned instead of it (benchmarks/RESULTS.md).
BYTES_FROM = 20_000
#: So many standard deviations of the rounding may part two scores.
_SIGMAS = 6.0


@dataclass(eq=False)
class ByteRows:
    """A matrix in whole numbers from -127 to 127, and the size of a step of each row."""

    numbers: NDArray[np.int8]
    steps: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: Matrix) -> ByteRows:
        """The rows rounded, each by its own largest number."""
        steps = np.abs(matrix).max(axis=1, initial=0.0) / np.float32(127.0)
        return cls(np.rint(matrix / np.where(steps, steps, 1.0)[:, None]).astype(np.int8), steps)

    def scores(self, vector: Matrix, out: NDArray[np.float32]) -> float:
        """Write each row's product with `vector` to `out`; returns how far two of them may be wrong by rounding."""
        import numkong

        asked = ByteRows.of(vector[None])
        products = numkong.cdist(asked.numbers, self.numbers, "dot", out_dtype="float32")
        np.multiply(np.asarray(products).reshape(-1), self.steps * asked.steps, out=out)
        return float(self._slack(vector[None], asked)[0])

    def scores_of_many(self, vectors: Matrix, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """As `scores`, for each row of `vectors`; keeps the bytes a second time, as they are multiplied soonest."""
        import numkong

        asked = ByteRows.of(vectors)
        products = np.asarray(numkong.dots_packed(asked.numbers, self._packed))
        np.multiply(products, self.steps, out=out, dtype=np.float32, casting="unsafe")
        out *= asked.steps[:, None]
        return self._slack(vectors, asked)

    @cached_property
    def _packed(self) -> Any:
        import numkong

        return numkong.dots_pack(self.numbers)

    def _slack(self, vectors: Matrix, asked: ByteRows) -> NDArray[np.float32]:
        """For each question how far two of its scores may be wrong against each other."""
        # A number is wrong by a uniform part of a step, whose variance is a twelfth of the step's square.
        lengths = np.linalg.norm(vectors, axis=1)
        deviation = np.hypot(self.steps.max(initial=0.0) * lengths, asked.steps) / math.sqrt(12.0)
        return np.asarray(_SIGMAS * math.sqrt(2.0) * deviation, dtype=np.float32)


# Vectors in memory: a matrix that is read only, a tail that grows, and for each row whose vector it is and its state.
#
# A `Rows` never changes once made; a delta makes the next one, so that a search sees all of a delta or nothing of it.
# A row holds one version of one key's vector: another vector for the key is another row, and the old row is gone. The
# matrix and the tail are shared from one `Rows` to the next, keys and states (9 bytes a row) are copied.

if TYPE_CHECKING:
    Keys = NDArray[np.int64]
    Matrix = NDArray[np.float32]
    Hits = tuple[Keys, NDArray[np.float32]]

_FEW = 2_000
_PART = 8
_AT_ONCE = 16_000_000
_CHUNK = 1_024
_SAMPLE = 256
#: The golden ratio in 64 bits (Knuth's multiplicative hash).
_MIX = np.uint64(0x9E3779B97F4A7C15)
#: Unrelated texts have a cosine of about this with sentence encoders, and it spreads as much; it stands for so many
#: notes that a small collection has not got.
_USUAL, _UNSEEN = 0.1, 8


class _Growing:
    """An array with room behind it; what is once written never changes, so views of it stay true."""

    def __init__(self) -> None:
        self._room: NDArray[Any] | None = None
        self._used = 0

    def append(self, held: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
        """Give `held`, what was given last, with `more` behind it: copied only where there is no room left."""
        used = len(held) + len(more)
        if self._room is None or held.base is not self._room or len(held) != self._used or used > len(self._room):
            self._room = np.empty((max(64, used + used // 2), *more.shape[1:]), dtype=more.dtype)
            if len(held):
                self._room[: len(held)] = held
        self._room[len(held) : used] = more
        self._used = used
        return self._room[:used]


class Tail:
    """Room for what comes after the matrix: rows, their keys and the order of those."""

    def __init__(self) -> None:
        self.vectors, self.keys, self.order = _Growing(), _Growing(), _Growing()


@dataclass(eq=False)
class Rows:
    """One state of all the vectors. `matrix` rows come first, `tail` rows after them.

    `covered` marks rows that an approximate index holds as well; `forgotten` are keys whose vector was thrown away
    because they were gone, and whose return therefore needs a reload. `digest` is the matrix in bytes, if it has such a
    copy.
    """

    seq: int
    space: str
    matrix: Matrix
    tail: Matrix
    keys: Keys
    states: NDArray[np.uint8]
    covered: NDArray[np.bool_]
    forgotten: Keys
    digest: ByteRows | None = None
    _order: NDArray[np.intp] | None = field(default=None, init=False, repr=False)
    #: The last question, and what `_scores` had for it: the best of all are often followed by the best of some.
    _scanned: tuple[Matrix, NDArray[np.float32], float] | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(
        cls,
        seq: int,
        space: str,
        matrix: Matrix,
        keys: Keys,
        states: NDArray[np.uint8],
        forgotten: Keys | None = None,
        digest: ByteRows | None = None,
    ) -> Rows:
        """Rows of a whole matrix, nothing in the tail."""
        none = np.empty(0, dtype=np.int64)
        tail = np.empty((0, matrix.shape[1]), dtype=np.float32)
        covered = np.zeros(len(keys), dtype=np.bool_)
        return cls(seq, space, matrix, tail, keys, states, covered, none if forgotten is None else forgotten, digest)

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
        grown = replace(
            self,
            seq=delta.seq,
            matrix=self.matrix if self.dimension else np.empty((0, delta.vectors.shape[1]), dtype=np.float32),
            tail=tail.vectors.append(self.tail, delta.vectors) if len(old) else self.tail,
            keys=tail.keys.append(self.keys, delta.vector_keys),
            states=np.concatenate((states, fresh)),
            covered=np.concatenate((self.covered, np.zeros(len(old), dtype=np.bool_))),
        )
        # Keys grow with each note: those of a hundred thousand need not be sorted again for one more.
        if self._order is not None and (np.diff(delta.vector_keys, prepend=self.keys[self._order[-1]]) > 0).all():
            grown._order = tail.order.append(self._order, np.arange(len(self.keys), len(grown.keys)))
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
        return replace(self, covered=marks)

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
        scores, slack = self._scores(vector)
        self._scanned = vector.copy(), scores, slack
        scores = scores.copy()
        scores[self._inactive] = -np.inf
        return self.rank(vector, contenders(scores, k, slack), k)

    def search_among(self, vector: Matrix, k: int, allowed: Keys) -> Hits:
        """The k nearest of these keys, whatever their state unless gone."""
        scanned = self._scanned
        if scanned is not None and not np.array_equal(scanned[0], vector):
            scanned = None
        if len(allowed) > max(_FEW, len(self.keys) // _PART):
            rows = np.flatnonzero(np.isin(self.keys, allowed) & (self.states != GONE))
            every, slack = self._scores(vector) if scanned is None else scanned[1:]
            scores = every[rows]
        else:
            rows = self._there(allowed)
            if scanned is None:
                scores, slack = np.einsum("ij,j->i", self.take(rows), vector), 0.0
            else:
                scores, slack = scanned[1][rows], scanned[2]
        return self.rank(vector, rows[contenders(scores, k, slack)], k)

    def search_many(
        self,
        vectors: Matrix,
        k: int,
        *,
        allowed: Keys | None = None,
        least: float = -np.inf,
        without: Keys | None = None,
    ) -> list[Hits]:
        """As `search`, or `search_among` where keys are `allowed`, for each row of `vectors`, but much quicker.

        Only hits with a cosine of `least` at least, and for each question none of the key that it is to be `without`.
        """
        rows = None if allowed is None else self._there(allowed)
        among = _Among.of(self, rows)
        left_out = (
            None if without is None else self.find(without) if rows is None else _places(rows, self.find(without))
        )
        inactive = self._inactive if rows is None else None
        hits: list[Hits] = []
        step = max(1, _AT_ONCE // max(1, among.count))
        for start in range(0, len(vectors), step):
            some = vectors[start : start + step]
            scores, slack = among.scores(some)
            if inactive is not None:
                scores[:, inactive] = -np.inf
            if left_out is not None:
                places = left_out[start : start + step]
                held = np.flatnonzero(places >= 0)
                scores[held, places[held]] = -np.inf
            near = scores.max(axis=1, initial=-np.inf) >= least - slack - _ROUNDING
            for place, vector in enumerate(some):
                if not near[place]:
                    hits.append((np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)))
                    continue
                found = contenders(scores[place], k, float(slack[place]))
                keys, cosines = self.rank(vector, found if rows is None else rows[found], k)
                enough = cosines >= least
                hits.append((keys[enough], cosines[enough]))
        return hits

    def _there(self, keys: Keys) -> NDArray[np.intp]:
        """The rows of these keys that are not gone, ascending."""
        rows = np.sort(self.find(keys))
        rows = rows[rows >= 0]
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = rows[1:] != rows[:-1]
        kept: NDArray[np.intp] = rows[first & (self.states[rows] != GONE)]
        return kept

    def rank(self, vector: Matrix, rows: NDArray[np.intp], k: int) -> Hits:
        """The k best of these few rows, with their cosines."""
        return ranked(self.keys[rows], self.cosines(vector, rows), k)

    @cached_property
    def loose(self) -> NDArray[np.intp]:
        """Active rows that are not covered."""
        return np.flatnonzero(~self.covered & (self.states == ACTIVE))

    @cached_property
    def loose_vectors(self) -> Matrix:
        """The vectors of the loose rows."""
        return self.take(self.loose)

    def typical(self, vector: Matrix) -> tuple[float, float]:
        """Mean and spread of the cosines with a sample of the active rows, eased towards what is usual where few."""
        cosines = (self._sample @ vector if len(self._sample) else np.empty(0)).astype(np.float64)
        count = len(cosines) + _UNSEEN
        mean = (cosines.sum() + _UNSEEN * _USUAL) / count
        squares = np.square(cosines - mean).sum() + _UNSEEN * (_USUAL**2 + (_USUAL - mean) ** 2)
        return float(mean), float(np.sqrt(squares / count))

    @cached_property
    def _sample(self) -> Matrix:
        """Vectors of active rows, chosen by a hash of their keys, so that every process takes the same ones."""
        active = np.flatnonzero(self.states == ACTIVE)
        mixed = self.keys[active].astype(np.uint64) * _MIX
        return self.take(active[np.lexsort((self.keys[active], mixed))[:_SAMPLE]] if len(active) > _SAMPLE else active)

    def packed(self) -> tuple[NDArray[np.intp], Keys]:
        """The rows worth keeping, by key, and the keys forgotten if only those are kept."""
        rows = np.flatnonzero(self.states != GONE)
        rows = rows[np.argsort(self.keys[rows], kind="stable")]
        lost = np.setdiff1d(self.keys[self.states == GONE], self.keys[rows])
        return rows, np.union1d(self.forgotten, lost)

    @cached_property
    def _inactive(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.states != ACTIVE)

    def _scores(self, vector: Matrix) -> tuple[NDArray[np.float32], float]:
        """Each row's product with the vector, and how far two of them may be wrong against each other."""
        # einsum on one thread reads memory as fast as BLAS on two (6 ms for 100,000 x 384), and does not slow down
        # tenfold when another process has the second core.
        out = np.empty(len(self.keys), dtype=np.float32)
        start = len(self.matrix)
        slack = 0.0
        if self.digest is None:
            np.einsum("ij,j->i", self.matrix, vector, out=out[:start])
        else:
            slack = self.digest.scores(vector, out[:start])
        if len(self.tail):
            np.einsum("ij,j->i", self.tail, vector, out=out[start:])
        return out, slack


def _places(rows: NDArray[np.intp], wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where in ascending `rows` each wanted one is, -1 where it is not."""
    if not len(rows):
        return np.full(len(wanted), -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, at, -1)


@dataclass(frozen=True, slots=True)
class _Among:
    """The rows that many questions are held against: a part in bytes, then a part in float32, `count` rows in all."""

    in_bytes: ByteRows
    whole: tuple[Matrix, ...]

    @classmethod
    def of(cls, rows: Rows, chosen: NDArray[np.intp] | None) -> _Among:
        """These rows, ascending; all of them for None."""
        edge, digest = len(rows.matrix), rows.digest
        none = ByteRows(np.empty((0, rows.dimension), dtype=np.int8), np.empty(0, dtype=np.float32))
        if chosen is None:
            if digest is None:
                return cls(none, (rows.matrix, rows.tail))
            return cls(ByteRows(digest.numbers, digest.steps), (rows.tail,))
        if digest is None:
            return cls(none, (rows.take(chosen),))
        first = chosen[chosen < edge]
        return cls(ByteRows(digest.numbers[first], digest.steps[first]), (rows.tail[chosen[len(first) :] - edge],))

    @property
    def count(self) -> int:
        return len(self.in_bytes.steps) + sum(map(len, self.whole))

    def scores(self, vectors: Matrix) -> tuple[Matrix, NDArray[np.float32]]:
        """Each question's product with each row, and for each question how far two of them may be wrong."""
        out = np.empty((len(vectors), self.count), dtype=np.float32)
        slack = np.zeros(len(vectors), dtype=np.float32)
        at = len(self.in_bytes.steps)
        if at:
            slack = self.in_bytes.scores_of_many(vectors, out[:, :at])
        for part in filter(len, self.whole):
            product(vectors, part.T, out[:, at : at + len(part)])
            at += len(part)
        return out, slack


# The vectors in one file, so that a process need not read them from the database row by row.
#
# The file is an ordinary ``.npy`` of the matrix, followed by its copy in bytes and their steps where there are many
# rows, the keys, the states, the forgotten keys, a JSON header and a fixed-size end that holds the header's length, a
# checksum of all before it and a magic word. One file means that one ``os.replace`` changes all of it at once, whoever
# else reads or writes. It is a cache: nothing is synced to disk, and a file that is cut short, altered or of another
# space is simply not used.

NAME = "vectors.npy"
_PREFIX, _SUFFIX = "vectors.", ".tmp"
#: Without a copy in bytes, and with one: whoever knows of none would read the wrong numbers from such a file.
_MAGIC, _MAGIC_BYTES = b"amemvec1", b"amemvec2"
_END = struct.Struct("<II8s")
_CACHED_CHUNK = 8_192
_LEFT_OVER = 3_600.0


class CacheDamaged(Exception):
    """The file is not what `write_cache` wrote; says why in words."""


def read_cache(path: Path) -> Rows:
    """The rows that the file holds, its matrix mapped into memory. Raises CacheDamaged, or OSError."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _END.size:
            raise CacheDamaged("it is cut short")
        # Windows cannot replace a file that someone has mapped, so there it is read instead.
        data: mmap.mmap | bytes = (
            file.read() if os.name == "nt" else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        )
    view = memoryview(data)
    length, checksum, magic = _END.unpack(view[-_END.size :])
    body = len(view) - _END.size
    if magic not in (_MAGIC, _MAGIC_BYTES) or length > body:
        raise CacheDamaged("its end is missing")
    if zlib.crc32(view[:body]) != checksum:
        raise CacheDamaged("its checksum is wrong")
    header = json.loads(bytes(view[body - length : body]))
    count, dimension, lost = header["count"], header["dimension"], header["forgotten"]
    at = body - length

    def before(sort: str, number: int) -> NDArray[Any]:
        """So many numbers of this sort, which stand before what was read last."""
        nonlocal at
        at -= number * np.dtype(sort).itemsize
        return np.frombuffer(data, dtype=sort, count=number, offset=at)

    forgotten, states, keys = before("<i8", lost), before("u1", count), before("<i8", count)
    digest = None
    if header.get("bytes"):  # not in files of before there was such a copy
        steps = before("<f4", count)
        digest = ByteRows(before("i1", count * dimension).reshape(count, dimension), steps)
    matrix = before("<f4", count * dimension).reshape(count, dimension)
    return Rows.of(header["seq"], header["space"], matrix, keys, states, forgotten, digest)


def write_cache(path: Path, rows: Rows) -> None:
    """Replace the file by these rows, without those that are gone. Raises OSError and leaves nothing behind then."""
    _sweep(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX, suffix=_SUFFIX)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(file, rows)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _write(file: BinaryIO, rows: Rows) -> None:
    kept, forgotten = rows.packed()
    checksum = 0

    def put(data: bytes) -> None:
        nonlocal checksum
        checksum = zlib.crc32(data, checksum)
        file.write(data)

    put(_npy_header(len(kept), rows.dimension))
    for start in range(0, len(kept), _CACHED_CHUNK):
        put(rows.take(kept[start : start + _CACHED_CHUNK]).astype("<f4").tobytes())
    in_bytes = len(kept) >= BYTES_FROM
    if in_bytes:
        steps = []
        for start in range(0, len(kept), _CACHED_CHUNK):
            rounded = ByteRows.of(rows.take(kept[start : start + _CACHED_CHUNK]))
            put(rounded.numbers.tobytes())
            steps.append(rounded.steps)
        put(np.concatenate(steps).astype("<f4").tobytes())
    put(rows.keys[kept].astype("<i8").tobytes())
    put(rows.states[kept].tobytes())
    put(forgotten.astype("<i8").tobytes())
    facts = {
        "seq": rows.seq,
        "space": rows.space,
        "count": len(kept),
        "dimension": rows.dimension,
        "forgotten": len(forgotten),
        "bytes": in_bytes,
    }
    header = json.dumps(facts).encode()
    put(header)
    file.write(_END.pack(len(header), checksum, _MAGIC_BYTES if in_bytes else _MAGIC))


def _npy_header(count: int, dimension: int) -> bytes:
    """Header of an .npy file, version 1.0, padded so that the matrix starts on a cache line."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, {dimension}), }}"
    padding = -(10 + len(text) + 1) % 64
    line = text.encode() + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left behind; a file younger than an hour may have a living writer."""
    limit = time.time() - _LEFT_OVER
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()

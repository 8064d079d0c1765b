"""Vectors, addressed by the text they embed, in the space (model, dimension, recipe) the collection is pinned to.

A vector is kept as the size of a step (float32) and a whole number of steps (int16) for each of its numbers, little
endian: half of what float32 takes, and five of them fill a page. Of a vector of length 1 a cosine is wrong by 2e-6.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import StorageError
from amem.note import Status
from amem.storage.rows import Part, chunks
from amem.token_vectors import PACKED, PACKING, Tokens, TokenVector, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.storage.store import Session

# From the notes to their vectors, and unordered: left to itself, SQLite walks through every vector there is.
_CHANGED = (
    "SELECT changed.key, held.vector FROM notes AS changed CROSS JOIN vectors AS held"
    " ON held.space = :space AND held.hash = changed.text_hash WHERE changed.vector_seq > :after"
)
#: Of every note that changed, the purged included.
_STATES = (
    "SELECT key, status FROM notes WHERE seq > :after"
    f" UNION ALL SELECT note, '{Status.DELETED}' FROM tombstones WHERE seq > :after"
)
_TOKENS = (
    "SELECT notes.key, words.packed FROM json_each(:keys) AS asked CROSS JOIN notes ON notes.key = asked.value"
    " CROSS JOIN vectors AS held ON held.space = :space AND held.hash = notes.text_hash"
    " CROSS JOIN words ON words.vector = held.key"
)
_PUT_WORDS = "INSERT OR IGNORE INTO words SELECT key, :packed FROM vectors WHERE space = :space AND hash = :hash"
_SPACE = (
    "SELECT id, model, dimension, recipe, (SELECT value FROM meta WHERE key = 'collection'), tokens"
    " FROM spaces WHERE active = 1"
)
#: States as the dense leg knows them.
STATE = {Status.ACTIVE: 0, Status.SUPERSEDED: 1, Status.ARCHIVED: 2}
GONE = 3


#: Bytes of the size of a step; most steps that a number has.
_STEP, _STEPS = 4, 32_767


def packed_vectors(matrix: NDArray[np.floating]) -> list[bytes]:
    """Each row of a matrix (n, d) as it is kept: 4 + 2 * d bytes."""
    rows = np.ascontiguousarray(matrix, dtype="<f4")
    steps = (np.abs(rows).max(axis=1, keepdims=True, initial=0.0) / np.float32(_STEPS)).astype("<f4")
    with np.errstate(invalid="ignore"):  # what is no number stays none: its step says so
        numbers = np.rint(rows / np.where(steps > 0, steps, np.float32(1.0))).clip(-_STEPS, _STEPS).astype("<i2")
    return [step.tobytes() + row.tobytes() for step, row in zip(steps, numbers, strict=True)]


def unpacked_vectors(blob: bytes | bytearray, dimension: int) -> NDArray[np.float32]:
    """The matrix (n, dimension) that `packed_vectors` was given, from all of its rows joined.

    Raises StorageError where a row has the wrong length.
    """
    size = packed_size(dimension)
    if dimension < 1 or len(blob) % size:
        raise StorageError("a stored vector has the wrong length", hint="run amem reindex")
    rows = np.frombuffer(blob, dtype=np.uint8).reshape(-1, size)
    steps = np.ascontiguousarray(rows[:, :_STEP]).view("<f4")
    numbers = np.ascontiguousarray(rows[:, _STEP:]).view("<i2")
    matrix: NDArray[np.float32] = np.multiply(numbers, steps, dtype=np.float32)
    return matrix


def packed_size(dimension: int) -> int:
    """Bytes that a vector is kept in."""
    return _STEP + 2 * dimension


def repacked(blob: bytes) -> bytes:
    """A vector as it was kept before, in float32, as it is kept now; one that is damaged as it is."""
    if not isinstance(blob, bytes) or not blob or len(blob) % 4:
        return blob
    return packed_vectors(np.frombuffer(blob, dtype="<f4")[None])[0]


def text_hash(text: str) -> bytes:
    """Address of the vector of this text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space: which model made the vectors, how long they are, and what text of a note was embedded."""

    id: int
    model: str
    dimension: int
    recipe: str
    collection: str
    #: How the words of texts are packed beside their vectors; '' where they are not kept.
    tokens: str = ""

    @property
    def fingerprint(self) -> str:
        """One line that differs whenever vectors cannot be compared, or belong to another collection."""
        return f"{self.model} {self.dimension} {self.recipe} {self.collection}#{self.id}"


class Vectors(Part):
    """The vectors of one transaction."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        #: The space in use, once asked for, until spaces change.
        self._space: Space | None = None

    def space(self) -> Space | None:
        """The space in use; None in a collection that never embedded anything."""
        if self._space is None and (rows := self._session.rows(_SPACE)):
            self._space = Space(*rows[0])
        return self._space

    def add_space(self, model: str, dimension: int, recipe: str, *, active: bool, tokens: str = "") -> Space:
        """Make a space; an active one needs that none is active yet (see `switch`)."""
        row = {"model": model, "dimension": dimension, "recipe": recipe, "active": int(active), "tokens": tokens}
        made = self._session.insert("spaces", row)
        return Space(made, model, dimension, recipe, str(self._session.remembered("collection")), tokens)

    def switch(self, space: Space, hashes: Mapping[int, bytes]) -> None:
        """Make `space` the one in use, give each note key its new text hash, and drop every other space."""
        self._space = None
        self._session.change("UPDATE spaces SET active = (id = :id)", id=space.id)
        seq = self._session.seq
        for key, hashed in hashes.items():
            self._session.update("notes", {"text_hash": hashed, "vector_seq": seq, "seq": seq}, key=key)
        self._session.change("DELETE FROM vectors WHERE space <> :id", id=space.id)
        self._session.change("DELETE FROM spaces WHERE id <> :id", id=space.id)

    def drop_unused(self, space: Space) -> None:
        """Remove a space that never came into use."""
        self._session.change("DELETE FROM vectors WHERE space = :id", id=space.id)
        self._session.change("DELETE FROM spaces WHERE id = :id AND active = 0", id=space.id)

    def put(self, space: Space, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep vectors by text hash; those already there stay."""
        rows: list[dict[str, Any]] = []
        words: list[dict[str, Any]] = []
        blobs = packed_vectors(np.stack([np.asarray(each) for each in vectors.values()])) if vectors else []
        for (hashed, vector), blob in zip(vectors.items(), blobs, strict=True):
            tokens = tokens_of(vector) if space.tokens == PACKING else None
            rows.append({"space": space.id, "hash": hashed, "vector": blob})
            if tokens is not None:
                words.append({"space": space.id, "hash": hashed, "packed": tokens.packed()})
        self._session.insert("vectors", *rows, either="IGNORE")
        if words:
            self._session.connection.executemany(_PUT_WORDS, words)

    def announce(self, space: Space, hashes: Sequence[bytes]) -> None:
        """Stamp the notes that were waiting for one of these, about to be `put`, so that the dense leg fetches it."""
        for names, values in _some(hashes):
            sql = f"UPDATE notes SET vector_seq = :now, seq = :now WHERE text_hash IN ({names}) AND NOT EXISTS"
            sql += " (SELECT 1 FROM vectors WHERE space = :space AND hash = text_hash)"
            self._session.change(sql, space=space.id, now=self._session.seq, **values)

    def known(self, space: Space, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are already there."""
        found: dict[bytes, NDArray[np.float32]] = {}
        for names, values in _some(hashes):
            sql = "SELECT hash, vectors.vector, packed FROM vectors LEFT JOIN words ON words.vector = vectors.key"
            sql += f" WHERE space = :space AND hash IN ({names})"
            for hashed, blob, words in self._session.rows(sql, space=space.id, **values):
                tokens = Tokens.unpacked(words) if isinstance(words, bytes) else None
                found[hashed] = TokenVector.of(unpacked_vectors(blob, space.dimension)[0], tokens)
        return found

    def of_notes(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors of notes by id; of one that has none yet, nothing."""
        space = self.space()
        if space is None or not ids:
            return {}
        keys = self._session.notes.keys_of(ids)
        hashes = self._session.notes.columns(list(keys.values()), ("text_hash",))
        held = self.known(space, [hashed for (hashed,) in hashes.values() if hashed is not None])
        wanted = {id: hashes[key][0] for id, key in keys.items()}
        return {id: held[hashed] for id, hashed in wanted.items() if hashed in held}

    def tokens(self, space: Space, keys: Sequence[int]) -> tuple[list[int], list[int], Tokens]:
        """The notes of these that have words, how many each has, and the words of all. `space` holds ``PACKING``."""
        rows = self._session.rows(_TOKENS, space=space.id, keys=keys)
        # Where they are damaged, which amem doctor says, the vector of the whole is compared alone.
        rows = [row for row in rows if isinstance(row[1], bytes)]
        counts = [len(words) // PACKED for _, words in rows]
        return [key for key, _ in rows], counts, Tokens.unpacked(b"".join(words for _, words in rows))

    def missing(self, ids: Sequence[str] | None = None, *, after: int = 0) -> list[str]:
        """Ids of notes (of `ids`; None: all; not deleted) without a vector in the space in use, oldest first.

        With `after` only of those that changed after that value of the change counter.
        """
        space = self.space()
        sql = (
            "SELECT id FROM notes LEFT JOIN vectors ON vectors.space = :space AND vectors.hash = notes.text_hash"
            " WHERE vectors.key IS NULL AND status <> 'deleted' AND seq > :after"
            # With a plus sign, since in the order of keys SQLite would look at every note there is.
            " AND (:ids IS NULL OR id IN :ids) ORDER BY +notes.key"
        )
        return self._session.column(sql, space=-1 if space is None else space.id, after=after, ids=ids)

    def count(self) -> int:
        """How many vectors are kept."""
        return int(self._session.value("SELECT count(*) FROM vectors"))

    def purge(self, hashed: bytes) -> None:
        """Destroy a vector that no note's text needs any more."""
        sql = "DELETE FROM vectors WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM notes WHERE text_hash = :hash)"
        self._session.change(sql, hash=hashed)

    def drop_orphans(self) -> int:
        """Destroy the vectors, in the space in use, of texts that no note has any more; returns how many."""
        sql = "DELETE FROM vectors WHERE space IN (SELECT id FROM spaces WHERE active = 1)"
        sql += " AND hash NOT IN (SELECT text_hash FROM notes WHERE text_hash IS NOT NULL)"
        return self._session.change(sql)

    def disown_copies(self) -> None:
        """Have every copy of the vectors outside the database, of any process, count as another collection's."""
        self._space = None
        # Made as the first one was, so that nothing tells a collection that was purged from any other.
        self._session.change("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'collection'")

    def states(self, after: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """(key, state) of every note that changed in any way after that counter value, the purged included."""
        rows = self._session.rows(_STATES, after=after)
        keys, states = [key for key, _ in rows], [STATE.get(Status(status), GONE) for _, status in rows]
        return np.array(keys, dtype=np.int64), np.array(states, dtype=np.uint8)

    def changed(self, space: Space, after: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(key, vector), by key, of every note whose vector is new or changed after that counter value."""
        keys: list[int] = []
        blob = bytearray()
        for key, vector in self._session.rows(_CHANGED, after=after, space=space.id):
            keys.append(key)
            blob += vector
        matrix = unpacked_vectors(blob, space.dimension)
        if len(matrix) != len(keys):
            raise StorageError("a stored vector has the wrong length", hint="run amem reindex")
        order = np.argsort(np.array(keys, dtype=np.int64))
        return np.array(keys, dtype=np.int64)[order], matrix[order]


def _some(hashes: Sequence[bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Names of parameters for so many hashes at a time, and their values: JSON cannot hold bytes."""
    for part in chunks(hashes):
        values = {f"h{place}": hashed for place, hashed in enumerate(part)}
        yield ", ".join(f":{name}" for name in values), values

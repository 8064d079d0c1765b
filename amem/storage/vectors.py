"""Vectors, addressed by the text they embed, in the space (model, dimension, recipe) the collection is pinned to."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import bindparam, delete, exists, func, insert, select, text, update

from amem.errors import StorageError
from amem.note import Status
from amem.storage import tables
from amem.storage.sql_values import chunks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.storage.store import Session

_SPACES, _VECTORS, _NOTES = tables.spaces, tables.vectors, tables.notes
# Built once, as they run after every write.
_ACTIVE = select(_SPACES).where(_SPACES.c.active == 1)
_COLLECTION = select(tables.meta.c.value).where(tables.meta.c.key == "collection")
#: Made as the first one was, so that nothing tells a collection that was purged from any other.
_RENAME = text("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'collection'")
_KNOWN = select(_VECTORS.c.hash, _VECTORS.c.vector).where(
    _VECTORS.c.space == bindparam("space"), _VECTORS.c.hash.in_(bindparam("hashes", expanding=True))
)
_STATES = select(_NOTES.c.key, _NOTES.c.status).where(_NOTES.c.seq > bindparam("after"))
_DEAD = select(tables.tombstones.c.note).where(tables.tombstones.c.seq > bindparam("after"))
# From the notes to their vectors, and unordered: left to itself, SQLite walks through every vector there is.
_CHANGED = text(
    "SELECT changed.key, held.vector FROM notes AS changed CROSS JOIN vectors AS held"
    " ON held.space = :space AND held.hash = changed.text_hash WHERE changed.vector_seq > :after"
)
_STAMP_LATE = (
    update(_NOTES)
    .where(
        _NOTES.c.text_hash.in_(bindparam("hashes", expanding=True)),
        ~exists().where(_VECTORS.c.space == bindparam("space"), _VECTORS.c.hash == _NOTES.c.text_hash),
    )
    .values(vector_seq=bindparam("now"), seq=bindparam("now"))
)
#: States as the dense leg knows them.
STATE = {Status.ACTIVE: 0, Status.SUPERSEDED: 1, Status.ARCHIVED: 2}
GONE = 3


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

    @property
    def fingerprint(self) -> str:
        """One line that differs whenever vectors cannot be compared, or belong to another collection."""
        return f"{self.model} {self.dimension} {self.recipe} {self.collection}#{self.id}"


class Vectors:
    """The vectors of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def space(self) -> Space | None:
        """The space in use; None in a collection that never embedded anything."""
        row = self._run(_ACTIVE).mappings().one_or_none()
        return None if row is None else self._space_of(row["id"], row["model"], row["dimension"], row["recipe"])

    def add_space(self, model: str, dimension: int, recipe: str, *, active: bool) -> Space:
        """Make a space; an active one needs that none is active yet (see `switch`)."""
        statement = insert(_SPACES).values(model=model, dimension=dimension, recipe=recipe, active=int(active))
        key = self._run(statement).lastrowid
        assert key is not None
        return self._space_of(int(key), model, dimension, recipe)

    def switch(self, space: Space, hashes: Mapping[int, bytes]) -> None:
        """Make `space` the one in use, give each note key its new text hash, and drop every other space."""
        self._run(update(_SPACES).values(active=0))
        self._run(update(_SPACES).where(_SPACES.c.id == space.id).values(active=1))
        seq = self._session.seq
        for key, hashed in hashes.items():
            self._run(update(_NOTES).where(_NOTES.c.key == key).values(text_hash=hashed, vector_seq=seq, seq=seq))
        self._run(delete(_VECTORS).where(_VECTORS.c.space != space.id))
        self._run(delete(_SPACES).where(_SPACES.c.id != space.id))

    def _space_of(self, id: int, model: str, dimension: int, recipe: str) -> Space:
        return Space(id, model, dimension, recipe, str(self._run(_COLLECTION).scalar_one()))

    def drop_unused(self, space: Space) -> None:
        """Remove a space that never came into use."""
        self._run(delete(_VECTORS).where(_VECTORS.c.space == space.id))
        self._run(delete(_SPACES).where(_SPACES.c.id == space.id, _SPACES.c.active == 0))

    def put(self, space: Space, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep vectors by text hash; those already there stay."""
        rows = [
            {"space": space.id, "hash": hashed, "vector": np.ascontiguousarray(vector, dtype="<f4").tobytes()}
            for hashed, vector in vectors.items()
        ]
        if rows:
            self._run(insert(_VECTORS).prefix_with("OR IGNORE"), rows)

    def announce(self, space: Space, hashes: Sequence[bytes]) -> None:
        """Stamp the notes that were waiting for one of these, about to be `put`, so that the dense leg fetches it."""
        for part in chunks(hashes):
            some = {"space": space.id, "hashes": part}
            self._run(_STAMP_LATE, some | {"now": self._session.seq})

    def known(self, space: Space, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are already there."""
        found: dict[bytes, NDArray[np.float32]] = {}
        for part in chunks(hashes):
            some = {"space": space.id, "hashes": part}
            for hashed, blob in self._run(_KNOWN, some):
                found[hashed] = np.frombuffer(blob, dtype="<f4")
        return found

    def missing(self, ids: Sequence[str] | None = None, *, after: int = 0) -> list[str]:
        """Ids of notes (of `ids`; None: all; not deleted) without a vector in the space in use, oldest first.

        With `after` only of those that changed after that value of the change counter.
        """
        space = self.space()
        number = -1 if space is None else space.id
        statement = (
            select(_NOTES.c.id)
            .select_from(
                _NOTES.outerjoin(_VECTORS, (_VECTORS.c.space == number) & (_VECTORS.c.hash == _NOTES.c.text_hash))
            )
            .where(_VECTORS.c.key.is_(None), _NOTES.c.status != str(Status.DELETED), _NOTES.c.seq > after)
            .order_by(_NOTES.c.key)
        )
        if ids is None:
            return list(self._run(statement).scalars())
        return [id for part in chunks(ids) for id in self._run(statement.where(_NOTES.c.id.in_(part))).scalars()]

    def count(self) -> int:
        """How many vectors are kept."""
        return int(self._run(select(func.count()).select_from(_VECTORS)).scalar_one())

    def purge(self, hashed: bytes) -> None:
        """Destroy a vector that no note's text needs any more."""
        users = self._run(select(func.count()).where(_NOTES.c.text_hash == hashed)).scalar_one()
        if not users:
            self._run(delete(_VECTORS).where(_VECTORS.c.hash == hashed))

    def drop_orphans(self) -> int:
        """Destroy the vectors, in the space in use, of texts that no note has any more; returns how many."""
        space = self.space()
        if space is None:
            return 0
        used = select(_NOTES.c.text_hash).where(_NOTES.c.text_hash.is_not(None))
        orphans = delete(_VECTORS).where(_VECTORS.c.space == space.id, _VECTORS.c.hash.not_in(used))
        return int(self._run(orphans).rowcount)

    def disown_copies(self) -> None:
        """Have every copy of the vectors outside the database, of any process, count as another collection's."""
        self._run(_RENAME)

    def states(self, after: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """(key, state) of every note that changed in any way after that counter value, the purged included."""
        rows = self._run(_STATES, {"after": after}).all()
        dead = self._run(_DEAD, {"after": after}).scalars().all()
        keys = [key for key, _ in rows] + list(dead)
        states = [STATE.get(Status(status), GONE) for _, status in rows] + [GONE] * len(dead)
        return np.array(keys, dtype=np.int64), np.array(states, dtype=np.uint8)

    def changed(self, space: Space, after: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(key, vector), by key, of every note whose vector is new or changed after that counter value."""
        keys: list[int] = []
        blob = bytearray()
        for key, vector in self._run(_CHANGED, {"after": after, "space": space.id}):
            keys.append(key)
            blob += vector
        if len(blob) != len(keys) * space.dimension * 4:
            raise StorageError("a stored vector has the wrong length", hint="run amem reindex")
        matrix = np.frombuffer(blob, dtype="<f4").reshape(len(keys), space.dimension)
        order = np.argsort(np.array(keys, dtype=np.int64))
        return np.array(keys, dtype=np.int64)[order], matrix[order]

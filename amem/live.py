"""A-Mem's attribute ``memories`` over our store: a live mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from amem.note import Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.note import MemoryNote
    from amem.storage.store import Store

_EVERY = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED))


class Memories(Mapping[str, "MemoryNote"]):
    """Id to note for every note that is not deleted, read from the store at each look."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, id: str) -> MemoryNote:
        with self._store.read() as session:
            note = session.notes.get(id)
        if note is None:
            raise KeyError(id)
        return note

    def __iter__(self) -> Iterator[str]:
        with self._store.read() as session:
            ids = session.notes.ids()
        return iter(ids)

    def __len__(self) -> int:
        with self._store.read() as session:
            return session.notes.count(_EVERY)

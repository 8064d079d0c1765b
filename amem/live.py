"""A-Mem's attributes over our store: ``memories`` (a live mapping) and ``retriever`` (Chroma's result shape)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amem.note import Status
from amem.query import Filter, Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.index import DenseLeg
    from amem.note import MemoryNote
    from amem.storage import Store
    from amem.vectorizer import Vectorizer

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


class CollectionRetriever:
    """Dense search over the collection's own index, answered in Chroma's nested lists."""

    def __init__(self, store: Store, dense: DenseLeg, vectorizer: Vectorizer) -> None:
        self._store = store
        self._dense = dense
        self._vectorizer = vectorizer

    def search(self, query: str, k: int = 5) -> dict[str, list[list[Any]]]:
        """The k nearest active notes: ids, documents, metadatas and cosine distances, each a list in a list."""
        asked = Query(query, k)
        self._vectorizer.check()
        vector = self._vectorizer.compute([asked.text])[0]
        self._dense.refresh()
        keys, cosines = self._dense.search(vector, asked.k)
        with self._store.read() as session:
            ids = session.notes.ids_of([int(key) for key in keys])
            notes = session.notes.get_many(list(ids.values()))
        found = [
            (notes[ids[int(key)]], float(1.0 - cosine))
            for key, cosine in zip(keys, cosines, strict=True)
            if ids.get(int(key)) in notes
        ]
        return {
            "ids": [[note.id for note, _ in found]],
            "documents": [[note.content for note, _ in found]],
            "metadatas": [[_metadata(note) for note, _ in found]],
            "distances": [[distance for _, distance in found]],
        }


def _metadata(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "content", "keywords", "links", "retrieval_count", "timestamp", "last_accessed", "context")
    return {name: getattr(note, name) for name in (*names, "evolution_history", "category", "tags")}

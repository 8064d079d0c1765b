"""A-Mem's attributes over a collection: ``retriever``, which searches Chroma, and ``memories``, a live mapping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import InvalidInput, StorageError
from amem.index.chroma import ChromaIndex, doing
from amem.note import MemoryNote, Status
from amem.query import UNDELETED, Filter, Query
from amem.retrievers import ChromaRetriever

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from amem.collection import StoreFeed, Vectorizer
    from amem.index import DenseLeg
    from amem.storage.store import Store


#: Seconds that a search waits for Chroma to have the newest notes, and that ``client`` and ``collection`` do.
_SEARCH, _OPEN = 5.0, 60.0
_PAGE = 1_000
_FIELDS = (
    *("id", "content", "keywords", "links", "retrieval_count", "timestamp"),
    *("last_accessed", "context", "evolution_history", "category", "tags"),
)


class CollectionRetriever(ChromaRetriever):
    """A `ChromaRetriever` over the notes of an open collection, which the store feeds; it takes no documents itself.

    Of a collection in memory this is an ephemeral Chroma collection, made when first used and brought in step by each
    search; ``client.reset()`` empties it, and ``memory.consolidate_memories()`` fills it again. Of a collection on disk
    it is the Chroma folder beside the store, which one process keeps: in any other, `search` compares the vectors
    itself, and ``client`` and ``collection`` raise StorageError.
    """

    collection_name = "memories"

    def __init__(self, store: Store, dense: DenseLeg, feed: StoreFeed, vectorizer: Vectorizer) -> None:
        # No super().__init__: most who open a collection never ask for its retriever, and Chroma takes a second.
        self._store, self._dense, self._feed, self._vectorizer = store, dense, feed, vectorizer
        self._use(vectorizer.embedder)
        self._upto, self._was_reset = 0, False
        self._ephemeral: ChromaRetriever | None = None

    @property
    def client(self) -> Any:  # type: ignore[override]  # made when first asked for
        """Chroma's client: an EphemeralClient, or the PersistentClient on the collection's folder."""
        index = self._in_step(_OPEN)
        if self._ephemeral is not None:
            return self._ephemeral.client
        assert index.client is not None
        index.client.reset = self._refuse_reset  # type: ignore[method-assign]  # Chroma's own says to allow it
        return index.client

    @property
    def collection(self) -> Any:  # type: ignore[override]  # another one after a reset
        """Chroma's collection, every note in it."""
        return self._in_step(_OPEN).collection

    def search(self, query: str, k: int = 5) -> dict[str, list[list[Any]]]:
        """The k nearest active notes: ids, documents, metadatas and cosine distances, each a list in a list."""
        asked = Query(query, k)
        self._vectorizer.check()
        vector = self._vectorizer.compute([asked.text])[0]
        self._dense.refresh()
        hits = self._by_chroma(vector, asked.k)
        with self._store.read() as session:
            if hits is None:
                keys, cosines = self._dense.search(vector, asked.k)
                ids = session.notes.ids_of([int(key) for key in keys])
                hits = [(ids[int(key)], float(cosine)) for key, cosine in zip(keys, cosines, strict=True) if key in ids]
            notes = session.notes.get_many([id for id, _ in hits])
        found = [(notes[id], 1.0 - cosine) for id, cosine in hits if id in notes]
        return {
            "ids": [[note.id for note, _ in found]],
            "documents": [[note.content for note, _ in found]],
            "metadatas": [[{name: getattr(note, name) for name in _FIELDS} for note, _ in found]],
            "distances": [[distance for _, distance in found]],
        }

    def add_document(self, document: str, metadata: Mapping[str, Any] | None, doc_id: str) -> None:
        """Refused: the notes are kept in the store, of which Chroma holds a copy."""
        raise InvalidInput("a collection's retriever takes no documents", hint="add a note with memory.add_note(text)")

    def delete_document(self, doc_id: str) -> bool:
        """Refused: the notes are kept in the store, of which Chroma holds a copy."""
        raise InvalidInput("a collection's retriever deletes nothing", hint="delete a note with memory.delete(id)")

    def refill(self) -> None:
        """Have an ephemeral collection that was reset hold every note again at the next search."""
        self._upto, self._was_reset = 0, False

    def close(self) -> None:
        """Let go of an ephemeral collection; the folder of one on disk closes with the memory system."""
        if self._ephemeral is not None:
            self._ephemeral.close()

    def __len__(self) -> int:
        with doing("count"):
            return len(self._in_step(_OPEN))

    def _by_chroma(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]] | None:
        """The k nearest active notes as (id, cosine); None where Chroma is not to be had, or finds too few."""
        with self._store.read() as session:
            wanted = min(k, session.notes.count(Filter(statuses=(Status.ACTIVE,))))
        if not wanted:
            return []
        index = self._dense.chroma(_SEARCH) if self._store.folder is not None else self._in_step(_OPEN)
        if index is None:
            return None
        with doing("search"):
            hits = index.nearest(vector, wanted, where={"status": str(Status.ACTIVE)})
        # Chroma's graph loses sight of some documents where many equal ones were added and deleted.
        return hits if len(hits) == wanted or self._was_reset else None

    def _in_step(self, timeout: float) -> ChromaIndex:
        """Chroma's index with every note in it. Raises StorageError where this process cannot have it."""
        if self._store.folder is None:
            return self._in_memory()
        index = self._dense.chroma(timeout)
        if index is None:
            raise StorageError(
                f"this process does not keep the collection in Chroma: {self._dense.status()['chroma']}",
                hint="one process at a time does; amem doctor says what is wrong with the folder",
            )
        return index

    def _in_memory(self) -> ChromaIndex:
        if self._ephemeral is None:
            self._ephemeral = ChromaRetriever(self.collection_name, embedder=self._vectorizer.embedder)
            client = self._ephemeral.client
            client.reset = partial(self._reset, client.reset)  # type: ignore[method-assign]  # to hear of it
        self._dense.refresh()
        counter, keys = self._feed.touched(self._upto)
        index = ChromaIndex(self._ephemeral.collection)
        with doing("follow the collection"):
            for start in range(0, len(keys), _PAGE):
                some = keys[start : start + _PAGE]
                self._follow(index, some)
        self._upto = min(counter, self._dense.seq)
        return index

    def _follow(self, index: ChromaIndex, keys: NDArray[np.int64]) -> None:
        notes, vectors = self._feed.described(keys.tolist()), self._dense.vectors(keys)
        known = ~np.isnan(vectors).any(axis=1) & np.isin(keys, list(notes))
        if not known.all() and len(index):
            index.delete_notes(keys[~known].tolist())
        if known.any():
            index.put_notes([(key, notes[key]) for key in keys[known].tolist()], vectors[known])

    def _reset(self, reset: Callable[[], bool]) -> bool:
        done = reset()
        with self._store.read() as session:
            self._upto, self._was_reset = session.counter, True
        return done

    def _refuse_reset(self) -> bool:
        raise StorageError(
            "client.reset() does not empty a collection on disk: its notes are kept in SQLite, Chroma holds a copy",
            hint="memory.delete(id) deletes a note; amem doctor --repair makes the copy anew",
        )


# A-Mem's attribute ``memories``: id to note.


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
            return session.notes.count(UNDELETED)

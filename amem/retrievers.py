"""A-Mem's retrievers: documents with metadata in a Chroma collection, found by meaning. Usable alone.

    ChromaRetriever                 in memory, gone with the object
    └── PersistentChromaRetriever   in a folder; one process at a time should write to it
        └── CopiedChromaRetriever   a private copy of such a collection, removed on close

Vectors are made by amem's embedder and compared by cosine; metadata comes back exactly as it went in.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import uuid
import weakref
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from amem import checks
from amem.checks import validated
from amem.errors import CollectionExists, CollectionNotFound, InvalidInput
from amem.index.chroma import (
    BATCH,
    FUNCTION,
    ChromaFailed,
    ChromaIndex,
    close_client,
    create_collection,
    default_settings,
    doing,
    failures_as_exceptions,
    find_collection,
    open_folder,
    pack_metadata,
    require_model,
    unpack_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from amem.protocols import Embedder, Matrix

__all__ = ["ChromaRetriever", "CopiedChromaRetriever", "PersistentChromaRetriever"]

_MODEL = "all-MiniLM-L6-v2"


class EmbeddingFunction:
    """An embedder as Chroma wants it, so that ``collection.query(query_texts=...)`` works too."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __call__(self, input: Sequence[str]) -> list[Matrix]:
        return list(self._embedder.embed(list(input)))

    def embed_query(self, input: Sequence[str]) -> list[Matrix]:
        """Questions are embedded as documents are."""
        return self(input)

    @staticmethod
    def name() -> str:
        """The name Chroma keeps with the collection."""
        return FUNCTION

    def get_config(self) -> dict[str, Any]:
        """What Chroma keeps with the collection."""
        return {"model": self._embedder.name}

    @staticmethod
    def build_from_config(config: Mapping[str, Any]) -> EmbeddingFunction:
        """Called by Chroma when another program opens the collection without naming a function."""
        return EmbeddingFunction(_embedder(config["model"]))

    def validate_config(self, config: Mapping[str, Any]) -> None:
        """Any is fine."""

    def validate_config_update(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Any is fine."""

    def default_space(self) -> str:
        """Cosine."""
        return "cosine"

    def supported_spaces(self) -> list[str]:
        """Cosine alone."""
        return ["cosine"]

    def is_legacy(self) -> bool:
        """No."""
        return False


@validated
class ChromaRetriever:
    """A collection in memory. Two of one name in one process are two collections.

    ``client.reset()`` empties it and nothing else; Chroma's own would empty all in-memory collections of the process.
    `embedder` replaces the one made from `model_name`. Raises InvalidInput for a name that Chroma does not take.
    """

    def __init__(
        self, collection_name: str = "memories", model_name: str = _MODEL, *, embedder: Embedder | None = None
    ) -> None:
        import chromadb

        self._use(embedder or _embedder(model_name))
        with doing("open an in-memory collection"):
            self.client: ClientAPI = chromadb.EphemeralClient(settings=default_settings())
        # All in-memory clients of a process share one database, so the name in there is one that nobody else has.
        inside = f"{collection_name}-{uuid.uuid4().hex}"
        self._closing: weakref.finalize[..., ChromaRetriever] = weakref.finalize(self, _drop, self.client, inside)
        self._attach(create_collection(self.client, inside, self.embedding_function))
        self.collection_name = collection_name
        self.client.reset = partial(_reset, weakref.ref(self))  # type: ignore[method-assign]  # see the docstring

    def add_document(self, document: str, metadata: Mapping[str, Any] | None, doc_id: str) -> None:
        """Store a document under its id, in place of one that has it.

        Raises InvalidInput for an id that is not text, text that is not valid Unicode, or metadata that JSON cannot
        hold unchanged.
        """
        if not doc_id:
            raise InvalidInput("a document's id must not be empty")
        packed = pack_metadata(metadata or {})
        vectors = self.embedder.embed([document])
        with doing(f"store {doc_id!r}"):
            # Chroma merges the metadata of a replaced document into the old, unless a field is set to None.
            for old in self.collection.get(ids=[doc_id], include=["metadatas"])["metadatas"] or []:
                packed = {**dict.fromkeys(old or ()), **packed}
            self._index.upsert([doc_id], vectors, [document], [packed])

    def delete_document(self, doc_id: str) -> bool:
        """Remove a document; False when there is none of that id."""
        with doing(f"delete {doc_id!r}"):
            known = bool(self.collection.get(ids=[doc_id], include=[])["ids"])
            if known:
                self._index.delete([doc_id])
        return known

    def search(self, query: str, k: int = 5) -> dict[str, list[list[Any]]]:
        """The k nearest documents, best first, in Chroma's shape: lists of lists, one inner list per query.

        `distances` are cosine distances, 0 for the same direction to 2 for the opposite one.
        """
        checks.whole("k", k, least=0)
        if k == 0 or len(self) == 0:
            return {"ids": [[]], "documents": [[]], "metadatas": [[]], "distances": [[]]}
        vector = self.embedder.embed([query])[0]
        with doing("search"):
            distances = {name: 1.0 - cosine for name, cosine in self._index.query(vector, k)}
            found = self._index.documents(list(distances))
        names = [name for name in distances if name in found]
        return {
            "ids": [names],
            "documents": [[found[name][0] for name in names]],
            "metadatas": [[unpack_metadata(found[name][1]) for name in names]],
            "distances": [[distances[name] for name in names]],
        }

    def close(self) -> None:
        """Let go of Chroma; may be called again."""
        self._closing()

    def __len__(self) -> int:
        with doing("count"):
            return len(self._index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.embedding_function = EmbeddingFunction(embedder)

    def _attach(self, collection: Collection) -> None:
        self.collection, self._index = collection, ChromaIndex(collection)


@validated
class PersistentChromaRetriever(ChromaRetriever):
    """A collection in a folder, ``~/.chromadb`` unless named.

    Raises CollectionExists (a ValueError) for a collection that is there already, unless `extend`, and
    EmbedderMismatch for one that another model embedded. Chroma's folders are for one process at a time: with a second
    one open, queries are stale, and two that write lose vectors.
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        collection_name: str = "memories",
        model_name: str = _MODEL,
        extend: bool = False,
        *,
        embedder: Embedder | None = None,
    ) -> None:
        folder = _folder(directory)
        self._use(embedder or _embedder(model_name))
        with doing(f"open {folder}"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.client = open_folder(folder)
        self._closing = weakref.finalize(self, close_client, self.client)
        try:
            collection = find_collection(self.client, collection_name, self.embedding_function)
            if collection is not None and not extend:
                raise CollectionExists(
                    f"collection {collection_name!r} already exists in {folder}", hint="use extend=True to add to it"
                )
            if collection is not None:
                require_model(collection, self.embedder.name)
            self._attach(collection or create_collection(self.client, collection_name, self.embedding_function))
        except BaseException:
            self._closing()
            raise
        self.collection_name = collection_name


@validated
class CopiedChromaRetriever(PersistentChromaRetriever):
    """A private copy of a collection in a folder; what is done to it never reaches the original.

    The copy lives in a temporary folder, which goes with ``close``, with the object, or with the process. Raises
    CollectionNotFound when there is nothing to copy.
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        collection_name: str = "memories",
        model_name: str = _MODEL,
        _dest_collection_name: str | None = None,
        _copy_batch_size: int = 1_000,
        *,
        embedder: Embedder | None = None,
    ) -> None:
        folder = _folder(directory)
        missing = CollectionNotFound(f"no collection {collection_name!r} in {folder}")
        if not (folder / "chroma.sqlite3").is_file():
            raise missing
        self._use(embedder or _embedder(model_name))
        copy = tempfile.mkdtemp(prefix="amem-copy-")
        self._closing = weakref.finalize(self, _remove, None, copy)
        self.collection_name = _dest_collection_name or f"{collection_name}__clone"
        try:
            with doing(f"open {folder}"):
                source = open_folder(folder)
            try:
                original = find_collection(source, collection_name, None)
                if original is None:
                    raise missing
                require_model(original, self.embedder.name)
                with doing(f"copy {collection_name!r}"):
                    self.client = open_folder(Path(copy))
                self._closing.detach()
                self._closing = weakref.finalize(self, _remove, self.client, copy)
                self._attach(create_collection(self.client, self.collection_name, self.embedding_function))
                with doing(f"copy {collection_name!r}"):
                    self._copy(ChromaIndex(original), min(max(1, _copy_batch_size), BATCH))
            finally:
                close_client(source)
        except BaseException:
            self._closing()
            raise

    def _copy(self, original: ChromaIndex, size: int) -> None:
        for page in original.pages(["documents", "metadatas", "embeddings"], size):
            self.collection.upsert(
                ids=page["ids"],
                embeddings=page["embeddings"],
                documents=page["documents"],
                metadatas=page["metadatas"],
            )


def _embedder(model_name: str) -> Embedder:
    from amem.embedding import make_embedder
    from amem.settings import load_settings

    return make_embedder(load_settings(), model_name)


def _folder(directory: str | Path | None) -> Path:
    return Path.home() / ".chromadb" if directory is None else Path(directory).expanduser().absolute()


def _reset(retriever: weakref.ref[ChromaRetriever]) -> bool:
    """Replace the retriever's collection by an empty one of the same name."""
    found = retriever()
    if found is None:
        return False
    name = found.collection.name
    with doing("reset"):
        found.client.delete_collection(name)
    found._attach(create_collection(found.client, name, found.embedding_function))
    return True


def _drop(client: ClientAPI, name: str) -> None:
    with contextlib.suppress(ChromaFailed), failures_as_exceptions():
        client.delete_collection(name)
    close_client(client)


def _remove(client: ClientAPI | None, folder: str) -> None:
    if client is not None:
        close_client(client)
    shutil.rmtree(folder, ignore_errors=True)

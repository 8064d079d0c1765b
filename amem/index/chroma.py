"""Chroma, tamed: clients that close, failures that are ordinary exceptions, metadata that comes back as it was."""

from __future__ import annotations

import contextlib
import json
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from amem import checks
from amem.errors import AmemError, EmbedderMismatch, InvalidInput, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings as ChromaSettings
    from numpy.typing import NDArray

    from amem.index.vector_rows import Described

# Chroma, tamed: clients that close, failures that are ordinary exceptions, vectors by id.

BATCH = 5_000
"""Most rows handed to Chroma, or asked of it, at once: it takes 5,461, and reads fewer than 32,766."""


class ChromaFailed(Exception):
    """Chroma raised or panicked; says in words what it was."""


@contextlib.contextmanager
def failures_as_exceptions() -> Iterator[None]:
    """Turn whatever Chroma throws, a panic of its Rust core (a BaseException) included, into ChromaFailed."""
    try:
        yield
    except (ChromaFailed, AmemError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise ChromaFailed(f"{type(error).__name__}: {error}") from error


def open_folder(path: Path) -> ClientAPI:
    """A client on a folder of Chroma's. Close it with `close_client`, also before opening the folder again."""
    import chromadb

    try:
        return chromadb.PersistentClient(path=str(path), settings=default_settings())
    except BaseException:
        _forget(str(path))
        raise


def default_settings() -> ChromaSettings:
    """Chroma's own defaults, but never from a ``.env`` of the current folder.

    Nothing else is set, because Chroma refuses a second client with other settings, and the first may be the user's.
    """
    from chromadb.config import Settings

    without_file: Any = {"_env_file": None}
    return Settings(**without_file)


def close_client(client: ClientAPI) -> None:
    """Let go of files and threads; a client that is closed already, or broken, is fine."""
    closing: Any = client
    try:
        with failures_as_exceptions():
            closing.close()
    except ChromaFailed:
        # Chroma keeps one engine per path for the process; a broken one must not be handed out again.
        _forget(closing._identifier)


def _forget(path: str) -> None:
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient._identifier_to_system.pop(path, None)
    SharedSystemClient._identifier_to_refcount.pop(path, None)


class ChromaIndex:
    """Ids and vectors in, nearest ids out, of a Chroma collection in cosine, inner product or squared L2."""

    def __init__(self, collection: Collection, client: ClientAPI | None = None) -> None:
        self.collection, self.client = collection, client
        configuration = collection.configuration_json
        parts = configuration.get("hnsw") or configuration.get("spann") or {}
        self._space = parts.get("space") or "l2"

    def upsert(
        self,
        ids: Sequence[str],
        vectors: NDArray[np.float32],
        documents: Sequence[str] | None = None,
        metadatas: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Add or replace; `vectors` has shape (len(ids), dimension), rows L2-normalised."""
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            self.collection.upsert(
                ids=list(ids[part]),
                embeddings=vectors[part],
                documents=None if documents is None else list(documents[part]),
                metadatas=None if metadatas is None else list(metadatas[part]),
            )

    def put_notes(self, notes: Sequence[tuple[int, Described]], vectors: NDArray[np.float32]) -> None:
        """Store notes, given with their keys, under their own ids; ``key`` becomes part of their metadata."""
        self.upsert(
            [note.id for _, note in notes],
            vectors,
            [note.document for _, note in notes],
            [{"key": key, **note.metadata} for key, note in notes],
        )

    def delete_notes(self, keys: Sequence[int]) -> None:
        """Delete notes by key; unknown ones are ignored."""
        some: dict[str, Any] = {"key": {"$in": list(keys)}}
        self.collection.delete(where=some)

    def delete(self, ids: Iterable[str]) -> None:
        """Forget these ids; unknown ones are ignored."""
        every = list(ids)
        for start in range(0, len(every), BATCH):
            self.collection.delete(ids=every[start : start + BATCH])

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """The k nearest as (id, cosine), best first.

        Where Chroma finds fewer than there are, every vector is read: its graph loses sight of documents once many
        equal ones were added and deleted (17 of 150 found), or when nearly all are asked for.
        """
        if k < 1:
            return []
        hits = self.nearest(vector, k)
        return hits if len(hits) >= min(k, len(self)) else self._scan(vector, k)

    def nearest(
        self, vector: NDArray[np.float32], k: int, where: dict[str, Any] | None = None
    ) -> list[tuple[str, float]]:
        """As `query`, but only what Chroma finds by itself, which may be fewer; `where` is Chroma's filter."""
        found = self.collection.query(query_embeddings=vector[None, :], n_results=k, where=where, include=["distances"])
        distances = found["distances"]
        assert distances is not None
        return [(name, self._cosine(distance)) for name, distance in zip(found["ids"][0], distances[0], strict=True)]

    def _scan(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        hits: list[tuple[str, float]] = []
        for page in self.pages(["embeddings"]):
            vectors = np.asarray(page["embeddings"], dtype=np.float32)
            norms = np.maximum(np.linalg.norm(vectors, axis=1), np.finfo(np.float32).tiny)
            hits += zip(page["ids"], (vectors @ vector / norms).tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def documents(self, ids: Sequence[str]) -> dict[str, tuple[str, Mapping[str, Any] | None]]:
        """Text and metadata of each of these ids that is there."""
        found: dict[str, tuple[str, Mapping[str, Any] | None]] = {}
        for start in range(0, len(ids), BATCH):
            page = self.collection.get(ids=list(ids[start : start + BATCH]), include=["documents", "metadatas"])
            for name, text, stored in zip(page["ids"], page["documents"] or (), page["metadatas"] or (), strict=True):
                found[name] = text, stored
        return found

    def ids(self) -> list[str]:
        """Every id."""
        return [name for page in self.pages([]) for name in page["ids"]]

    def pages(self, include: list[Literal["documents", "embeddings", "metadatas"]], size: int = BATCH) -> Iterator[Any]:
        """Everything, page by page: asked for at once, 100,000 are "too many SQL variables"."""
        offset = 0
        while True:
            page = self.collection.get(limit=size, offset=offset, include=[*include])
            offset += len(page["ids"])
            if page["ids"]:
                yield page
            if len(page["ids"]) < size:
                return

    def _cosine(self, distance: float) -> float:
        # Chroma's l2 is squared, which for unit vectors is twice the cosine distance.
        return 1.0 - distance / 2 if self._space == "l2" else 1.0 - distance

    def __len__(self) -> int:
        return self.collection.count()


# Collections of a Chroma client that hold documents: made, found, and refused when another model embedded them.

#: Name under which Chroma keeps our embedding function with a collection.
FUNCTION = "amem"


@contextlib.contextmanager
def doing(action: str) -> Iterator[None]:
    """Chroma's failures as StorageError; `action` completes "Chroma could not ..."."""
    try:
        with failures_as_exceptions():
            yield
    except ChromaFailed as failure:
        raise StorageError(
            f"Chroma could not {action}: {failure}", hint="if its folder is broken, restore it or add the texts again"
        ) from failure


def find_collection(client: ClientAPI, name: str, function: Any) -> Collection | None:
    """The collection of that name, with our embedding function where it was made with that; None if there is none."""
    from chromadb.errors import NotFoundError

    with doing(f"open collection {name!r}"):
        try:
            collection = client.get_collection(name, embedding_function=None)
        except (NotFoundError, ValueError):
            return None
        if _made_by(collection).get("name") == FUNCTION:
            return client.get_collection(name, embedding_function=function)
        return collection


def create_collection(client: ClientAPI, name: str, function: Any) -> Collection:
    """A new collection, compared by cosine. Raises InvalidInput for a name that Chroma does not take."""
    from chromadb.errors import InvalidArgumentError

    with doing(f"make collection {name!r}"):
        try:
            return client.create_collection(
                name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=function
            )
        except (ValueError, InvalidArgumentError) as error:
            raise InvalidInput(
                f"Chroma does not take the collection name {name!r}: {error}",
                hint="use 3 to 512 letters, digits, dots, hyphens and underscores of ASCII",
            ) from error


def require_model(collection: Collection, model: str) -> None:
    """Raise EmbedderMismatch when Chroma knows that another model embedded the collection."""
    config = _made_by(collection).get("config") or {}
    other = config.get("model") or config.get("model_name")
    if other is not None and other.rpartition("/")[2] != model.rpartition("/")[2]:
        raise EmbedderMismatch(
            f"collection {collection.name!r} was embedded with {other}, not with {model}",
            hint=f"open it with model_name={other!r}",
        )


def _made_by(collection: Collection) -> dict[str, Any]:
    made_by: dict[str, Any] = collection.configuration_json.get("embedding_function") or {}
    return made_by


ENVELOPE = "amem_metadata"
_RESERVED = "chroma:"
#: What A-Mem's own documents, which have no envelope, hold as JSON or as digits; their other values are plain text.
_AMEM_LISTS = frozenset({"keywords", "links", "tags", "evolution_history"})
_AMEM_NUMBERS = frozenset({"retrieval_count"})


def pack_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """All of it as one JSON text, and beside it the values that Chroma can filter by.

    Raises InvalidInput naming the field that JSON cannot hold unchanged. A tuple counts as a list.
    """
    try:
        for name, value in metadata.items():
            if not isinstance(name, str):
                raise InvalidInput(f"metadata field names must be text, not {checks.shown(name)}")
            _check(name, value)
        whole = json.dumps(metadata)
    except RecursionError:
        raise InvalidInput("the metadata is nested too deeply") from None
    except InvalidInput:
        raise
    except ValueError as error:  # a number of more digits than Python writes
        raise InvalidInput(f"cannot keep the metadata: {error}") from error
    flat = {name: value for name, value in metadata.items() if _is_flat(name, value)}
    return {**flat, ENVELOPE: whole}


def unpack_metadata(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata that `pack_metadata` was given; of a document that A-Mem stored, with its known fields read."""
    if stored is None:
        return {}
    if ENVELOPE in stored:
        metadata: dict[str, Any] = json.loads(stored[ENVELOPE])
        return metadata
    return {name: _from_amem(name, value) for name, value in stored.items()}


def _check(name: str, value: object) -> None:
    if value is None or isinstance(value, str | bool | int | float):
        return
    if isinstance(value, list | tuple):
        for item in value:
            _check(name, item)
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"metadata field {name!r}: a key inside it is {checks.shown(key)}, not text")
            _check(name, item)
        return
    raise InvalidInput(
        f"metadata field {name!r} holds a {type(value).__name__}, which would not come back as it is",
        hint="use text, numbers, true or false, None, lists and dictionaries; times as ISO 8601 text",
    )


def _is_flat(name: str, value: object) -> bool:
    if not name or name.startswith(_RESERVED) or not _is_utf8(name):
        return False
    if isinstance(value, str):
        return _is_utf8(value)
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, float) and math.isfinite(value)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_amem(name: str, value: object) -> object:
    if not isinstance(value, str) or name not in _AMEM_LISTS | _AMEM_NUMBERS:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, list if name in _AMEM_LISTS else int) else value

"""Collections of a Chroma client that hold documents: made, found, and refused when another model embedded them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from amem.errors import EmbedderMismatch, InvalidInput, StorageError
from amem.index.chroma import ChromaFailed, failures_as_exceptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

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

"""Where the dense leg gets its vectors from: a narrow view of the store, which alone holds the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

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

    def space(self) -> str:
        """Fingerprint of the active vector space: collection, model, dimension, recipe. Changes on reindex."""
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

"""What recall needs of the rooms it does not import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from amem.protocols import Vector


class DenseIndex(Protocol):
    """The vectors of all committed notes, addressed by note key. Safe to use from many threads.

    Only `refresh` reads the store, so only it must stay outside a read of an in-memory collection.
    """

    def refresh(self, seen: int | None = None) -> None:
        """Take in what was committed since; `seen` is the change counter where the caller has just read it."""
        ...

    def search(
        self, vector: Vector, k: int, *, allowed: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Keys and cosines of the k nearest, best first; active notes only, or only those `allowed`."""
        ...

    def cosines(self, vector: Vector, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosine of each of these notes; NaN for one without a vector."""
        ...

    def vectors(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """Each of these notes' L2-normalised vector as a row; NaN for one without a vector."""
        ...

    def typical(self, vector: Vector) -> tuple[float, float]:
        """Mean and spread (standard deviation, above 0) of the cosines of a fixed sample of the active notes."""
        ...

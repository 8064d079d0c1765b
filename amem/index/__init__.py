"""The vector index: nearest notes by cosine, from memory, a cache file and, for large collections, Chroma."""

from __future__ import annotations

from amem.index.dense_index import DenseLeg
from amem.index.vector_rows import ACTIVE, ARCHIVED, GONE, SUPERSEDED, VectorDelta, VectorFeed

__all__ = ["ACTIVE", "ARCHIVED", "GONE", "SUPERSEDED", "DenseLeg", "VectorDelta", "VectorFeed"]

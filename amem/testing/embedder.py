"""An embedder and a reranker without a model: texts with common words are near."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from amem.language import index_terms, query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Matrix, Vector


# An embedder without a model: texts with common words get similar vectors.


class HashEmbedder:
    """Sums one fixed pseudo-random vector per index term (a random projection of the bag of words).

    The cosine of two texts is about the share of words they have in common, give or take 1 / sqrt(dimension). Words
    that mean the same without looking the same are strangers to it.
    """

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.name = f"hash-{dimension}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, the same in every process."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            # A text without any term still needs a direction; its own characters give it one.
            for term in index_terms(text) or [f"\0{text}"]:
                row += self._direction(term)
            if not row.any():
                row[0] = 1.0
            row /= np.linalg.norm(row)
        return rows

    def _direction(self, term: str) -> Vector:
        import numpy as np

        stream = hashlib.shake_128(term.encode("utf-8", "surrogatepass")).digest((self.dimension + 7) // 8)
        bits = np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[: self.dimension]
        return bits.astype(np.float32) * 2 - 1


# A reranker without a model: a passage answers as well as it has the question's words.


class WordReranker:
    """Scores a passage by the share of the question's words that are in it; reads every language."""

    name = "words"

    def load(self) -> None:
        """Nothing is to be loaded."""

    def knows(self, text: str) -> float:
        """1: any text."""
        return 1.0

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """For each passage the share, 0..1; 0 for a question without a word."""
        wanted = set(query_terms(question))
        return [len(wanted & set(index_terms(passage))) / max(1, len(wanted)) for passage in passages]

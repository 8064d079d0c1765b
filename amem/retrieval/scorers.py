"""What index terms are worth in notes: BM25 by SQLite's FTS5, or by rank-bm25 with one's own k1 and b."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Floats, Keys
    from amem.storage import Session

_LEAST_IDF = 1e-6


class Scorer(Protocol):
    """Says what each index term is worth in each note; the parts of several terms add up to their BM25."""

    k1: float

    def postings(self, session: Session, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        """Where each term stands: places in `terms`, keys of the notes that hold it, and its worth there, above 0."""
        ...


class Fts5Scorer:
    """SQLite's own ranking: always up to date, k1 1.2 and b 0.75 fixed."""

    k1 = 1.2

    def postings(self, session: Session, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        return session.text.postings(terms)


class RankBm25Scorer:
    """``rank_bm25.BM25Okapi`` with one's own k1 and b, rebuilt whenever the collection has changed."""

    def __init__(self, k1: float, b: float) -> None:
        self.k1, self._b = k1, b
        self._lock = threading.Lock()
        self._built: tuple[int, NDArray[np.int64], object] | None = None

    def postings(self, session: Session, terms: Sequence[str]) -> tuple[Keys, Keys, Floats]:
        keys, index = self._index(session)
        if index is None or not terms:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        scores = np.stack([index.get_scores([term]) for term in terms])  # type: ignore[attr-defined]  # rank_bm25 has no types
        places, rows = np.nonzero(scores > 0)
        return places.astype(np.int64), keys[rows], scores[places, rows]

    def _index(self, session: Session) -> tuple[NDArray[np.int64], object | None]:
        with self._lock:
            counter = session.counter
            if self._built is None or self._built[0] != counter:
                from rank_bm25 import BM25Okapi

                texts = session.text.tokens()
                index = None
                # rank_bm25 divides by the corpus size and by the number of different words.
                if any(texts.values()):
                    index = BM25Okapi(list(texts.values()), k1=self.k1, b=self._b, epsilon=0.0)
                    # As in FTS5, a term that most notes hold still finds them, it just hardly ranks them.
                    index.idf = {term: max(idf, _LEAST_IDF) for term, idf in index.idf.items()}
                self._built = counter, np.array(list(texts), dtype=np.int64), index
            return self._built[1], self._built[2]

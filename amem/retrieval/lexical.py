"""The lexical leg: BM25 over our own terms, by SQLite's FTS5 or by rank-bm25."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.retrieval.frequencies import telling
from amem.retrieval.fusion import Found
from amem.text import query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.retrieval.frequencies import Frequencies
    from amem.settings import Settings
    from amem.storage import Session


_LEAST_IDF = 1e-6


class Scorer(Protocol):
    """Ranks notes by index terms; every score is above nothing, higher is better."""

    def search(self, session: Session, terms: Sequence[str], limit: int, wanted: Filter) -> list[tuple[int, float]]:
        """(key, score) of notes that hold any of the terms and pass the filter, best first."""
        ...

    def score(self, session: Session, terms: Sequence[str], key: int) -> float:
        """The score of one note; 0 when it holds none of the terms."""
        ...


class Fts5Scorer:
    """SQLite's own ranking: always up to date, k1 1.2 and b 0.75 fixed."""

    def search(self, session: Session, terms: Sequence[str], limit: int, wanted: Filter) -> list[tuple[int, float]]:
        return session.text.search(terms, limit, wanted)

    def score(self, session: Session, terms: Sequence[str], key: int) -> float:
        return session.text.scores(terms, [key]).get(key, 0.0)


class RankBm25Scorer:
    """``rank_bm25.BM25Okapi`` with one's own k1 and b, rebuilt whenever the collection has changed."""

    def __init__(self, k1: float, b: float) -> None:
        self._k1, self._b = k1, b
        self._lock = threading.Lock()
        self._built: tuple[int, NDArray[np.int64], object] | None = None

    def search(self, session: Session, terms: Sequence[str], limit: int, wanted: Filter) -> list[tuple[int, float]]:
        keys, scores = self._scores(session, terms)
        allowed = np.array(session.notes.keys(wanted), dtype=np.int64)
        scores = np.where(np.isin(keys, allowed), scores, 0.0)
        best = np.lexsort((keys, -scores))[:limit]
        return [(int(keys[row]), float(scores[row])) for row in best if scores[row] > 0]

    def score(self, session: Session, terms: Sequence[str], key: int) -> float:
        keys, scores = self._scores(session, terms)
        return float(scores[keys == key].sum())

    def _scores(self, session: Session, terms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        keys, index = self._index(session)
        if index is None:
            return keys, np.zeros(len(keys))
        return keys, np.asarray(index.get_scores(list(terms)), dtype=np.float64)  # type: ignore[attr-defined]  # rank_bm25 has no types

    def _index(self, session: Session) -> tuple[NDArray[np.int64], object | None]:
        with self._lock:
            counter = session.counter
            if self._built is None or self._built[0] != counter:
                from rank_bm25 import BM25Okapi

                texts = session.text.tokens()
                index = None
                # rank_bm25 divides by the corpus size and by the number of different words.
                if any(texts.values()):
                    index = BM25Okapi(list(texts.values()), k1=self._k1, b=self._b, epsilon=0.0)
                    # As in FTS5, a term that most notes hold still finds them, it just hardly ranks them.
                    index.idf = {term: max(idf, _LEAST_IDF) for term, idf in index.idf.items()}
                self._built = counter, np.array(list(texts), dtype=np.int64), index
            return self._built[1], self._built[2]


class LexicalLeg:
    """Finds notes by the words of the question, stop words and terms that most notes hold left out."""

    name = "lexical"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._limit = settings.candidates
        self._frequencies = frequencies
        self.scorer: Scorer = (
            Fts5Scorer() if settings.lexical == "fts5" else RankBm25Scorer(settings.bm25_k1, settings.bm25_b)
        )

    def terms(self, session: Session, text: str) -> list[str]:
        """What of the question is asked for."""
        asked = query_terms(text)
        return telling(self._frequencies.of(session, asked), self._frequencies.total) if asked else []

    def find(self, session: Session, terms: Sequence[str], wanted: Filter) -> Found:
        """The best candidates for these terms."""
        pairs = self.scorer.search(session, terms, self._limit, wanted) if terms else []
        return Found(self.name, [key for key, _ in pairs], [score for _, score in pairs])


def matched_words(text: str, terms: Sequence[str], held: set[str]) -> tuple[str, ...]:
    """The words of the question, as typed, whose terms a note holds; CJK words as the bigrams that matched."""
    found: dict[str, None] = {}
    for word in text.split():
        hits = [term for term in query_terms(word) if term in held and term in terms]
        if hits and word.isascii():
            found[word.strip(".,;:!?\"'()[]{}<>").lower()] = None
        else:
            found.update(dict.fromkeys(hits))
    return tuple(found)

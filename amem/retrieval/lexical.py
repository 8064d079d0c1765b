"""The lexical leg: BM25 over our own terms, by SQLite's FTS5 or by rank-bm25, with what neighbouring turns lend."""

from __future__ import annotations

import math
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.retrieval.explanation import Lent
from amem.retrieval.frequencies import telling
from amem.retrieval.window import beside
from amem.text import query_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.retrieval.frequencies import Frequencies
    from amem.retrieval.legs import Asked, Floats, Keys
    from amem.settings import Settings
    from amem.storage import Session

_LEAST_IDF = 1e-6
#: FTS5's k1, by which no term can give more than k1 + 1 times its rarity.
_K1 = 1.2
#: So many of the best bring their neighbours in as candidates.
_HOSTS = 40


class Scorer(Protocol):
    """Says what each index term is worth in each note; the parts of several terms add up to their BM25."""

    k1: float

    def postings(self, session: Session, term: str) -> tuple[Keys, Floats]:
        """Keys of the notes that hold the term, ascending, and its part in the score of each, above nothing."""
        ...


class Fts5Scorer:
    """SQLite's own ranking: always up to date, k1 1.2 and b 0.75 fixed."""

    k1 = _K1

    def postings(self, session: Session, term: str) -> tuple[Keys, Floats]:
        return session.text.postings(term)


class RankBm25Scorer:
    """``rank_bm25.BM25Okapi`` with one's own k1 and b, rebuilt whenever the collection has changed."""

    def __init__(self, k1: float, b: float) -> None:
        self.k1, self._b = k1, b
        self._lock = threading.Lock()
        self._built: tuple[int, NDArray[np.int64], object] | None = None

    def postings(self, session: Session, term: str) -> tuple[Keys, Floats]:
        keys, index = self._index(session)
        if index is None:
            return keys, np.zeros(len(keys))
        scores = np.asarray(index.get_scores([term]), dtype=np.float64)  # type: ignore[attr-defined]  # rank_bm25 has no types
        held = scores > 0
        return keys[held], scores[held]

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


class LexicalLeg:
    """Finds notes by the words of the question, stop words and terms that most notes hold left out."""

    name = "lexical"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._frequencies = frequencies
        self._reach, self._decay = settings.window, settings.window_decay
        self._scorer: Scorer = (
            Fts5Scorer() if settings.lexical == "fts5" else RankBm25Scorer(settings.bm25_k1, settings.bm25_b)
        )

    def ask(self, asked: Asked) -> Words | None:
        """What the words say; None where none of them is in any note."""
        terms = query_terms(asked.reading.lexical)
        counts = self._frequencies.of(asked.session, terms) if terms else {}
        known = telling(counts, self._frequencies.total)
        if not known:
            return None
        postings = [self._scorer.postings(asked.session, term) for term in known]
        total = asked.session.text.total
        most = (self._scorer.k1 + 1) * sum(_idf(len(keys), total) for keys, _ in postings)
        return Words(asked, known, postings, most, self._reach, self._decay)


def _idf(count: int, total: int) -> float:
    """Robertson and Sparck Jones's, as FTS5 has it."""
    return max(_LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))


class Words:
    """The lexical leg's answer. The common scale is the share of the most that the question's words can give."""

    def __init__(
        self,
        asked: Asked,
        terms: Sequence[str],
        postings: Sequence[tuple[Keys, Floats]],
        most: float,
        reach: int,
        decay: float,
    ) -> None:
        self.terms = terms
        self._asked, self._most = asked, most
        self._reach, self._decay = reach, decay
        self._held: Keys = np.unique(np.concatenate([keys for keys, _ in postings]))
        #: What each term (column) is worth in each note that holds any (row).
        self._own = np.zeros((len(self._held), len(terms)))
        for column, (keys, scores) in enumerate(postings):
            self._own[np.searchsorted(self._held, keys), column] = scores
        self._known: dict[int, float] = {}

    @cached_property
    def keys(self) -> Sequence[int]:
        """The best by their own words, and turns beside them that have become as good."""
        limit, gate = self._asked.limit, self._asked.gate
        best = self._best_own(limit)
        around = beside(self._asked.session, np.array(best[:_HOSTS], dtype=np.int64), self._reach, self._decay)
        near = gate.admit(sorted(set(around.neighbours.tolist()) - set(best)))
        candidates = np.array([*best, *near], dtype=np.int64)
        worth = self.scores(candidates)[0]
        order = np.lexsort((candidates, -worth))[:limit]
        return [int(key) for key in candidates[order]]

    def _best_own(self, limit: int) -> list[int]:
        own = self._own.sum(axis=1)
        held = self._held
        allowed = self._asked.gate.allowed
        if allowed is not None:
            passing = np.isin(held, allowed)
            own, held = own[passing], held[passing]
        order = np.lexsort((held, -own))
        found: list[int] = []
        # Some may be superseded or archived, so a few more than wanted are looked at.
        margin = limit + 32
        for start in range(0, len(order), margin):
            found += self._asked.gate.admit(held[order[start : start + margin]].tolist())
            if len(found) >= limit:
                break
        return found[:limit]

    def ranks(self) -> Mapping[int, int]:
        return {key: place for place, key in enumerate(self.keys, start=1)}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        fresh = np.array([key for key in keys.tolist() if key not in self._known], dtype=np.int64)
        if len(fresh):
            self._known |= zip(fresh.tolist(), self._windowed(fresh).sum(axis=1).tolist(), strict=True)
        raw = np.array([self._known[key] for key in keys.tolist()], dtype=np.float64)
        return raw, np.clip(raw / self._most, 0.0, 1.0)

    def matched(self, key: int) -> tuple[str, ...]:
        """The terms that the note itself holds."""
        own = self._rows(np.array([key], dtype=np.int64))[0]
        return tuple(term for term, score in zip(self.terms, own.tolist(), strict=True) if score > 0)

    def lent(self, key: int) -> tuple[Lent, ...]:
        """The neighbours that lent the note words, and which; the nearest first."""
        around = beside(self._asked.session, np.array([key], dtype=np.int64), self._reach, self._decay)
        own = self._rows(np.array([key], dtype=np.int64))[0]
        offers = self._rows(around.neighbours) * around.worth[:, None]
        lenders: dict[int, list[str]] = {}
        for column, term in enumerate(self.terms):
            if len(offers) and offers[:, column].max() > own[column]:
                lenders.setdefault(int(offers[:, column].argmax()), []).append(term)
        rows = self._asked.session.notes.columns([int(around.neighbours[row]) for row in lenders], ["id"])
        return tuple(
            Lent(str(rows[int(around.neighbours[row])][0]), int(around.steps[row]), tuple(words))
            for row, words in sorted(lenders.items(), key=lambda each: (abs(int(around.steps[each[0]])), each[0]))
        )

    def _windowed(self, keys: Keys) -> Floats:
        """For each note and term the best of its own score and what its neighbours lend."""
        best = self._rows(keys)
        around = beside(self._asked.session, keys, self._reach, self._decay)
        if len(around.keys):
            order = np.argsort(keys)
            hosts = order[np.searchsorted(keys, around.keys, sorter=order)]
            np.maximum.at(best, hosts, self._rows(around.neighbours) * around.worth[:, None])
        return best

    def _rows(self, keys: Keys) -> Floats:
        at = np.minimum(np.searchsorted(self._held, keys), len(self._held) - 1)
        rows: Floats = np.where((self._held[at] == keys)[:, None], self._own[at], 0.0)
        return rows

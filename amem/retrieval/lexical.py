"""The lexical leg: notes that hold the words of the question, the rarer the better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from amem.retrieval.frequencies import telling
from amem.retrieval.scorers import Fts5Scorer, RankBm25Scorer
from amem.retrieval.words import Words
from amem.text import asked_terms

if TYPE_CHECKING:
    from amem.retrieval.frequencies import Frequencies
    from amem.retrieval.legs import Asked
    from amem.retrieval.scorers import Scorer
    from amem.settings import Settings

_LEAST_IDF = 1e-6


class LexicalLeg:
    """Finds notes by the words of the question, stop words and terms that most notes hold left out."""

    name = "lexical"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._frequencies = frequencies
        self._decay = settings.window_decay
        self._scorer: Scorer = (
            Fts5Scorer() if settings.lexical == "fts5" else RankBm25Scorer(settings.bm25_k1, settings.bm25_b)
        )

    def ask(self, asked: Asked) -> Words | None:
        """What the words say; None where none of them is in any note."""
        terms = asked_terms(asked.reading.lexical)
        counts = self._frequencies.of(asked.session, terms) if terms else {}
        known = telling(counts, self._frequencies.total)
        places, keys, worth = self._scorer.postings(asked.session, known)
        if not len(keys):
            return None
        held, rows = np.unique(keys, return_inverse=True)
        own = np.zeros((len(held), len(known)))
        own[rows, places] = worth
        total = asked.session.text.total
        # No term can give more than k1 + 1 times its rarity.
        holders = np.bincount(places, minlength=len(known)).tolist()
        most = (self._scorer.k1 + 1) * sum(_idf(count, total) for count in holders if count)
        return Words(asked, known, held, own, most, self._decay)


def _idf(count: int, total: int) -> float:
    """Robertson and Sparck Jones's, as FTS5 has it."""
    return max(_LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))

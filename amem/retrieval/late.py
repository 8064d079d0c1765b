"""The late leg: notes whose words mean what the words of the question mean, each word by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from amem.language import asked_terms
from amem.retrieval.legs import Opinion
from amem.token_vectors import PACKING, product, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.retrieval.legs import Asked, Floats, Keys
    from amem.retrieval.words import Frequencies
    from amem.settings import Settings
    from amem.storage.vectors import Space

# Late interaction (Khattab & Zaharia, SIGIR 2020), with the word vectors of the everyday model rather than of one
# trained for it: for each word of the question the best cosine to a word of the note or, decayed, of the turns around
# it; their mean, weighted by how rare the words are. The vector of a whole note blurs its one telling word, and BM25
# misses it where another word stands for it.

#: Cosines of words that have nothing to do with each other, and of words that mean the same in much the same context.
_UNRELATED, _SAME = 0.2, 0.9
_LEAST_IDF = 0.01


class LateLeg:
    """Finds no notes of its own; says how well the words of a candidate fit those of the question."""

    name = "late"

    def __init__(self, settings: Settings, frequencies: Frequencies) -> None:
        self._decay, self._weight = settings.window_decay, settings.late_weight
        self._frequencies = frequencies

    def ask(self, asked: Asked) -> Near | None:
        """How near the words are; None without vectors of words, or where most notes bear each word of the question."""
        tokens = tokens_of(asked.vector)
        space = asked.session.vectors.space() if tokens is not None and self._weight > 0 else None
        if tokens is None or space is None or space.tokens != PACKING:
            return None
        worth = self._worth(asked, tokens.words)
        said = worth > 0
        return Near(asked, space, tokens.rows[said], worth[said] / worth.sum(), self._decay) if said.any() else None

    def _worth(self, asked: Asked, words: Sequence[str]) -> Floats:
        """How rare the word of each piece is, shared by its pieces; 0 for a word that is not searched for.

        All 0 where no word is rare: what fits nearly every note alike tells none from another.
        """
        terms = {word: asked_terms(word)[:1] for word in dict.fromkeys(words)}
        wanted = sorted({term for found in terms.values() for term in found})
        counts = self._frequencies.of(asked.session, wanted) if wanted else {}
        total = max(self._frequencies.total, max(counts.values(), default=0), 1)
        rarity = {
            word: max(_LEAST_IDF, math.log((total - counts[found[0]] + 0.5) / (counts[found[0]] + 0.5)))
            if found
            else 0.0
            for word, found in terms.items()
        }
        if max(rarity.values(), default=0.0) <= _LEAST_IDF:
            return np.zeros(len(words))
        return np.array([rarity[word] / words.count(word) for word in words], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Near(Opinion):
    """The late leg's answer. `rows` are the question's pieces at length 1, `worth` adds up to 1."""

    space: Space
    rows: NDArray[np.float32]
    worth: Floats
    decay: float
    _known: dict[int, float] = field(default_factory=dict)

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        fresh = np.array([key for key in keys.tolist() if key not in self._known], dtype=np.int64)
        if len(fresh):
            self._known.update(zip(fresh.tolist(), self._near(fresh).tolist(), strict=True))
        found = np.array([self._known[key] for key in keys.tolist()], dtype=np.float64)
        return found, found

    def matched(self, key: int) -> tuple[str, ...]:
        return ()

    def _near(self, keys: Keys) -> Floats:
        around = self.asked.talk.around(keys)
        every = np.union1d(keys, around.neighbours)
        best, held = self._best(every)
        near = best[np.searchsorted(every, keys)]
        if len(around.keys):
            order = np.argsort(keys)
            hosts = order[np.searchsorted(keys, around.keys, sorter=order)]
            lent = best[np.searchsorted(every, around.neighbours)] * around.worth(self.decay)[:, None]
            np.maximum.at(near, hosts, lent)
        fit = np.clip((near - _UNRELATED) / (_SAME - _UNRELATED), 0.0, 1.0) @ self.worth
        # Of a note whose words are not kept the whole is all there is to go by.
        bare = ~held[np.searchsorted(every, keys)]
        if bare.any() and (whole := self.asked.heard.get("dense")) is not None:
            fit[bare] = whole.scores(keys[bare])[1]
        return fit

    def _best(self, keys: Keys) -> tuple[Floats, NDArray[np.bool_]]:
        """For each note (keys ascend) and piece of the question the best cosine, 0 at least; whether it has words."""
        there, counts, tokens = self.asked.session.vectors.tokens(self.space, keys.tolist())
        best = np.zeros((len(keys), len(self.rows)))
        if len(tokens.vectors):
            some, cosines = np.array(counts), product(tokens.rows, self.rows.T)
            starts = (np.cumsum(some) - some)[some > 0]
            rows = np.searchsorted(keys, np.array(there)[some > 0])
            best[rows] = np.maximum(0.0, np.maximum.reduceat(cosines, starts, axis=0))
        return best, np.isin(keys, there)

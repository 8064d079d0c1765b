"""What one would write without amem, on the same turns, vectors and questions: cosines, BM25, ranks of both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from amem.interop.locomo import session_time
from amem.language.scripts import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _locomo_file import Conversation, Turn
    from numpy.typing import NDArray

    from amem.protocols import Embedder

    Rank = Callable[[str], list[str]]

CANDIDATES = 80
K = 60
#: What A-Mem's own search comes down to: the question as it is against every note, no link followed.
DENSE = "peer: dense, the question as it is"
#: Snowball stems without stop words, and the day of each turn among its words.
DATED = "peer: BM25 of stems, dated"
STEMS = "peer: BM25 of stems"
_WORD = re.compile(r"\w+")


def peers(conversation: Conversation, embedder: Embedder) -> Mapping[str, Rank]:
    """By name: a question's text to the conversation's turns, best first."""
    turns = list(conversation.turns.values())
    refs = [turn.ref for turn in turns]
    texts = [f"{turn.speaker}: {turn.text}" for turn in turns]
    rows = embedder.embed(texts)

    def dense(question: str) -> NDArray[np.float64]:
        return np.asarray(rows @ embedder.embed([question])[0], dtype=np.float64)

    plain = _bm25(texts, lambda text: text.lower().split())
    stemmed = _bm25(texts, stems)
    dated = _bm25([f"{_date(turn)} {text}" for turn, text in zip(turns, texts, strict=True)], stems)

    def ranking(*scores: Callable[[str], NDArray[np.float64]]) -> Rank:
        def rank(question: str) -> list[str]:
            orders = [np.argsort(-score(question), kind="stable")[:CANDIDATES] for score in scores]
            return [refs[row] for row in (orders[0] if len(orders) == 1 else reciprocal_ranks(orders))]

        return rank

    return {
        DENSE: ranking(dense),
        "peer: BM25, words split at spaces": ranking(plain),
        STEMS: ranking(stemmed),
        DATED: ranking(dated),
        "peer: RRF of dense, BM25 split": ranking(dense, plain),
        "peer: RRF of dense, BM25 of stems": ranking(dense, stemmed),
        "peer: RRF of dense, BM25 dated": ranking(dense, dated),
    }


def reciprocal_ranks(orders: Sequence[NDArray[np.int64]], k: float = K) -> list[int]:
    """Rows by the sum of 1 / (k + rank) over the orders that hold them (Cormack, Clarke & Büttcher, 2009)."""
    scores: dict[int, float] = {}
    for order in orders:
        for place, row in enumerate(order.tolist(), start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (k + place)
    return sorted(scores, key=lambda row: -scores[row])


def stems(text: str) -> list[str]:
    """Snowball stems of the words that are no stop words."""
    import snowballstemmer

    words = [word for word in _WORD.findall(text.lower()) if word not in ENGLISH]
    return list(snowballstemmer.stemmer("english").stemWords(words))


def _bm25(texts: Sequence[str], split: Callable[[str], list[str]]) -> Callable[[str], NDArray[np.float64]]:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([split(text) for text in texts])
    return lambda question: np.asarray(index.get_scores(split(question)), dtype=np.float64)


def _date(turn: Turn) -> str:
    return f"{session_time(turn.said_at):%d %B %Y}" if turn.said_at else ""

"""What the embedding model can read of a question, and of a collection: how far nearness by meaning is to be trusted.

An English model puts Chinese texts somewhere, and near to each other, without knowing what they say. Its opinion on a
question counts for as much of the question as its vocabulary has words for: nearly nothing for a Chinese one, something
for a mixed one. Words, names, facts and times then carry the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.protocols import Literate

if TYPE_CHECKING:
    from amem.protocols import Embedder


def dense_trust(embedder: Embedder, text: str) -> float:
    """What nearness by meaning is worth for this question, 0..1, a factor on the dense leg's weight.

    1 for ASCII text (at no cost), and for a model that cannot tell, as those on a server.
    """
    return embedder.knows(text) if isinstance(embedder, Literate) else 1.0

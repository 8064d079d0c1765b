"""Which notes words may mean when something is to be forgotten: whoever chooses should see when none is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conversation.reply import Candidate, Forgotten
from amem.query import Query
from amem.retrieval.confidence import Support, share_held, telling, weights_of

if TYPE_CHECKING:
    from amem.conversation.ports import Memory
    from amem.storage import Store

_MOST = 5


def meant(memory: Memory, store: Store, words: str) -> Forgotten:
    """The notes that these words may mean, best first; none where no note has them or comes near in meaning."""
    hits = memory.ask(Query(words, _MOST, touch=False))
    with store.read() as session:
        frequency = session.text.document_frequency(telling(words))
        weights = weights_of(words, frequency, session.notes.count())
    # Of a word of one character the judge knows nothing; it may stand in a note all the same.
    texts = [f"{hit.content}\n{' '.join(hit.keywords)}" for hit in hits]
    worded = any(words.casefold() in text.casefold() or share_held(weights, text) > 0 for text in texts)
    if not worded and all(hit.support is Support.NONE for hit in hits):
        return Forgotten(None)
    found = (Candidate(hit.id, hit.content, hit.score, hit.explanation.words()) for hit in hits)
    return Forgotten(None, tuple(found), worded=worded)

"""Which notes words may mean when something is to be forgotten: whoever chooses should see when none is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conversation.reply import Candidate, Forgotten
from amem.query import Query
from amem.retrieval.support import Support, evidence_of, judge, telling

if TYPE_CHECKING:
    from amem.conversation.ports import Memory
    from amem.storage import Store

_MOST = 5


def meant(memory: Memory, store: Store, words: str) -> Forgotten:
    """The notes that these words may mean, best first; none where no note has them or comes near in meaning."""
    hits = memory.ask(Query(words, _MOST, touch=False))
    with store.read() as session:
        frequency = session.text.document_frequency(telling(words))
        verdict = judge(words, [evidence_of(hit) for hit in hits], frequency, session.notes.count())
    # Of a word of one character the judge knows nothing; it may stand in a note all the same.
    worded = verdict.held > 0 or any(words.casefold() in hit.content.casefold() for hit in hits)
    if not worded and verdict.support is Support.NO:
        return Forgotten(None)
    found = (Candidate(hit.id, hit.content, hit.score, hit.explanation.words()) for hit in hits)
    return Forgotten(None, tuple(found), worded=worded)

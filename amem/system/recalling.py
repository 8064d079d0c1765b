"""Questions to the notes, and why a note answers or does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.note import Status
from amem.query import Filter, Query
from amem.retrieval.hit import related_text
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from amem.collection_retriever import CollectionRetriever
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.hit import Hit


class Recalling(Wiring):
    """Finds notes: by a plain question, by a Query, many at once, or as text for a prompt."""

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        include_superseded: bool = False,
        touch: bool = True,
        minimum_score: float | None = None,
        rerank: bool | None = None,
        minimum_confidence: float | None = None,
    ) -> list[Hit]:
        """The k notes that answer best, best first, each with a score in 0..1 (higher is better) and its reasons.

        `minimum_confidence` (0..1) leaves out those that are less likely to hold the answer (``hit.confidence``).

        `include_superseded` lets notes answer, too, whose place others have taken. `rerank` has a cross-encoder read
        the best candidates again, or keeps it from doing so; None leaves that to the settings. Raises MissingModel
        where it was asked for and cannot be had.
        """
        asked = Query(
            query,
            k,
            filter or Filter(),
            touch=touch,
            minimum_score=minimum_score,
            rerank=rerank,
            minimum_confidence=minimum_confidence,
        )
        return self.ask(_widened(asked) if include_superseded else asked)

    def search_agentic(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        include_superseded: bool = False,
        touch: bool = True,
        minimum_score: float | None = None,
        rerank: bool | None = None,
        minimum_confidence: float | None = None,
    ) -> list[Hit]:
        """As `search`, with the notes that good answers are linked to, all ranked together."""
        asked = Query(
            query,
            k,
            filter or Filter(),
            expand=True,
            touch=touch,
            minimum_score=minimum_score,
            rerank=rerank,
            minimum_confidence=minimum_confidence,
        )
        return self.ask(_widened(asked) if include_superseded else asked)

    def ask(self, query: Query) -> list[Hit]:
        """Answer a Query, the one value behind every way to search. Raises EmbedderMismatch."""
        self._vectorizer.check()
        self._hear([query.text])
        return self._recall.search(query.in_zone(self._zone))

    def search_batch(self, queries: Sequence[str | Query], k: int = 5) -> list[list[Hit]]:
        """Answer many questions, embedding them together; results in order."""
        self._vectorizer.check()
        asked = [Query(each, k) if isinstance(each, str) else each.in_zone(self._zone) for each in queries]
        self._hear(query.text for query in asked)
        return self._recall.search_batch(asked)

    def explain(self, query: str | Query, id: str) -> Explanation:
        """Why this note is, or is not, among the answers. Raises NoteNotFound."""
        self._vectorizer.check()
        question = query if isinstance(query, Query) else Query(query, expand=True, touch=False)
        question = question.in_zone(self._zone)
        return self._recall.explain(question, id)

    def opened(self, ids: Sequence[str]) -> None:
        """Count notes that somebody opened and read as used, at most once a day each.

        An archived note comes back when it is used for the second time since it was archived, here or in a search.
        """
        self._recall.opened(ids)

    def find_related_memories(self, query: str, k: int = 5) -> tuple[str, list[str]]:
        """A-Mem's helper: the related notes as text for a prompt, and their ids."""
        hits = self.search(query, k)
        return related_text(hits), [hit.id for hit in hits]

    def find_related_memories_raw(self, query: str, k: int = 5) -> str:
        """As `find_related_memories`, with linked notes, the text alone."""
        return related_text(self.search_agentic(query, k))

    @property
    def _zone(self) -> tzinfo:
        """That of times given without one."""
        return zone(self.settings.timezone)

    @property
    def retriever(self) -> CollectionRetriever:
        """The notes in Chroma, as A-Mem's programs search them."""
        return self._retriever


def _widened(query: Query) -> Query:
    """The same question to notes, too, whose place others have taken."""
    statuses = dict.fromkeys((*query.filter.statuses, Status.SUPERSEDED))
    return replace(query, filter=replace(query.filter, statuses=tuple(statuses)))

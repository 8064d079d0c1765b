"""Catalogs: collections that are searched beside a memory's own and never written by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.language import normalize
from amem.retrieval.grouping import spread_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.protocols import Vector
    from amem.query import Query
    from amem.retrieval.hit import Hit
    from amem.retrieval.recall import Recall
    from amem.storage.store import Session, Store


@dataclass(frozen=True, slots=True)
class Searched:
    """A collection that is searched."""

    name: str
    recall: Recall
    store: Store


class JoinedRecall:
    """Recall over a collection and its `catalogs`, which use one embedder.

    A question is embedded once, and each collection ranks its notes as it does alone. Scores of the convex fusion say
    how well a note answers, on one scale in all of them (ranks do not, so reciprocal ranks are refused where there are
    catalogs): hits are merged by score, spread over their groups where groups are asked for, and cut at the `k` of the
    query. Uses count in the memory's own notes alone.
    """

    def __init__(self, own: Searched, catalogs: Sequence[Searched] = ()) -> None:
        self._own = own
        self._catalogs = tuple(catalogs)

    def search(self, query: Query) -> list[Hit]:
        """As `search_batch` for one query."""
        return self.search_batch([query])[0]

    def search_batch(self, queries: Sequence[Query]) -> list[list[Hit]]:
        """The best `query.k` notes of all collections for each query, best first."""
        own = self._own.recall
        if not self._catalogs:
            return own.search_batch(queries)
        vectors: dict[str, Vector] = {}
        asked = [replace(query, touch=False) for query in queries]
        found = [own.search_batch(asked, vectors=vectors)]
        for each in self._catalogs:
            answers = each.recall.search_batch(asked, vectors=vectors)
            found.append([[replace(hit, is_catalog=True) for hit in hits] for hits in answers])
        merged = [_merged(answers, query.k) for query, *answers in zip(queries, *found, strict=True)]
        used = [hit for query, hits in zip(queries, merged, strict=True) if query.touch for hit in hits]
        if ids := [hit.id for hit in used if not hit.is_catalog]:
            own.opened(ids)
        return merged

    def opened(self, ids: Sequence[str]) -> None:
        """Count the memory's own among these notes as used."""
        self._own.recall.opened(ids)

    def reading(self, hits: Sequence[Hit]) -> Iterator[tuple[Session, list[Hit]]]:
        """Each collection that some of the hits are from, open to be read, with these."""
        for place, each in enumerate((self._own, *self._catalogs)):
            some = [hit for hit in hits if hit.collection == each.name and hit.is_catalog is (place > 0)]
            if some:
                with each.store.read() as session:
                    yield session, some


def _merged(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """The best hits, of equal scores the memory's own first; what several collections say is told by the first."""
    told: set[str] = set()
    kept: list[Hit] = []
    for hits in answers:
        fresh = [hit for hit in hits if told.isdisjoint((hit.id, normalize(hit.content)))]
        told.update(word for hit in fresh for word in (hit.id, normalize(hit.content)))
        kept += fresh
    kept.sort(key=lambda hit: -hit.score)
    best = [replace(hit, explanation=replace(hit.explanation, place=place)) for place, hit in enumerate(kept, start=1)]
    groups = [hit.group for hit in best if hit.group is not None]
    return [best[place] for place in spread_over(groups, [hit.score for hit in best], k)] if groups else best[:k]

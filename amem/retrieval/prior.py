"""What a note's standing says before the question is heard: how well it is remembered, how far it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Kind, Status
from amem.rendering import holding_text
from amem.retrieval.explanation import ASKING, Prior
from amem.text import index_terms, query_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.query import Query
    from amem.retrieval.reading import Reading
    from amem.settings import Settings
    from amem.storage import Session


class Priors:
    """The priors that go with one question.

    `floor` is the least factor that retention and trust can be, `least` the least that any prior is.
    """

    def __init__(self, query: Query, reading: Reading, settings: Settings) -> None:
        self._recency = reading.recency
        self._decay_rate = settings.decay_rate
        self.floor = settings.prior_floor_temporal if self._recency else settings.prior_floor
        # Whoever names the kinds that may answer wants them as they are.
        self._asking = not query.filter.kinds
        # Whoever asks for a time, or for what was superseded too, wants what was so then.
        now = query.filter.as_of is None and Status.SUPERSEDED not in query.filter.statuses
        self._terms = frozenset(query_terms(reading.text)) if now else frozenset()
        self.least = self.floor * (ASKING if self._asking else 1.0)

    def most(self, kind: str) -> float:
        """The most that the prior of a note of this kind can be."""
        return ASKING if self._asking and kind == Kind.QUESTION else 1.0

    def of(
        self, session: Session, keys: Sequence[int], timely: Mapping[int, float] | None = None
    ) -> Mapping[int, Prior]:
        """The prior of each of these notes (see ``amem.strength``), as of the session's now.

        `timely` says how well the time of a note goes with a question that asks for what is recent, 0 for others.
        """
        timely = timely or {}
        standing = session.usage.standings(keys)
        retention = standing.retention(session.now, self._decay_rate).tolist()
        trust = standing.trust(session.now).tolist()
        asks = (standing.of_kind(Kind.QUESTION) & self._asking).tolist()
        ended = self._ended(session, keys)
        return {
            key: Prior(kept, believed, self.floor, self._recency, asking, timely.get(key, 0.0), key in ended)
            for key, kept, believed, asking in zip(standing.keys.tolist(), retention, trust, asks, strict=True)
        }

    def _ended(self, session: Session, keys: Sequence[int]) -> set[int]:
        """Those of these notes that hold words of the question in statements that no longer hold, and nowhere else."""
        found = set()
        for key, (content, told) in session.notes.overturned_among(keys).items() if self._terms else ():
            rest = self._terms.intersection(index_terms(holding_text(content, told)))
            gone = self._terms.intersection(term for each in told for term in index_terms(each.text))
            if gone and not rest:
                found.add(key)
        return found

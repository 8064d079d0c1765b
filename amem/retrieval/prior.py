"""What a note's standing says before the question is heard: how well it is remembered, how far it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Kind
from amem.retrieval.explanation import ASKING, Prior

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
        return {
            key: Prior(kept, believed, self.floor, self._recency, asking, timely.get(key, 0.0))
            for key, kept, believed, asking in zip(standing.keys.tolist(), retention, trust, asks, strict=True)
        }

"""What a note's standing says before the question is heard: how well it is remembered, how far it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.retrieval.explanation import Prior
from amem.retrieval.intent import asks_for_recent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.settings import Settings
    from amem.storage import Session


class Priors:
    """The priors that go with one question; `floor` is the least factor that any of them is."""

    def __init__(self, question: str, settings: Settings) -> None:
        self._recent = asks_for_recent(question)
        self._decay_rate = settings.decay_rate
        self.floor = settings.prior_floor_temporal if self._recent else settings.prior_floor

    def of(self, session: Session, keys: Sequence[int]) -> Mapping[int, Prior]:
        """The prior of each of these notes (see ``amem.strength``), as of the session's now."""
        standing = session.usage.standings(keys)
        retention = standing.retention(session.now, self._decay_rate).tolist()
        trust = standing.trust(session.now).tolist()
        return {
            key: Prior(kept, believed, self.floor, self._recent)
            for key, kept, believed in zip(standing.keys.tolist(), retention, trust, strict=True)
        }

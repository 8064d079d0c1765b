"""What a note's standing says before the question is heard: how well it is remembered, how far it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem import strength
from amem.retrieval.explanation import Prior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.storage import Session


def priors(session: Session, keys: Sequence[int], floor: float) -> Mapping[int, Prior]:
    """The prior of each of these notes (see ``amem.strength``), as of the session's now."""
    return {
        key: Prior(
            retention=strength.retention(
                standing.idle_days,
                strength.stability(standing.kind, growth=standing.growth, pinned=standing.pinned),
                standing.layer,
            ),
            trust=strength.trust(
                standing.reliability, standing.age_days, standing.corroborations, standing.contradictions
            ),
            floor=floor,
        )
        for key, standing in session.usage.standing(keys).items()
    }

"""What each kind of question makes of the legs.

A leg counts by its weight in the settings, times what the question's intents make of it: of several intents the one
that makes most of it. A leg that is not named keeps its weight; facts, speakers and times speak up by themselves where
a question gives them something to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.retrieval.reading import Intent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amem.settings import Settings

#: Who asks what Ana does, or all about her, asks by her name; why, how and when something was is told in notes that
#: often do not repeat of whom.
EMPHASIS: Mapping[Intent, Mapping[str, float]] = {
    Intent.FACTUAL: {"entity": 1.0},
    Intent.EXPLORATORY: {"entity": 1.0},
    Intent.TEMPORAL: {"entity": 0.5},
    Intent.CAUSAL: {"entity": 0.5},
    Intent.PROCEDURAL: {"entity": 0.5},
    Intent.GENERAL: {"entity": 0.5},
}


def weights(settings: Settings, legs: Iterable[str], intents: Iterable[Intent]) -> dict[str, float]:
    """The weight of each of these legs for a question of these intents."""
    asked = tuple(intents)
    return {
        leg: getattr(settings, f"{leg}_weight") * max(EMPHASIS[intent].get(leg, 1.0) for intent in asked)
        for leg in legs
    }

"""How well a note is remembered and how far it is believed: pure functions of recorded inputs.

Nothing here reads its own last result: a trust or strength that fed on itself would decay each time it is looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amem.note import Kind, Layer

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Days until a note of this kind is kept at 1/e; infinite for what never decays.
STABILITY_DAYS: Mapping[Kind, float] = {
    Kind.CONFIG: 120.0,
    Kind.DECISION: 90.0,
    Kind.CONSTRAINT: 90.0,
    Kind.PREFERENCE: 90.0,
    Kind.FACT: 90.0,
    Kind.CODE: 60.0,
    Kind.ERROR: 30.0,
    Kind.EPISODE: 14.0,
    Kind.QUESTION: 7.0,
    Kind.CHITCHAT: 3.0,
    Kind.PROCEDURE: math.inf,
    Kind.TOPIC: math.inf,
}

_BETA: Mapping[Layer, float] = {Layer.SHORT_TERM: 1.2, Layer.LONG_TERM: 0.8}
_USE_GROWTH = 1.3
_GROWTH_CAP_DAYS = 365.0


def stability(kind: Kind, *, growth: float = 1.0, pinned: bool = False) -> float:
    """Days until retention falls to 1/e; `growth` is the product of what each counted use added (x 1.3, cap 365 d)."""
    if pinned:
        return math.inf
    base = STABILITY_DAYS[kind]
    return base if math.isinf(base) else min(base * growth, max(base, _GROWTH_CAP_DAYS))


def grown(growth: float) -> float:
    """The growth factor after one more counted use."""
    return growth * _USE_GROWTH


def retention(age_days: float, stability_days: float, layer: Layer, *, decay_rate: float | None = None) -> float:
    """Share still remembered after `age_days` (0..1): ``exp(-decay_rate * age ** beta)``.

    beta is 1.2 short-term and 0.8 long-term; `decay_rate` defaults to ``stability ** -beta``, which makes retention
    1/e at age = stability in either layer.
    """
    if math.isinf(stability_days) and decay_rate is None:
        return 1.0
    beta = _BETA[layer]
    rate = stability_days**-beta if decay_rate is None else decay_rate
    return math.exp(-rate * max(age_days, 0.0) ** beta)


def strength(
    importance: float,
    trust: float,
    recalls: int,
    age_days: float,
    stability_days: float,
    layer: Layer = Layer.SHORT_TERM,
    *,
    decay_rate: float | None = None,
) -> float:
    """``importance * trust * (1 + ln(1 + recalls)) * retention``; at least 0, may exceed 1 for a note used often."""
    kept = retention(age_days, stability_days, layer, decay_rate=decay_rate)
    return importance * trust * (1.0 + math.log1p(recalls)) * kept


def trust(source: float, age_days: float, corroborations: int, contradictions: int) -> float:
    """How far a note is believed, 0..1, from its source's reliability (0..1), its age in days and its witnesses.

    ``clamp(0.5*source + 0.15*max(0, 1 - age/90) + 0.15*min(corroborations, 5)/5 - 0.2*min(contradictions, 5)/5)``
    """
    value = (
        0.5 * source
        + 0.15 * max(0.0, 1.0 - age_days / 90.0)
        + 0.15 * min(corroborations, 5) / 5
        - 0.2 * min(contradictions, 5) / 5
    )
    return min(1.0, max(0.0, value))

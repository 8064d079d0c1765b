"""How well a note is remembered and how far it is believed: pure functions of recorded inputs.

Nothing here reads its own last result: a trust or strength that fed on itself would decay each time it is looked at.
The formulas take one note's numbers or whole columns of them (numpy arrays) alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from amem.note import Kind, Layer, MemoryType, plain_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Number = TypeVar("Number", float, NDArray[np.float64])

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
#: How steeply a layer forgets: slowly at first and then fast, or the other way round.
BETA: Mapping[Layer, float] = {Layer.SHORT_TERM: 1.2, Layer.LONG_TERM: 0.8}
#: What each counted use makes of a note's stability.
USE_GROWTH = 1.3
_GROWTH_CAP_DAYS = 365.0


@dataclass(frozen=True, slots=True)
class Decay:
    """At what pace notes are forgotten: each kind at its own (`STABILITY_DAYS`), or each memory type at one.

    By type an episodic note ages from the time that it is about, a semantic one from its last use (or its arrival), and
    what is procedural, a topic's page or pinned never does. With a `rate` everything that decays does so at that one.
    """

    by_type: bool = False
    episodic_days: float = 180.0
    semantic_days: float = 365.0
    rate: float | None = None

    def days(self, kind: Kind) -> float:
        """Days until a note of this kind that was never used is kept at 1/e; infinite for what never decays."""
        if not self.by_type or math.isinf(STABILITY_DAYS[kind]):
            return STABILITY_DAYS[kind]
        by_type = {MemoryType.EPISODIC: self.episodic_days, MemoryType.SEMANTIC: self.semantic_days}
        return by_type.get(kind.memory_type, math.inf)

    def own_time(self, kind: Kind) -> bool:
        """Whether a note of this kind ages from the time that it is about, rather than from its last use."""
        return self.by_type and kind.memory_type is MemoryType.EPISODIC


#: The pace unless another is set.
EACH_KIND = Decay()


def stability(base_days: Number, growth: Number) -> Number:
    """Days until retention falls to 1/e: a kind's own (`STABILITY_DAYS`) times what uses made of it, at most 365."""
    # A kind that is kept longer than that from the start stays so.
    return _least(base_days * growth, _most(base_days, _GROWTH_CAP_DAYS))


def retention(age_days: Number, stability_days: Number, beta: Number, *, decay_rate: float | None = None) -> Number:
    """Share still remembered after `age_days` (0..1): ``exp(-decay_rate * age ** beta)``, `beta` as in `BETA`.

    `decay_rate` defaults to ``stability ** -beta``, which makes retention 1/e at age = stability in either layer. What
    has infinite stability never decays, at whatever rate.
    """
    import numpy as np

    lasting = np.isinf(stability_days)
    rate = np.where(lasting, 0.0, np.power(stability_days, -beta) if decay_rate is None else decay_rate)
    kept: Number = np.exp(-rate * np.power(np.maximum(age_days, 0.0), beta))
    return kept


def strength(importance: Number, trust: Number, recalls: Number, retention: Number) -> Number:
    """``importance * trust * (1 + ln(1 + recalls)) * retention``; at least 0, may exceed 1 for a note used often."""
    import numpy as np

    value: Number = importance * trust * (1.0 + np.log1p(recalls)) * retention
    return value


def trust(source: Number, age_days: Number, corroborations: Number, contradictions: Number) -> Number:
    """How far a note is believed, 0..1, from its source's reliability (0..1), its age in days and its witnesses.

    ``clamp(0.5*source + 0.15*max(0, 1 - age/90) + 0.15*min(corroborations, 5)/5 - 0.2*min(contradictions, 5)/5)``
    """
    value: Number = (
        0.5 * source
        + 0.15 * _most(1.0 - age_days / 90.0, 0.0)
        + 0.15 * _least(corroborations, 5.0) / 5.0
        - 0.2 * _least(contradictions, 5.0) / 5.0
    )
    return _least(_most(value, 0.0), 1.0)


# Numbers and columns alike; numpy takes longer to import than a list of notes takes to read.


def _least(value: Number, bound: Number | float) -> Number:
    if isinstance(value, float | int):
        return min(value, bound)
    import numpy as np

    found: Number = np.minimum(value, bound)
    return found


def _most(value: Number, bound: Number | float) -> Number:
    if isinstance(value, float | int):
        return max(value, bound)
    import numpy as np

    found: Number = np.maximum(value, bound)
    return found


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a note is at one moment, and what makes it so.

    `age_days` counts from the later of arrival and last use; `stability_days` is infinite for what does not decay.
    """

    importance: float
    trust: float
    recalls: int
    age_days: float
    stability_days: float
    retention: float
    layer: Layer
    decay_rate: float | None = None

    @property
    def value(self) -> float:
        """``importance * trust * (1 + ln(1 + recalls)) * retention``."""
        return float(strength(self.importance, self.trust, float(self.recalls), self.retention))

    def kept_after(self, days: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its retention so many days from that moment on, if nothing recalls it: a curve to draw."""
        import numpy as np

        stability, beta = np.full_like(days, self.stability_days), np.full_like(days, BETA[self.layer])
        return retention(self.age_days + days, stability, beta, decay_rate=self.decay_rate)

    @property
    def inputs(self) -> tuple[str, str, str, str]:
        """What it is made of: ``importance 0.50``, ``trust 0.57``, ``recalled 3x``, ``41% kept after 80 days``."""
        recalls = "never recalled" if not self.recalls else f"recalled {self.recalls}x"
        age = "1 day" if round(self.age_days) == 1 else f"{self.age_days:.0f} days"
        kept = "does not decay" if math.isinf(self.stability_days) else f"{self.retention:.0%} kept after {age}"
        return f"importance {self.importance:.2f}", f"trust {self.trust:.2f}", recalls, kept

    def words(self) -> str:
        """For people: ``strength 0.28 (...)`` with its `inputs`."""
        return f"strength {self.value:.2f} ({', '.join(self.inputs)})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; `stability_days` is null for what does not decay."""
        told = {"value": self.value, **plain_fields(self)}
        del told["decay_rate"]
        return told | {"stability_days": None if math.isinf(self.stability_days) else self.stability_days}

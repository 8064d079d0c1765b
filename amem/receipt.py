"""What a write did, said back to whoever asked for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.analysis import Conflict
    from amem.note import Enrichment, Link


@dataclass(frozen=True, slots=True)
class Evolved:
    """A neighbour that took the new note into account: which `fields` changed, to which version, and why."""

    id: str
    version: int
    fields: tuple[str, ...]
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Queued:
    """A proposed rewrite that waits for a person: review id, note id and why it was not applied at once."""

    review: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What the write cost: model calls, tokens in and out (0 offline), texts embedded, wall-clock seconds.

    `rungs` counts which rung of the ladder gave each answer: ``constrained``, ``repaired``, ``retried``, ``sections``,
    or ``offline`` where the rules stood in for the model; empty when no model was asked.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    embedded: int = 0
    seconds: float = 0.0
    rungs: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.embedded + other.embedded,
            self.seconds + other.seconds,
            dict(Counter(self.rungs) + Counter(other.rungs)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The cost as JSON-ready values."""
        return {
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "embedded": self.embedded,
            "seconds": round(self.seconds, 4),
            "rungs": dict(self.rungs),
        }


@dataclass(frozen=True, slots=True)
class Receipt:
    """What ``add`` did. `status` is ``stored`` or ``duplicate`` (then `id` is the note that was there already).

    `enrichment` is ``done``, ``pending`` or ``degraded``; when degraded, `error` says what failed. `dropped` lists in
    words what an analyst answered and amem refused.

    `superseded` are ids of notes that no longer hold because of this one; `superseded_by` is set where the note was
    overturned before it came, by what was true after it. `conflicts` says why, also of what stays in doubt. `astray`
    are ids of notes in these that a clock in the future dated: they count as told right after the note before
    them, and overturn nothing by their date.
    """

    id: str
    status: str
    enrichment: Enrichment
    analyst: str
    operation: int | None = None
    links: tuple[Link, ...] = ()
    evolved: tuple[Evolved, ...] = ()
    queued: tuple[Queued, ...] = ()
    superseded: tuple[str, ...] = ()
    superseded_by: str | None = None
    conflicts: tuple[Conflict, ...] = ()
    astray: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    error: str | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def stored(self) -> bool:
        """True when a new note was made."""
        return self.status == "stored"

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON-ready values (times as ISO 8601)."""
        return {
            "id": self.id,
            "status": self.status,
            "enrichment": str(self.enrichment),
            "analyst": self.analyst,
            "operation": self.operation,
            "links": [
                {
                    "source": link.source,
                    "target": link.target,
                    "type": str(link.type),
                    "reason": link.reason,
                    "confidence": link.confidence,
                    "made_by": link.made_by,
                    "at": link.at.isoformat(),
                }
                for link in self.links
            ],
            "evolved": [
                {
                    "id": change.id,
                    "version": change.version,
                    "fields": list(change.fields),
                    "reason": change.reason,
                    "confidence": change.confidence,
                }
                for change in self.evolved
            ],
            "queued": [{"review": item.review, "id": item.id, "reason": item.reason} for item in self.queued],
            "superseded": list(self.superseded),
            "superseded_by": self.superseded_by,
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "astray": list(self.astray),
            "dropped": list(self.dropped),
            "error": self.error,
            "cost": self.cost.to_dict(),
        }

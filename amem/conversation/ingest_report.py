"""What remembering a conversation did, said back to whoever asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from amem.receipt import Cost

if TYPE_CHECKING:
    from amem.conversation.learning import Extracted
    from amem.receipt import Queued, Receipt


@dataclass(frozen=True, slots=True)
class RememberReport:
    """What remembering a conversation did. `operation` undoes all of it; None when nothing in it was new.

    `episodes` are the ids of the episodes' notes, `learnt` the receipts of notes made from what was stated,
    `duplicates` ids of notes that said so already, `renewed` procedures that have a newer form now, `queued` those
    whose newer form waits for a person, and `retracted` ids of notes that people took back ("forget that"). `known`
    messages were remembered before; `waiting` episodes wait for a worker.
    `degraded` means that the analyst asked for failed (`error` says how) and the rules did it for now.
    """

    operation: int | None
    conversation: str
    episodes: tuple[str, ...] = ()
    learnt: tuple[Receipt, ...] = ()
    duplicates: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()
    queued: tuple[Queued, ...] = ()
    retracted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    known: int = 0
    waiting: int = 0
    degraded: bool = False
    error: str = ""
    analyst: str = ""
    cost: Cost = field(default_factory=Cost)

    @property
    def stored(self) -> int:
        """How many notes were made of what was stated."""
        return len(self.learnt)

    @property
    def updated(self) -> int:
        """How many procedures have a newer form."""
        return len(self.renewed)

    @property
    def superseded(self) -> int:
        """How many notes no longer hold because of what was stated."""
        return len({*self.retracted, *(id for receipt in self.learnt for id in receipt.superseded)})

    @property
    def corroborated(self) -> int:
        """How many notes said already what was stated."""
        return len(set(self.duplicates))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "operation": self.operation,
            "conversation": self.conversation,
            "episodes": list(self.episodes),
            "learnt": [receipt.to_dict() for receipt in self.learnt],
            "duplicates": list(self.duplicates),
            "renewed": list(self.renewed),
            "queued": [{"review": item.review, "id": item.id, "reason": item.reason} for item in self.queued],
            "retracted": list(self.retracted),
            "dropped": list(self.dropped),
            "known": self.known,
            "waiting": self.waiting,
            "degraded": self.degraded,
            "error": self.error,
            "analyst": self.analyst,
            "cost": self.cost.to_dict(),
        }

    def with_lesson(self, lesson: Extracted | None) -> RememberReport:
        """The report with what one episode taught; None when another worker has taken it."""
        if lesson is None:
            return replace(self, waiting=self.waiting + 1)
        errors = [error for error in (self.error, lesson.error) if error]
        return replace(
            self,
            learnt=(*self.learnt, *(receipt for receipt in lesson.receipts if receipt.stored)),
            duplicates=(*self.duplicates, *(receipt.id for receipt in lesson.receipts if not receipt.stored)),
            renewed=(*self.renewed, *lesson.updated),
            queued=(*self.queued, *lesson.queued),
            retracted=(*self.retracted, *lesson.retracted),
            dropped=(*self.dropped, *lesson.dropped),
            degraded=self.degraded or lesson.error is not None,
            error="; ".join(dict.fromkeys(errors)),
            analyst=lesson.analyst or self.analyst,
            cost=self.cost + lesson.cost,
        )

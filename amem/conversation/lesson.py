"""What is learnt from in one go, and what came of it: plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.receipt import Cost

if TYPE_CHECKING:
    from amem.message import Message
    from amem.note import Enrichment, Scope
    from amem.receipt import Queued, Receipt


@dataclass(frozen=True, slots=True)
class Lot:
    """Stored messages that are learnt from together, with their sources' ids and ordinals, and whose they are.

    `conversation` is its name as it is kept (see `Scope.naming`), `called` as it was given. `note` is their episode's,
    whose job `owner` holds; without one nobody else can be learning from them.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    ordinals: tuple[int, ...]
    conversation: str
    scope: Scope
    note: str | None = None
    owner: str = ""

    @property
    def called(self) -> str:
        return self.scope.named(self.conversation)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What came of one lot. `error` says why the analyst asked for could not do it; then the rules did.

    `retracted` are ids of notes that people took back in it.
    """

    analyst: str
    enrichment: Enrichment
    receipts: tuple[Receipt, ...] = ()
    updated: tuple[str, ...] = ()
    queued: tuple[Queued, ...] = ()
    retracted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    error: str | None = None
    cost: Cost = field(default_factory=Cost)

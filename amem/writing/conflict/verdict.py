"""What judges are shown of two notes; what they say of them is in ``amem.verdict``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.verdict import NO_CONFLICT, Conflict, Label, Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from amem.note import Fact, Kind

__all__ = ["NO_CONFLICT", "Claim", "Conflict", "Label", "Verdict"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One note as a judge sees it.

    `true_at` is when it was true (its `valid_from`, else, with `dated` False, when it was said), `until` an end that it
    states; `said_at` is when it was said. `facts` have
    canonical subjects and predicates. `order` is that of arrival. `astray` tells that a wrong clock dated the note.
    """

    id: str
    content: str
    kind: Kind
    true_at: datetime
    said_at: datetime
    order: int = 0
    speaker: str | None = None
    facts: tuple[Fact, ...] = ()
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    until: datetime | None = None
    dated: bool = False
    astray: bool = False

    @property
    def since(self) -> datetime:
        """`true_at`, as ``amem.truth.news`` calls it."""
        return self.true_at

    @property
    def said(self) -> datetime:
        """`said_at`, as ``amem.truth.news`` calls it."""
        return self.said_at

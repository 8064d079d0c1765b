"""A note as judges see it, and which of two was true first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amem.note import Status
from amem.rendering import holding_facts, holding_text
from amem.truth.news import overtakes
from amem.writing.conflict.verdict import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.note import Fact, MemoryNote

#: A note that names no time at all counts as older than any that does.
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


def claim_of(note: MemoryNote, order: int) -> Claim:
    """What `note` claims, its overturned statements aside; `order` is its place among arrivals.

    Its facts must be canonical, as stored ones are.
    """
    said = note.at or note.recorded_at or _UNKNOWN
    since = note.valid_from or _since(note.facts)
    return Claim(
        note.id,
        holding_text(note.content, note.overturned),
        note.kind,
        true_at=since or said,
        said_at=said,
        order=order,
        speaker=note.speaker,
        facts=tuple(holding_facts(note)),
        entities=tuple(note.entities),
        keywords=tuple(note.keywords),
        # What took its place, too, is kept as its end.
        until=None if note.status is Status.SUPERSEDED else note.valid_to,
        dated=since is not None,
    )


def order(one: Claim, other: Claim) -> tuple[Claim, Claim]:
    """Both, that which was true earlier first; of two that were true at once that which was said, then came, first.

    What names no time comes before the change that is told after it, see ``amem.truth.news``.
    """
    earlier, later = sorted((one, other), key=lambda each: (each.true_at, each.said_at, each.order))
    return (later, earlier) if overtakes(earlier, later) else (earlier, later)


def ended(earlier: Claim, later: Claim) -> datetime:
    """When the earlier gave way to the later: at its change; where that is no news, not before it began."""
    return later.true_at if overtakes(later, earlier) else max(later.true_at, earlier.true_at)


def _since(facts: Iterable[Fact]) -> datetime | None:
    """Since when all that the facts say is so, or no longer so; None where one of them does not tell."""
    times = [fact.valid_from for fact in facts]
    return max((at for at in times if at is not None), default=None) if all(times) else None

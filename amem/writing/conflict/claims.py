"""A note as judges see it, and which of two was true first.

A note that was written by a clock that stood in the future has no time that could be trusted. It counts from when the
note before it came, so that it overturns nothing that is told later.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amem.clock import ASTRAY
from amem.note import Status
from amem.rendering import holding_facts, holding_text
from amem.truth.news import overtakes
from amem.writing.conflict.verdict import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.note import Fact, MemoryNote
    from amem.storage import Session

#: A note that names no time at all counts as older than any that does.
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


def claim_of(session: Session, note: MemoryNote, order: int) -> Claim:
    """What `note` claims, its overturned statements aside; `order` is its place among arrivals.

    Its facts must be canonical, as stored ones are.
    """
    said = note.at or note.recorded_at or _UNKNOWN
    facts = holding_facts(note)
    since, until = note.valid_from, note.valid_to
    latest = session.now + ASTRAY
    astray = said > latest and note.recorded_at is not None and note.recorded_at > latest
    if astray:
        said = session.notes.arrived_before(note.id, latest) or _UNKNOWN
        # Nor is a day right that was reckoned from that clock.
        since, until = _by(latest, since), _by(latest, until)
        facts = [
            replace(fact, valid_from=_by(latest, fact.valid_from), valid_to=_by(latest, fact.valid_to))
            for fact in facts
        ]
    since = since or _since(facts if astray else note.facts)
    return Claim(
        note.id,
        holding_text(note.content, note.overturned),
        note.kind,
        true_at=since or said,
        said_at=said,
        order=order,
        speaker=note.speaker,
        facts=tuple(facts),
        entities=tuple(note.entities),
        keywords=tuple(note.keywords),
        # What took its place, too, is kept as its end.
        until=None if note.status is Status.SUPERSEDED else until,
        dated=since is not None,
        astray=astray,
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


def _by(latest: datetime, moment: datetime | None) -> datetime | None:
    """The moment where it is no later than that."""
    return moment if moment is not None and moment <= latest else None


def _since(facts: Iterable[Fact]) -> datetime | None:
    """Since when all that the facts say is so, or no longer so; None where one of them does not tell."""
    times = [fact.valid_from for fact in facts]
    return max((at for at in times if at is not None), default=None) if all(times) else None

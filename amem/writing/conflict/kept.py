"""Values of one slot that both stand since a person kept one of them: still to be decided."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select

from amem.note import Fact, Status
from amem.storage import tables
from amem.storage.listed import valid_json
from amem.truth.intervals import intervals, same_value
from amem.verdict import Conflict, Label, Verdict
from amem.writing.conflict import reasons, slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from amem.storage import Session
    from amem.truth.intervals import Interval
    from amem.truth.predicates import Predicates

_WAITS = "a person said that the note holds"


def with_kept(session: Session, predicates: Predicates, known: Iterable[Conflict]) -> list[Conflict]:
    """`known`, and other active notes that state two values of one slot, of which a person made one stand again."""
    found = {frozenset((each.earlier, each.later)): each for each in known}
    decided = session.flags.turned_down()
    for each in _kept_beside(session, predicates):
        pair = frozenset((each.earlier, each.later))
        if pair not in decided:
            found.setdefault(pair, each)
    return list(found.values())


def _kept_beside(session: Session, predicates: Predicates) -> Iterator[Conflict]:
    notes = tables.notes.c
    owned = or_(
        *(func.json_extract(valid_json(notes.edited), f"$.{name}") == "edited" for name in ("status", "overturned"))
    )
    rows = session.connection.execute(select(notes.key, notes.id).where(notes.status == str(Status.ACTIVE), owned))
    kept = {id: key for key, id in rows}
    for scope in set(session.notes.scopes_of(list(kept)).values()):
        with session.within(scope):
            yield from _kept_within(session, kept, predicates)


def _kept_within(session: Session, kept: Mapping[str, int], predicates: Predicates) -> Iterator[Conflict]:
    """Those of the session's scope."""
    evidence = session.facts.about({each.subject for each in session.facts.of(list(kept.values()))})
    active = {each.note for each in evidence if each.status is Status.ACTIVE}
    so = [each for each in intervals(evidence, predicates) if each.until is None and active.intersection(each.notes)]
    for one, other in combinations(so, 2):
        if not kept.keys().isdisjoint((*one.notes, *other.notes)) and _clash(one, other, predicates):
            earlier, later = (next(id for id in reversed(each.notes) if id in active) for each in (one, other))
            old, new = (Fact(each.subject, each.predicate, each.object) for each in (one, other))
            reason = reasons.differing(old, new, new.object, predicates)
            yield Conflict(
                earlier, later, Verdict(Label.CONTRADICTS, slot.DIFFER, reason, slot.JUDGE), 0.0, False, _WAITS
            )


def _clash(one: Interval, other: Interval, predicates: Predicates) -> bool:
    if (one.subject, one.predicate) != (other.subject, other.predicate) or same_value(one.object, other.object):
        return False
    place = predicates.slot(one.predicate, one.object)
    return place is not None and place == predicates.slot(other.predicate, other.object)

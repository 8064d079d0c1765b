"""Which notes a new one may get in the way of: the nearest in meaning, and those that fill a slot of its facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from amem.note import Kind, Scope, Status
from amem.storage.rows import time_text
from amem.truth.intervals import same_value
from amem.writing.conflict.claims import claim_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from amem.note import Fact, MemoryNote
    from amem.storage import Session
    from amem.storage.facts import Holder
    from amem.truth.predicates import Predicates
    from amem.writing.conflict.verdict import Claim
    from amem.writing.neighbours import Candidate

#: What asks, chats or sums other notes up states nothing that could be overturned, nor overturns anything.
_SILENT_KINDS = frozenset({Kind.QUESTION, Kind.CHITCHAT, Kind.TOPIC})
_SILENT_MARKS = ("episode", "topic", "procedure")
#: Of all that filled a slot before and after a moment only the nearest in time matter; these are more than enough.
_BEFORE, _AFTER = 40, 5


@dataclass(frozen=True, slots=True)
class Rival:
    """A note in a pair, with its cosine to the other; `kept` where a person said that it, or a part of it, holds."""

    note: MemoryNote
    claim: Claim
    cosine: float = 1.0
    kept: bool = False

    @property
    def id(self) -> str:
        return self.note.id


def as_rival(session: Session, key: int, note: MemoryNote, owned: Mapping[str, str], cosine: float = 1.0) -> Rival:
    """A stored note, with the fields that people own in it, as one side of a pair."""
    return Rival(note, claim_of(session, note, key), cosine, "edited" in (owned.get("status"), owned.get("overturned")))


def states_something(note: MemoryNote) -> bool:
    """Whether a note can overturn others or be overturned; summaries, questions and small talk cannot."""
    return note.kind not in _SILENT_KINDS and not any(mark in note.metadata for mark in _SILENT_MARKS)


def rivals(
    session: Session,
    note: MemoryNote,
    near: Iterable[Candidate],
    predicates: Predicates,
    cosines: Callable[[Sequence[int]], Sequence[float]],
) -> list[Rival]:
    """The notes that `note` is weighed against, nearest first, then the holders of its slots; itself is none of them.

    Only notes of its own scope are: where Bo lives says nothing of where Ana does.

    `near` are active notes with their cosines; `cosines` gives those of other keys (nan where there is no vector).
    """
    likeness = {each.key: each.cosine for each in near}
    scope = Scope.of(note.metadata)
    with session.within(scope):
        holders = _holders(session, note, predicates)
    far = [key for key in holders if key not in likeness]
    if far:
        likeness |= dict(zip(far, cosines(far), strict=True))
    found = []
    for key, (other, owned) in session.notes.bare(list(likeness)).items():
        # A superseded note concerns a new one only where it takes its place in a chain.
        wanted = other.status is Status.ACTIVE or (other.status is Status.SUPERSEDED and key in holders)
        if wanted and other.id != note.id and states_something(other) and Scope.of(other.metadata) == scope:
            cosine = 0.0 if math.isnan(likeness[key]) else likeness[key]
            found.append(as_rival(session, key, other, owned, cosine))
    order = {key: place for place, key in enumerate(likeness)}
    return sorted(found, key=lambda each: order[each.claim.order])


def _holders(session: Session, note: MemoryNote, predicates: Predicates) -> dict[int, None]:
    found: dict[int, None] = {}
    for fact in note.facts:
        moment = time_text(fact.valid_from or note.valid_from or note.at or session.now)
        slot = predicates.slot(fact.predicate, fact.object)
        one = fact.object if slot is None and fact.object else None
        held = session.facts.holders(fact.subject, fact.predicate, object=one)
        meets = partial(_meets, fact, slot, predicates)
        found |= dict.fromkeys(each.key for each in _around(held, moment, meets))
    return found


def _meets(fact: Fact, slot: str | None, predicates: Predicates, held: Holder) -> bool:
    """Whether a holder may stand against a fact: another value of its slot, or the same value turned round."""
    if fact.holds and held.holds:
        filled = slot is not None and predicates.slot(fact.predicate, held.object) == slot
        return filled and not same_value(fact.object, held.object)
    return fact.holds is not held.holds


def _around(holders: Sequence[Holder], moment: str, meets: Callable[[Holder], bool]) -> Iterator[Holder]:
    """Those that hold before the moment or were overturned after it, and the first ones after it; nearest first."""
    before = [each for each in holders if each.since <= moment and (each.replaced is None or each.replaced > moment)]
    after = [each for each in holders if each.since > moment]
    before.sort(key=lambda each: each.since, reverse=True)
    after.sort(key=lambda each: each.since)
    yield from islice(filter(meets, before), _BEFORE)
    yield from islice(filter(meets, after), _AFTER)

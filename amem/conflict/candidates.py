"""Which notes a new one may get in the way of, as judges see them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from amem.clock import ASTRAY
from amem.conflict.statements import packed, reader, unpack
from amem.language.intervals import overtakes, same_value
from amem.note import Fact, Kind, MemoryNote, Scope, Status
from amem.rendering import holding_facts, holding_text
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.index import DenseLeg
    from amem.language.predicates import Predicates
    from amem.storage.search_tables import Holder
    from amem.storage.store import Session


# What judges are shown of two notes; what they say of them is in ``amem.note``.


@dataclass(frozen=True, slots=True)
class Claim:
    """One note as a judge sees it.

    `since` is when it was true (its `valid_from`, else, with `dated` False, when it was said), `until` an end that it
    states; `said` is when it was said. `facts` have canonical subjects and predicates. `order`
    is that of arrival. `astray` tells that a wrong clock dated the note.
    """

    id: str
    content: str
    since: datetime
    said: datetime
    order: int = 0
    speaker: str | None = None
    facts: tuple[Fact, ...] = ()
    until: datetime | None = None
    dated: bool = False
    astray: bool = False


# A note as judges see it, and which of two was true first.
#
# A note that was written by a clock that stood in the future has no time that could be trusted. It counts from when
# the note before it came, so that it overturns nothing that is told later.

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
        since=since or said,
        said=said,
        order=order,
        speaker=note.speaker,
        facts=tuple(facts),
        # What took its place, too, is kept as its end.
        until=None if note.status is Status.SUPERSEDED else until,
        dated=since is not None,
        astray=astray,
    )


def order(one: Claim, other: Claim) -> tuple[Claim, Claim]:
    """Both, that which was true earlier first; of two that were true at once that which was said, then came, first.

    What names no time comes before the change that is told after it, see ``amem.language.intervals``.
    """
    earlier, later = sorted((one, other), key=lambda each: (each.since, each.said, each.order))
    return (later, earlier) if overtakes(earlier, later) else (earlier, later)


def ended(earlier: Claim, later: Claim) -> datetime:
    """When the earlier gave way to the later: at its change; where that is no news, not before it began."""
    return later.since if overtakes(later, earlier) else max(later.since, earlier.since)


def _by(latest: datetime, moment: datetime | None) -> datetime | None:
    """The moment where it is no later than that."""
    return moment if moment is not None and moment <= latest else None


def _since(facts: Iterable[Fact]) -> datetime | None:
    """Since when all that the facts say is so, or no longer so; None where one of them does not tell."""
    times = [fact.valid_from for fact in facts]
    return max((at for at in times if at is not None), default=None) if all(times) else None


# Which notes a new one may get in the way of: the nearest in meaning, and those that fill a slot of its facts.

#: What asks or sums other notes up states nothing that could be overturned, nor overturns anything.
_SILENT_KINDS = frozenset({Kind.QUESTION, Kind.TOPIC})
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
    """Whether a note can overturn others or be overturned; summaries and questions cannot."""
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


# What judges read in notes, kept beside them: a note is held against every newcomer near it, and to take it apart is
# most of that work.

_READINGS = "SELECT note, text, found FROM readings WHERE reader = :reader AND note IN :keys"


def recall(session: Session, found: Iterable[Rival]) -> list[Rival]:
    """Have judges know what was read in these notes before; returns those of which nothing is kept."""
    from amem.storage.vectors import text_hash  # with NumPy, which a look at what is open does not need

    unknown = {each.claim.order: each for each in found}
    if not unknown:
        return []
    for key, hashed, held in session.rows(_READINGS, keys=unknown, reader=reader()):
        text = unknown[key].claim.content
        if hashed == text_hash(text) and unpack(text, held):
            del unknown[key]
    return list(unknown.values())


def keep(session: Session, read: Iterable[Rival]) -> None:
    """Keep what judges read in these stored notes."""
    from amem.storage.vectors import text_hash

    rows = [
        {
            "note": each.claim.order,
            "reader": reader(),
            "text": text_hash(each.claim.content),
            "found": packed(each.claim.content),
        }
        for each in read
    ]
    session.insert("readings", *rows, either="REPLACE")


#: How the reason begins of a link between notes that say almost the same.
NEAR_DUPLICATE = "near-duplicate"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An existing note that may be a neighbour: integer key and cosine to the new note."""

    key: int
    cosine: float


def nearest(session: Session, dense: DenseLeg, vector: NDArray[np.float32], most: int, scope: Scope) -> list[Candidate]:
    """The `most` notes nearest to this vector, of those that one of the scope may meet, nearest first."""
    ((keys, cosines),) = dense.search_many(vector[None], most, allowed=session.notes.met_by(scope))
    return [Candidate(int(key), float(cosine)) for key, cosine in zip(keys, cosines, strict=True)]


def cosines_to(dense: DenseLeg, vector: NDArray[np.float32]) -> Callable[[Sequence[int]], list[float]]:
    """How alike notes are to one of this vector; nan for those the index does not know."""
    return lambda keys: dense.cosines(vector, keys).tolist()


def unknown_cosines(keys: Sequence[int]) -> list[float]:
    """How alike notes are to one that has no vector: nobody knows."""
    return [math.nan] * len(keys)

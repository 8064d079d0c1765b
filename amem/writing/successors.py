"""The places filled by who or what takes another's: "Pieter is leaving, Fatima takes over" does not say as what.

Other notes do: where one says that Pieter is my manager, Fatima is from then on; where one says that my phone is a
Pixel 6, the Fairphone bought to replace it is. The new note states that as well, so
that the timeline, searches and the rule of slots see it like any other fact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.language import normalize
from amem.language.intervals import intervals, same_value
from amem.language.subjects import USER, WE, canonical_subject, subject_key
from amem.note import Fact, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.language.predicates import Predicates
    from amem.note import MemoryNote
    from amem.storage.store import Session

SUCCEEDED_BY = "succeeded_by"
#: Places that one person may fill at a time, and more of them than this nobody does.
_MOST = 40


def with_places(session: Session, note: MemoryNote, predicates: Predicates) -> list[Fact]:
    """The note's facts, and what follows from those that say who succeeds whom."""
    facts = list(note.facts)
    with session.within(Scope.of(note.metadata)):
        for fact in note.facts:
            if fact.predicate == SUCCEEDED_BY and fact.holds:
                facts += [each for each in _taken(session, fact, note, predicates) if each not in facts]
    return facts


def _taken(session: Session, fact: Fact, note: MemoryNote, predicates: Predicates) -> Sequence[Fact]:
    """Who took a person's place did so wherever that one filled it; what is replaced is a thing of the speaker's."""
    rows = {row.name: row for row in predicates.rows.values() if row.one and row.name != SUCCEEDED_BY}
    names = [normalize(each) for row in rows.values() for each in (row.name, *row.aliases)]
    own = {USER, WE, subject_key(canonical_subject("I", speaker=note.speaker))}
    stated = session.facts.stated([subject_key(fact.subject)], names, _MOST)
    subjects = {each.subject for each in stated if same_value(each.object, fact.subject)}
    if not subjects:
        return []
    moment = note.at or session.now
    found: list[Fact] = []
    for each in intervals(session.facts.about(subjects, names), predicates):
        row = rows[each.predicate]
        fitting = (row.value == "person" and row.one is True) or subject_key(each.subject) in own
        if fitting and each.at(moment) and same_value(each.object, fact.subject):
            found.append(Fact(each.subject, each.predicate, fact.object, True, fact.valid_from))
            if row.one is not True:  # the table may not know that both play one role
                found.append(Fact(each.subject, each.predicate, each.object, False, fact.valid_from))
    return found

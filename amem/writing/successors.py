"""The places that somebody fills who takes another's: "Pieter is leaving, Fatima takes over" says not as what.

Other notes do: where one says that Pieter is my manager, Fatima is from then on. The new note states that as well, so
that the timeline, searches and the rule of slots see it like any other fact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Fact
from amem.text import normalize
from amem.truth.intervals import intervals, same_value
from amem.truth.subjects import subject_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.note import MemoryNote
    from amem.storage import Session
    from amem.truth.predicates import Predicates

SUCCEEDED_BY = "succeeded_by"
#: Places that one person may fill at a time, and more of them than this nobody does.
_MOST = 40


def with_places(session: Session, note: MemoryNote, predicates: Predicates) -> list[Fact]:
    """The note's facts, and what follows from those that say who succeeds whom."""
    facts = list(note.facts)
    for fact in note.facts:
        if fact.predicate == SUCCEEDED_BY and fact.holds:
            facts += [each for each in _taken(session, fact, note, predicates) if each not in facts]
    return facts


def _taken(session: Session, fact: Fact, note: MemoryNote, predicates: Predicates) -> Sequence[Fact]:
    rows = [row for row in predicates.rows.values() if row.value == "person" and row.one is True]
    names = [normalize(each) for row in rows for each in (row.name, *row.aliases)]
    stated = session.facts.stated([subject_key(fact.subject)], names, _MOST)
    subjects = {each.subject for each in stated if same_value(each.object, fact.subject)}
    if not subjects:
        return []
    moment = note.at or session.now
    return [
        Fact(each.subject, each.predicate, fact.object, True, fact.valid_from)
        for each in intervals(session.facts.about(subjects, names), predicates)
        if each.at(moment) and same_value(each.object, fact.subject)
    ]

"""What time may not archive: what a person wrote, what says how things are now, what replaced another note."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.settings import Settings
    from amem.storage import Session
    from amem.truth.predicates import Predicates

#: Why a note stays that a person wrote by hand.
OWN = "you wrote it, and archive_own_notes is off"


def lasting(
    session: Session, keys: Sequence[int], at: datetime, settings: Settings, predicates: Predicates
) -> dict[int, str]:
    """Which of these notes neither fade nor are summed up, each with the reason; `at` is the moment of the plan.

    What a person wrote outside a chat stays unless ``archive_own_notes`` is on.

    A fact counts when its subject has one such value at a time, or when it hangs on one, and nothing says that it is
    over by then. That something is no longer so counts as well: without it, what was so before would stand.
    """
    found = {} if settings.archive_own_notes else dict.fromkeys(session.notes.written_by_hand(keys), OWN)
    found |= dict.fromkeys(session.notes.replacing(keys), "it took the place of another note")
    for fact in session.facts.unended(keys, at):
        if predicates.slot(fact.predicate, fact.object) or predicates.hangs_on(fact.predicate):
            found[fact.note] = f"it says how things are now: {fact.subject} {fact.predicate} {fact.object}".rstrip()
    return found

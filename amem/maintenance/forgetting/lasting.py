"""What time may not take: notes that say how things are now, and those that took the place of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.storage import Session
    from amem.truth.predicates import Predicates


def lasting(session: Session, keys: Sequence[int], at: datetime, predicates: Predicates) -> dict[int, str]:
    """Which of these notes neither fade nor are summed up, each with the reason; `at` is the moment of the plan.

    A fact counts when its subject has one such value at a time, or when it hangs on one, and nothing says that it is
    over by then. That something is no longer so counts as well: without it, what was so before would stand.
    """
    found = dict.fromkeys(session.notes.replacing(keys), "it took the place of another note")
    for fact in session.facts.unended(keys, at):
        if predicates.slot(fact.predicate, fact.object) or predicates.hangs_on(fact.predicate):
            found[fact.note] = f"it says how things are now: {fact.subject} {fact.predicate} {fact.object}".rstrip()
    return found

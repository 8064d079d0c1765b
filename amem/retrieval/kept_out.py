"""For a note that is not among the hits: what each leg thinks of it, and what kept it out."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from amem.note import Kind, Status
from amem.query import Filter
from amem.retrieval.explanation import KeptOut, ordinal

if TYPE_CHECKING:
    from amem.note import MemoryNote
    from amem.query import Query
    from amem.retrieval.ranking import Ranking
    from amem.storage import Session


def kept_out(session: Session, query: Query, ranking: Ranking | None, key: int, note: MemoryNote) -> KeptOut | None:
    """What kept the note out of the hits; None when it is one of them."""
    if ranking is None:
        return KeptOut("no_question", "an empty question finds nothing")
    place = next((place for place, each in enumerate(ranking.order, start=1) if each.key == key), None)
    if place is None:
        return _not_ranked(session, query, ranking, key, note)
    score = ranking.order[place - 1].score
    if query.minimum_score is not None and score < query.minimum_score:
        return KeptOut("below_score", f"its score {score:.3f} is below the least asked for, {query.minimum_score:.3f}")
    if place > query.k:
        return KeptOut("below_k", f"it came {ordinal(place)}, and {query.k} were asked for")
    return None


def _not_ranked(session: Session, query: Query, ranking: Ranking, key: int, note: MemoryNote) -> KeptOut:
    if key in ranking.too_far:
        cosine, least = ranking.too_far[key], query.filter.minimum_cosine
        return KeptOut("below_cosine", f"its cosine {cosine:.3f} is below the least asked for, {least:.3f}")
    broken = _broken_conditions(session, query.filter, key)
    if "statuses" in broken or (not broken and note.status is Status.DELETED):
        return _by_status(note)
    if note.kind is Kind.TOPIC and not broken:
        return KeptOut("page", "it is the page of a topic: it answers when an overview, or its kind, is asked for")
    if broken:
        return KeptOut("filtered", f"it does not pass the filter on {', '.join(broken)}")
    return KeptOut("no_candidate", "no leg had it among its candidates")


def _by_status(note: MemoryNote) -> KeptOut:
    if note.status is Status.SUPERSEDED:
        by = f" by {note.superseded_by[:8]}" if note.superseded_by else ""
        return KeptOut("superseded", f"it was superseded{by}")
    if note.status is Status.ACTIVE:
        return KeptOut("filtered", "it is active, and other notes were asked for")
    return KeptOut(str(note.status), f"it is {note.status}")


def _broken_conditions(session: Session, wanted: Filter, key: int) -> list[str]:
    """The fields of the filter that the note fails, each tried alone."""
    everything = tuple(Status)
    default = Filter(known_at=wanted.known_at)
    if key not in session.notes.keys(replace(default, statuses=everything)):
        return ["known_at"]  # it was not there yet
    broken = []
    for each in fields(Filter):
        value = getattr(wanted, each.name)
        if each.name == "minimum_cosine" or (value == getattr(default, each.name) and each.name != "statuses"):
            continue
        statuses = everything
        if each.name == "statuses":
            statuses = value if wanted.as_of is None else (*value, Status.SUPERSEDED)
        if key not in session.notes.keys(replace(default, **{each.name: value, "statuses": statuses})):
            broken.append(each.name)
    return broken

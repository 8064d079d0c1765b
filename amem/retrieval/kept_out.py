"""What kept a note out of the hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.labels import short_id
from amem.note import Kind, Status
from amem.retrieval.conditions import failed
from amem.retrieval.explanation import KeptOut, ordinal

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.note import MemoryNote
    from amem.query import Query
    from amem.retrieval.ranking import Ranking
    from amem.storage import Session

#: So many successors of a superseded note are named; chains may be of any length.
_MOST = 20


def kept_out(
    session: Session, query: Query, ranking: Ranking | None, key: int, note: MemoryNote, zone: tzinfo
) -> KeptOut | None:
    """What kept the note out of the hits; None when it is one of them. Times are told in `zone`."""
    if ranking is None:
        return KeptOut("no_question", "an empty question finds nothing")
    place = next((place for place, each in enumerate(ranking.order, start=1) if each.key == key), None)
    if place is None:
        return _not_ranked(session, query, ranking, key, note, zone)
    score = ranking.order[place - 1].score
    if query.minimum_score is not None and score < query.minimum_score:
        return KeptOut("below_score", f"its score {score:.3f} is below the least asked for, {query.minimum_score:.3f}")
    if place > query.k:
        asked = f"only {query.k} " + ("was" if query.k == 1 else "were")
        return KeptOut("below_k", f"it came {ordinal(place)}, and {asked if query.k else 'none were'} asked for")
    return None


def _not_ranked(session: Session, query: Query, ranking: Ranking, key: int, note: MemoryNote, zone: tzinfo) -> KeptOut:
    if key in ranking.too_far:
        cosine, least = ranking.too_far[key], query.filter.minimum_cosine
        if cosine != cosine:  # nan
            return KeptOut("below_cosine", f"it has no vector yet, so nobody knows whether its cosine is {least:.3f}")
        return KeptOut("below_cosine", f"its cosine {cosine:.3f} is below the least asked for, {least:.3f}")
    broken = failed(session, query.filter, key, note, zone)
    hidden = "statuses" in broken or (not broken and note.status is Status.DELETED)
    told = [words for words in broken.values() if words]
    if hidden and note.status is not Status.ACTIVE:
        reason, detail, by = _by_status(session, note)
        return KeptOut(reason, "; ".join([detail, *told]), by, tuple(broken))
    if broken:
        if hidden:
            told = ["it is active, and others were asked for", *told]
        return KeptOut("filtered", "; ".join(told), conditions=tuple(broken))
    if note.kind is Kind.TOPIC and not ranking.reading.overview:
        return KeptOut("page", "it is the page of a topic: it answers when an overview, or its kind, is asked for")
    fused = ranking.fused if ranking.heard is None else ranking.heard.fused
    if fused.of(key) > 0:
        return KeptOut("no_candidate", "others came before it by every leg, so that it was no candidate")
    return KeptOut(
        "no_match", "nothing in it answers: it is no nearer in meaning than most notes, and has no word in common"
    )


def _by_status(session: Session, note: MemoryNote) -> tuple[str, str, tuple[str, ...]]:
    """The reason, what to say, and the ids that came in the note's place, up to the one that holds now."""
    if note.status is not Status.SUPERSEDED:
        return str(note.status), f"it is {note.status}", ()
    chain: list[str] = []
    following = note.superseded_by
    while following is not None and following not in chain and following != note.id and len(chain) < _MOST:
        chain.append(following)
        held = session.notes.get_many([following], history=False, usage=False, deleted=True).get(following)
        following = held.superseded_by if held is not None and held.status is Status.SUPERSEDED else None
    if not chain:
        return "superseded", "it was superseded", ()
    named = " and then by ".join(short_id(id) for id in (chain if len(chain) < 4 else (chain[0], chain[-1])))
    return "superseded", f"it was superseded by {named}", tuple(chain)

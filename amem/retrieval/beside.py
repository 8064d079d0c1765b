"""Of what was recalled, the notes that a prompt is better without: they help no answer, or say a thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Kind
from amem.retrieval.support import Support
from amem.text import index_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.note import MemoryNote
    from amem.retrieval import Hit
    from amem.retrieval.support import Judgement
    from amem.storage import Session

#: A summary of which other notes hold this share of the words says nothing beside them.
_REPEATED = 0.8
#: Legs that find a note only where the question asks for what it has.
_REASONS = frozenset(("entity", "facts", "time"))


def beside_the_point(hits: Sequence[Hit], verdict: Judgement) -> set[str]:
    """Hits that no reason speaks for, and small talk that does not support an answer.

    A name in common is a reason, a fact or a time that is asked for, and a link from a hit that has a reason itself.
    """
    named = {hit.id for hit in hits if not _REASONS.isdisjoint(hit.matched_by)}
    without = set(verdict.beside - named)
    unfounded = {hit.id for hit in hits if hit.id in without and not (hit.via and hit.via[-1].from_id not in without)}
    supporting = verdict.notes if verdict.support is Support.YES else ()
    return unfounded | {hit.id for hit in hits if hit.kind is Kind.CHITCHAT and hit.id not in supporting}


def told_by_others(
    session: Session, notes: Mapping[str, MemoryNote], beside: set[str], supporting: Sequence[str]
) -> set[str]:
    """Of the recalled `notes`, those that only sum up an episode of which others, not `beside` the point, tell.

    Others made of the same messages do, unless the summary is among the `supporting` notes and none of them is; and
    any others that hold nearly all its words do.
    """
    summaries = {id for id, note in notes.items() if "episode" in note.metadata}
    telling = [id for id in notes if id not in summaries and id not in beside]
    if not summaries or not telling:
        return set()
    made_of = {id: {source.id for source in found} for id, found in session.sources.of([*summaries, *telling]).items()}
    held = {term for id in telling for term in index_terms(notes[id].content)}
    found = set()
    for id in summaries:
        same = [other for other in telling if made_of.get(id, set()) & made_of.get(other, set())]
        terms = set(index_terms(notes[id].content))
        answers_alone = id in supporting and not any(other in supporting for other in same)
        if (same and not answers_alone) or len(terms & held) >= _REPEATED * len(terms):
            found.add(id)
    return found

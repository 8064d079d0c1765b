"""Of what was recalled, the notes that say again what others say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.text import index_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from amem.note import MemoryNote
    from amem.storage import Session

#: A summary of which other notes hold this share of the words says nothing beside them.
_REPEATED = 0.8


def told_by_others(
    session: Session, notes: Mapping[str, MemoryNote], beside: Collection[str], supporting: Sequence[str]
) -> set[str]:
    """Of the recalled `notes`, those that only sum up an episode of which others tell; those `beside` the point do not.

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

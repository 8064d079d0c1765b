"""Of what was recalled, the notes that a prompt is better without: they help no answer, or say a thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conversation.support import Support
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.conversation.support import Judgement
    from amem.retrieval import Hit


def beside_the_point(hits: Sequence[Hit], verdict: Judgement) -> set[str]:
    """Hits that no reason speaks for, and small talk that does not support an answer.

    A name in common is a reason, and so is a link from a hit that has one itself.
    """
    named = {hit.id for hit in hits if "entity" in hit.matched_by}
    without = set(verdict.beside - named)
    unfounded = {hit.id for hit in hits if hit.id in without and not (hit.via and hit.via[-1].from_id not in without)}
    supporting = verdict.notes if verdict.support is Support.YES else ()
    return unfounded | {hit.id for hit in hits if hit.kind is Kind.CHITCHAT and hit.id not in supporting}

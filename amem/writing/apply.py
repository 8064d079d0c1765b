"""What was found out, written down in one transaction: fields, links, rewritten neighbours, the doubtful queued."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from amem.analysis import Evolution
from amem.errors import StaleNote
from amem.note import Link, LinkType, Status
from amem.receipt import Evolved, Queued
from amem.storage.rows import plain
from amem.writing.conflict.opinions import from_links
from amem.writing.conflict.settling import Settled
from amem.writing.guards import GUESSED, linked_by_person, plan
from amem.writing.neighbours import NEAR_DUPLICATE, Shown
from amem.writing.steps import ANALYSED, BY_RULES, with_hashtags

if TYPE_CHECKING:
    from amem.note import Enrichment, MemoryNote
    from amem.receipt import Receipt
    from amem.settings import Settings
    from amem.storage import Session
    from amem.vectorizer import Vectorizer
    from amem.writing.conflict.settling import Settler
    from amem.writing.guards import Plan, PlannedRewrite
    from amem.writing.thinking import Thought


@dataclass(slots=True)
class Outcome:
    """What was done, for the receipt; `operation` is the enrichment's own, None when there was nothing to write.

    `settled` is what came of its conflicts.
    """

    operation: int | None = None
    links: list[Link] = field(default_factory=list)
    evolved: list[Evolved] = field(default_factory=list)
    queued: list[Queued] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)

    def on(self, receipt: Receipt) -> Receipt:
        """The receipt with all this on it."""
        settled = self.settled
        return replace(
            receipt,
            links=(*self.links, *settled.links),
            evolved=tuple(self.evolved),
            queued=(*self.queued, *settled.queued),
            superseded=tuple(settled.superseded),
            superseded_by=settled.superseded_by,
            conflicts=tuple(settled.conflicts),
            astray=tuple(settled.astray),
            dropped=tuple(self.dropped),
        )


def carry_out(
    session: Session,
    plan: Plan,
    note: MemoryNote,
    *,
    twin: tuple[str, float] | None,
    made_by: str,
    parent: int,
    vectorizer: Vectorizer,
    settings: Settings,
    prompts: str = "",
) -> Outcome:
    """Do what the plan says, as one operation set off by `parent`; `twin` is the (id, cosine) of a near-duplicate.

    `prompts` names what a model was asked for it.
    """
    outcome = Outcome(dropped=list(plan.dropped))
    if plan.links or twin:
        theirs = linked_by_person(session, note.id)
        kept = tuple(each for each in plan.links if each.type not in GUESSED or each.target not in theirs)
        plan, twin = replace(plan, links=kept), None if twin is not None and twin[0] in theirs else twin
    if not (plan.links or plan.rewrites or twin):
        return outcome
    operation = session.begin("evolve", made_by, f"{note.id[:8]} arrived", parent=parent, prompts=prompts)
    if twin is not None:
        link = _near_duplicate(note.id, *twin, session)
        if session.links.put(link, operation):
            outcome.links.append(link)
    for planned in plan.links:
        link = Link(note.id, planned.target, planned.type, planned.reason, planned.confidence, made_by, session.now)
        if session.links.put(link, operation):
            outcome.links.append(link)
    for rewrite in plan.rewrites:
        if rewrite.why_wait:
            outcome.queued.append(_queue(session, rewrite, made_by, operation, settings))
        else:
            _rewrite(session, rewrite, operation, vectorizer, outcome)
    return outcome


def write_down(
    session: Session,
    thought: Thought,
    enrichment: Enrichment,
    cause: str,
    *,
    parent: int | None,
    vectorizer: Vectorizer,
    settler: Settler,
    settings: Settings,
) -> Outcome:
    """What was thought of a stored note: its free fields as one operation, below it what evolved and was overturned."""
    note, shown, evolution = thought.note, thought.shown, thought.evolution
    if any(each.id not in session.notes.keys_of([each.id]) for each in shown.notes.values()):
        # Whatever it says may quote what was destroyed.
        shown, evolution = Shown([], {}, {}), Evolution(dropped=("what evolves: a note that was shown is purged",))
    vectorizer.keep(session, thought.vectors)
    owned = session.notes.owned_fields([note.id, *(each.id for each in shown.notes.values())])
    planned = plan(evolution, shown.notes, owned, settings)
    by = thought.evolver or thought.analyst
    planned, opinions = from_links(planned, by, evolution.prompt, shown.cosines, settings.conflict_cosine)
    changes: dict[str, Any] = {"enrichment": str(enrichment)}
    asked = [thought.analysis.prompt] if thought.analysis is not None else []
    if thought.analysis is not None:
        free = [name for name in ANALYSED if name not in owned[note.id]]
        changes |= {name: plain(name, getattr(note, name)) for name in free}
        changes["analyst"] = thought.analyst
        held = session.notes.get_many([note.id], history=False, usage=False, deleted=True)[note.id].metadata
        traced = {name: value for name, value in held.items() if name != BY_RULES}
        if filled := note.metadata.get(BY_RULES):
            traced[BY_RULES] = filled
        if traced != held:
            changes["metadata"] = traced
        if planned.tags and "tags" in free:
            changes["tags"] = with_hashtags(note, planned.tags)
            asked.append(evolution.prompt)
    prompts = ", ".join(filter(None, asked))
    operation = session.begin("enrich", thought.analyst or "amem", cause, parent=parent, prompts=prompts)
    session.notes.change(note.id, changes, operation)
    readdress(session, note.id, vectorizer)
    outcome = carry_out(
        session,
        planned,
        note,
        twin=shown.twin(settings.near_duplicate) if vectorizer.can_read(note) else None,
        made_by=by,
        parent=operation,
        vectorizer=vectorizer,
        settings=settings,
        prompts=evolution.prompt,
    )
    outcome.operation = operation
    now, key = session.notes.get_many([note.id], history=False, usage=False), session.notes.keys_of([note.id])
    if now and now[note.id].status is Status.ACTIVE:
        outcome.settled = settler.settle(
            session,
            now[note.id],
            key[note.id],
            thought.near,
            thought.cosines,
            parent=operation,
            owned=owned[note.id],
            opinions=opinions,
        )
    return outcome


def _near_duplicate(source: str, target: str, cosine: float, session: Session) -> Link:
    """The link between two notes that say almost the same; both stay, since one number may make all the difference."""
    reason = f"{NEAR_DUPLICATE} (similarity {cosine:.2f})"
    return Link(source, target, LinkType.RELATED, reason, min(1.0, cosine), "amem", session.now)


def _rewrite(
    session: Session, rewrite: PlannedRewrite, operation: int, vectorizer: Vectorizer, outcome: Outcome
) -> None:
    try:
        fields = session.notes.change(rewrite.id, rewrite.changes, operation, expect=rewrite.version)
    except StaleNote as error:
        outcome.dropped.append(f"rewrite of {rewrite.id[:8]}: {error}")
        return
    if fields:
        if vectorizer.reads(fields):
            readdress(session, rewrite.id, vectorizer)
        outcome.evolved.append(Evolved(rewrite.id, rewrite.version + 1, fields, rewrite.reason, rewrite.confidence))


def readdress(session: Session, id: str, vectorizer: Vectorizer) -> None:
    """Point a note at the vector of its present text; one not computed yet is embedded by the next consolidation."""
    note = session.notes.get_many([id], history=False, deleted=True)[id]
    session.notes.address(id, vectorizer.hash(note))


def _queue(session: Session, rewrite: PlannedRewrite, made_by: str, operation: int, settings: Settings) -> Queued:
    note = session.notes.get_many([rewrite.id], history=False)[rewrite.id]
    changes: dict[str, tuple[Any, Any]] = {
        name: (plain(name, getattr(note, name)), value) for name, value in rewrite.changes.items()
    }
    review = session.reviews.propose(
        rewrite.id,
        changes,
        operation=operation,
        base_version=rewrite.version,
        reason=rewrite.reason,
        confidence=rewrite.confidence,
        made_by=made_by,
        days=settings.review_days,
    )
    return Queued(str(review), rewrite.id, rewrite.why_wait)

"""Evolution: which notes a new one is held against, what an analyst may change by its answer, and how that is written.

Read it in this order: candidates, what is shown of them, the guards of the answer, what is carried out.
"""

from __future__ import annotations

import logging
import math
import re
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

from amem.analysis import Evolution, Neighbour, Plan, PlannedLink, PlannedRewrite, Rewrite
from amem.clock import local_time
from amem.conflict.candidates import NEAR_DUPLICATE, Candidate
from amem.conflict.settling import NOBODY_ASKED, Opinions, Settled, Settler, from_links
from amem.errors import InvalidInput, StaleNote
from amem.language import index_terms, query_terms, written_in_cjk
from amem.note import Evolved, Kind, Link, LinkType, Queued, Scope, Status, is_persons_word
from amem.rendering import text_of
from amem.storage.rows import plain
from amem.writing.fields import ANALYSED, BY_RULES, analysis_of, draft_of, labels, with_hashtags

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from amem.collection import Collection, Vectorizer
    from amem.note import Enrichment, MemoryNote, Receipt
    from amem.protocols import Analyst, Vocabulary
    from amem.settings import Settings
    from amem.storage.store import Session
    from amem.writing.intake import Intake
    from amem.writing.reanalysis import Thought

_log = logging.getLogger("amem")


# Which existing notes a new one is held against: the nearest in meaning, and those that share a rare word or name.

#: A name or keyword that more notes than this carry says little about which of them belong together.
_RARE = 30
_SHARING = 3
#: Cosine below which a note is not shown, unless it shares a rare name. With MiniLM on the 41 English example notes two
#: notes taken at random have 0.11 in the median, and of the links that the rules make 1.6 % lie below 0.25; of the
#: eight nearest notes five reach it. Chinese, which that model cannot read, lies above it whatever it says (0.53).
FLOOR = 0.25
#: What a rare name in common counts as beside cosines: more than any note of another subject, less than a close one.
_SHARED_NAME = 0.45


def sharing(
    session: Session, names: Sequence[str], cosines: Callable[[Sequence[int]], Sequence[float]], own: int = -1
) -> list[Candidate]:
    """Notes of the session's scope that share rare ones of these names and keywords, those that share most first.

    They do so whatever their meaning. `own` is the key of the new note itself, where it is stored.

    Between two languages, or two ways to say a thing, a name in common is often all that connects two notes.
    """
    rare = session.text.sharing_rare(names, most=_RARE, limit=_SHARING + 1)
    keys = [key for key in rare if key != own][:_SHARING]
    if not keys:
        return []
    return [Candidate(key, cosine) for key, cosine in zip(keys, cosines(keys), strict=True) if not math.isnan(cosine)]


def best(nearest: Sequence[Candidate], sharing: Sequence[Candidate], most: int) -> list[Candidate]:
    """The candidates that are worth showing to an analyst, most relevant first, at most `most`; `nearest` is sorted.

    Those that share rare names always have a place, however many others are nearer.

    A-Mem filters twice: by nearness, then by what the model makes of it. Here the first filter is a floor, so that a
    small model is not asked about notes that merely are the nearest of a collection on other subjects.
    """
    named = {each.key: each for each in sharing[:most]}
    near = [each for each in nearest if each.cosine >= FLOOR and each.key not in named]
    chosen = [*near[: most - len(named)], *named.values()]
    # Stable, so that of equals the nearest, and those that share most, come first.
    return sorted(chosen, key=lambda each: -max(each.cosine, _SHARED_NAME if each.key in named else 0.0))


@dataclass(frozen=True, slots=True)
class Shown:
    """What an analyst sees of some candidates, which note each handle stands for, and the fields people own in them."""

    neighbours: list[Neighbour] = field(default_factory=list)
    notes: dict[str, MemoryNote] = field(default_factory=dict)
    owned: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def cosines(self) -> dict[str, float]:
        """How alike each of the notes is, by id."""
        return {self.notes[each.handle].id: each.similarity for each in self.neighbours}

    def twin(self, near_duplicate: float) -> tuple[str, float] | None:
        """Id and cosine of the most similar note, if it is similar enough to be a near-duplicate."""
        nearest = max(self.neighbours, key=lambda each: each.similarity, default=None)
        if nearest is None or nearest.similarity < near_duplicate:
            return None
        return self.notes[nearest.handle].id, nearest.similarity


def show(session: Session, candidates: Sequence[Candidate], of: MemoryNote) -> Shown:
    """The candidates as an analyst may see them, each under a handle of its own.

    Only active notes of the same scope are shown, and none that sums up an episode or a topic: it repeats what was
    said, so it is near to every note made of that, which is linked to it already.
    """
    found = session.notes.bare([each.key for each in candidates])
    shown, scope = Shown(), Scope.of(of.metadata)
    for each in candidates:
        note, owned = found.get(each.key, (None, {}))
        if note is None or note.id == of.id or note.status is not Status.ACTIVE:
            continue
        if Scope.of(note.metadata) != scope or "episode" in note.metadata or note.kind is Kind.TOPIC:
            continue
        handle = f"n{len(shown.neighbours) + 1}"
        shown.notes[handle] = note
        shown.owned[note.id] = owned
        shown.neighbours.append(_seen(handle, note, each.cosine))
    return shown


def _seen(handle: str, note: MemoryNote, cosine: float) -> Neighbour:
    return Neighbour(
        handle=handle,
        content=text_of(note),
        context=note.context,
        keywords=tuple(note.keywords),
        tags=tuple(note.tags),
        entities=tuple(note.entities),
        kind=note.kind,
        at=local_time(note.timestamp, UTC),
        similarity=cosine,
        speaker=note.speaker,
    )


# What of an analyst's answer may happen: the guards of evolution.
#
# An answer is data. Only neighbours that were shown can be reached, by handle; at most a few are rewritten; a rewrite
# that would lose something, touch a person's edit or is not sure of itself waits for a person. What is refused is
# refused item by item, with a sentence that says so. What a person linked is theirs: no guess about the same two
# notes stands beside it.

#: How one note may be guessed to bear on another. What settles which of two is true is no such guess.
GUESSED = frozenset({LinkType.RELATED, LinkType.SUPPORTS, LinkType.CAUSED_BY})


def linked_by_person(session: Session, id: str) -> set[str]:
    """The notes that a person linked with this one in such a way, in either direction."""
    return {
        link.target if link.source == id else link.source
        for link in session.links.around([id])
        if link.type in GUESSED and is_persons_word(link.made_by)
    }


def drop_guesses(
    session: Session, one: str, other: str, operation: int, keep: Container[tuple[str, str, LinkType]] = ()
) -> None:
    """Take away what machines guessed of the two notes, in either direction, but for the links to `keep`."""
    for link in session.links.among([one, other], list(GUESSED)):
        if not is_persons_word(link.made_by) and (link.source, link.target, link.type) not in keep:
            session.links.remove(link.source, link.target, link.type, operation)


_MOST_TAGS = 16
_LONGEST_CONTEXT = 1_000
_NUMBER = re.compile(r"\d+(?:[.:,/-]\d+)*")


def plan(
    evolution: Evolution,
    shown: Mapping[str, MemoryNote],
    owned: Mapping[str, Mapping[str, str]],
    settings: Settings,
) -> Plan:
    """Hold an answer against what was shown. `shown` maps handles to notes, `owned` ids to fields people hold."""
    dropped = list(evolution.dropped)
    links = _links(evolution, shown, dropped)
    rewrites: list[PlannedRewrite] = []
    for rewrite in evolution.rewrites:
        note = shown.get(rewrite.handle)
        if note is None:
            dropped.append(f"rewrite of {rewrite.handle!r}: no such neighbour was shown")
        elif any(done.id == note.id for done in rewrites):
            dropped.append(f"second rewrite of {rewrite.handle}: one each")
        elif len(rewrites) >= settings.max_rewrites:
            dropped.append(f"rewrite of {rewrite.handle}: at most {settings.max_rewrites} neighbours change per note")
        else:
            planned = _rewrite_of(rewrite, note, owned.get(note.id, {}), settings, dropped)
            if planned is not None:
                rewrites.append(planned)
    return Plan(tuple(links), tuple(rewrites), _tags("new tags", evolution.tags, dropped), tuple(dropped))


def _links(evolution: Evolution, shown: Mapping[str, MemoryNote], dropped: list[str]) -> list[PlannedLink]:
    found: dict[tuple[str, LinkType], PlannedLink] = {}
    for link in evolution.links:
        note = shown.get(link.handle)
        if note is None:
            dropped.append(f"link to {link.handle!r}: no such neighbour was shown")
            continue
        confidence = min(1.0, max(0.0, link.confidence))
        quote = link.quote if link.quote in note.content else ""
        found.setdefault((note.id, link.type), PlannedLink(note.id, link.type, link.reason, confidence, quote))
    return list(found.values())


def _rewrite_of(
    rewrite: Rewrite, note: MemoryNote, owned: Mapping[str, str], settings: Settings, dropped: list[str]
) -> PlannedRewrite | None:
    changes: dict[str, str | list[str]] = {}
    context = None if rewrite.context is None else " ".join(rewrite.context.split())
    if context and written_in_cjk(context) is not written_in_cjk(note.content):
        dropped.append(f"context for {rewrite.handle}: it is in another language than the note")
    elif context and context != note.context:
        if len(context) > _LONGEST_CONTEXT:
            dropped.append(f"context for {rewrite.handle}: longer than {_LONGEST_CONTEXT} characters")
        else:
            changes["context"] = context
    tags = _tags(f"tags for {rewrite.handle}", rewrite.tags, dropped)
    if tags and list(tags) != note.tags:
        changes["tags"] = list(tags)
    if not changes:
        return None
    return PlannedRewrite(
        id=note.id,
        version=note.version,
        changes=changes,
        reason=rewrite.reason,
        confidence=min(1.0, max(0.0, rewrite.confidence)),
        why_wait=_why_wait(rewrite, note, changes, owned, settings),
    )


def _why_wait(
    rewrite: Rewrite,
    note: MemoryNote,
    changes: Mapping[str, str | list[str]],
    owned: Mapping[str, str],
    settings: Settings,
) -> str:
    edited = sorted(field for field in changes if owned.get(field) == "edited")
    if edited:
        return f"a person edited its {' and '.join(edited)}"
    lost = _lost(note, changes)
    if lost:
        return f"it would lose {', '.join(lost[:3])}"
    if "context" in changes and not _speaks_of(note, str(changes["context"])):
        return "its new context has no word in common with it"
    if rewrite.confidence < settings.rewrite_confidence:
        return f"confidence {rewrite.confidence:.2f} is below {settings.rewrite_confidence:.2f}"
    return ""


def _speaks_of(note: MemoryNote, context: str) -> bool:
    """Whether a context has a word of the note's: a model that obeys a note instead of reading it writes "deleted"."""
    held = {*index_terms(note.content), *index_terms(note.context)}
    return not held.isdisjoint(query_terms(context))


def _lost(note: MemoryNote, changes: Mapping[str, str | list[str]]) -> list[str]:
    """Entities that the rewritten fields held and would no longer hold, and numbers of the context.

    Digits in a tag ("2024", "web2") are no fact that a better tag would lose.
    """
    before, after = "", ""
    for name, value in changes.items():
        held = getattr(note, name)
        before += " " + (held if isinstance(held, str) else " ; ".join(held))
        after += " " + (value if isinstance(value, str) else " ; ".join(value))
    before, after = before.casefold(), after.casefold()
    entities = [entity for entity in note.entities if entity.casefold() in before and entity.casefold() not in after]
    kept = set(_NUMBER.findall(after))
    stated = _NUMBER.findall(note.context) if "context" in changes else []
    return entities + [number for number in stated if number not in kept]


def _tags(what: str, tags: Sequence[str] | None, dropped: list[str]) -> tuple[str, ...] | None:
    if tags is None:
        return None
    try:
        clean = labels("tags", list(tags))
    except InvalidInput as error:
        dropped.append(f"{what}: {error}")
        return None
    if len(clean) > _MOST_TAGS:
        dropped.append(f"{what}: only the first {_MOST_TAGS} of {len(clean)}")
    return tuple(clean[:_MOST_TAGS]) or None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What evolution will do with one new note; `twin` is the (id, cosine) of a near-duplicate.

    `prompts` names what a model was asked for it; `opinions` are its verdicts on the neighbours.
    """

    plan: Plan = field(default_factory=Plan)
    twin: tuple[str, float] | None = None
    prompts: str = ""
    opinions: Opinions = NOBODY_ASKED


def evolve(
    session: Session,
    entry: Intake,
    candidates: Sequence[Candidate],
    analyst: Analyst,
    vocabulary: Vocabulary,
    collection: Collection,
) -> Proposal:
    """Ask the analyst, and hold its answer against the guards; of the new note itself only tags change.

    Whatever an analyst does, the note is kept: `entry.error` says what went wrong, and enrichment tries again.
    """
    note = entry.note
    shown = show(session, candidates, note)
    if not shown.neighbours:
        return Proposal()
    draft = draft_of(note, collection.zone)
    try:
        evolution = analyst.evolve(draft, analysis_of(note), shown.neighbours, vocabulary)
    except Exception as error:
        _log.warning("evolution of a note failed: %s", error)
        entry.error = f"evolution: {error}"
        evolution = Evolution()
    proposal = _proposal(evolution, shown, shown.owned, note, analyst.name, collection)
    if proposal.plan.tags and "tags" not in entry.given:
        note.tags = with_hashtags(note, proposal.plan.tags)
    return proposal


def _proposal(
    evolution: Evolution,
    shown: Shown,
    owned: Mapping[str, Mapping[str, str]],
    note: MemoryNote,
    by: str,
    collection: Collection,
) -> Proposal:
    """What the guards leave of an answer `by` an analyst, and apart from it a model's verdicts on the neighbours."""
    settings = collection.settings
    planned = plan(evolution, shown.notes, owned, settings)
    planned, opinions = from_links(planned, by, evolution.prompt, shown.cosines, settings.conflict_cosine)
    twin = shown.twin(settings.near_duplicate) if collection.vectorizer.can_read(note) else None
    return Proposal(planned, twin, evolution.prompt, opinions)


# What was found out, written down in one transaction: fields, links, rewritten neighbours, the doubtful queued.


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
    proposal: Proposal,
    note: MemoryNote,
    *,
    made_by: str,
    parent: int,
    collection: Collection,
    linked: bool = True,
) -> Outcome:
    """Do what is proposed, as one operation set off by `parent`.

    `linked` tells whether a person may have linked the note by now.
    """
    plan, twin = proposal.plan, proposal.twin
    outcome = Outcome(dropped=list(plan.dropped))
    if linked and (plan.links or twin):
        theirs = linked_by_person(session, note.id)
        kept = tuple(each for each in plan.links if each.type not in GUESSED or each.target not in theirs)
        plan, twin = replace(plan, links=kept), None if twin is not None and twin[0] in theirs else twin
    if not (plan.links or plan.rewrites or twin):
        return outcome
    operation = session.begin("evolve", made_by, f"{note.id[:8]} arrived", parent=parent, prompts=proposal.prompts)
    # A link that says that both say the same says all that a near-duplicate's would.
    supported = {planned.target for planned in plan.links if planned.type is LinkType.SUPPORTS}
    links = [] if twin is None or twin[0] in supported else [_near_duplicate(note.id, *twin, session)]
    links += [
        Link(note.id, planned.target, planned.type, planned.reason, planned.confidence, made_by, session.now)
        for planned in plan.links
    ]
    outcome.links += session.links.put_all(links, operation)
    for rewrite in plan.rewrites:
        if rewrite.why_wait:
            outcome.queued.append(_queue(session, rewrite, made_by, operation, collection.settings))
        else:
            _rewrite(session, rewrite, operation, collection.vectorizer, outcome)
    return outcome


def write_down(
    session: Session,
    thought: Thought,
    enrichment: Enrichment,
    cause: str,
    *,
    parent: int | None,
    collection: Collection,
    settler: Settler,
) -> Outcome:
    """What was thought of a stored note: its free fields as one operation, below it what evolved and was overturned."""
    note, shown, evolution = thought.note, thought.shown, thought.evolution
    ids = {each.id for each in shown.notes.values()}
    if len(session.notes.keys_of(list(ids))) < len(ids):
        # Whatever it says may quote what was destroyed.
        shown, evolution = Shown(), Evolution(dropped=("what evolves: a note that was shown is purged",))
    vectorizer = collection.vectorizer
    vectorizer.keep(session, thought.vectors)
    owned = session.notes.owned_fields([note.id, *(each.id for each in shown.notes.values())])
    by = thought.evolver or thought.analyst
    proposal = _proposal(evolution, shown, owned, note, by, collection)
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
        if proposal.plan.tags and "tags" in free:
            changes["tags"] = with_hashtags(note, proposal.plan.tags)
            asked.append(evolution.prompt)
    prompts = ", ".join(filter(None, asked))
    operation = session.begin("enrich", thought.analyst or "amem", cause, parent=parent, prompts=prompts)
    session.notes.change(note.id, changes, operation)
    readdress(session, note.id, vectorizer)
    outcome = carry_out(session, proposal, note, made_by=by, parent=operation, collection=collection)
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
            opinions=proposal.opinions,
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

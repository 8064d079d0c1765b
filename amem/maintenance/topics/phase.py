"""The phase of maintenance that gathers topics: communities of linked notes, and what people declared."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.errors import StaleNote
from amem.maintenance.cycle import CYCLES
from amem.maintenance.shift import PhaseReport, Reason
from amem.maintenance.topics.identity import recognise
from amem.maintenance.topics.known import known_topics, notes_of
from amem.maintenance.topics.naming import core, labels
from amem.maintenance.topics.page import is_chinese
from amem.maintenance.topics.web import communities, joining, neighbours
from amem.note import LinkType, Scope, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from amem.maintenance.shift import Shift
    from amem.maintenance.topics.declared import Declared
    from amem.maintenance.topics.keeper import Draft, Keeper
    from amem.maintenance.topics.known import Known
    from amem.settings import Settings
    from amem.storage import Session, Store

#: Links that tie notes together; contradictions and successors belong to conflicts.
TIES = (LinkType.RELATED, LinkType.SUPPORTS, LinkType.PART_OF, LinkType.CAUSED_BY, LinkType.DERIVED_FROM)
#: What the log calls it.
ACTION = "topic"
#: Share of a topic's notes that must be in other topics for it to have become part of them.
_ABSORBED = 0.6
_GONE = "its notes are gone"


@dataclass(slots=True)
class _Plan:
    """What is to be looked at: (what a topic is now, its notes); what is put away, and why; each scope's names."""

    drafts: list[tuple[Known | None, list[str]]] = field(default_factory=list)
    archive: list[tuple[Known, str]] = field(default_factory=list)
    names: dict[Scope, list[str]] = field(default_factory=dict)


class TopicPhase:
    """Renews the topics of one collection."""

    name = "topics"

    def __init__(self, store: Store, settings: Settings, keeper: Keeper, declared: Declared) -> None:
        self._store = store
        self._settings = settings
        self._keeper = keeper
        self._declared = declared

    def run(self, shift: Shift) -> PhaseReport:
        """Make, update and put away topics; does nothing at all when nothing was written since the last run."""
        with self._store.read() as session:
            if session.counter == shift.since:
                return PhaseReport()
            changed = shift.changed(session)
        grown = self._declared.belonging(changed)
        with self._store.read() as session:
            plan = self._plan(session, shift, grown)
        reasons: list[Reason] = []
        for place, (known, members) in enumerate(plan.drafts):
            if shift.cancelled.is_set():
                break
            with self._store.read() as session:
                scope = session.notes.scopes_of(members[:1])[members[0]] if known is None else known.scope
            names = plan.names.setdefault(scope, [])
            draft = self._keeper.draft(members, known, scope=scope, taken=names, ask=not shift.dry_run)
            if draft is not None:
                names.append(draft.name)
                with suppress(StaleNote):  # somebody is at it: it is looked at again the next time
                    reasons.append(self._put(shift, draft, len(reasons)))
            shift.tell(place + 1, len(plan.drafts))
        for known, why in plan.archive:
            if not shift.dry_run:
                self._archive(shift, known, why, len(reasons))
            reasons.append(Reason(known.id, "topic", f"{known.mark.name}: {why}"))
        return PhaseReport({"topics_updated": len(reasons)}, tuple(reasons))

    def _put(self, shift: Shift, draft: Draft, before: int) -> Reason:
        known = draft.known
        why = f"{draft.name}: {len(draft.members)} notes" + (" belong together" if known is None else "")
        if shift.dry_run:
            return Reason("" if known is None else known.id, "topic", why)
        vectors = self._keeper.embed(draft)
        with self._store.write() as session:
            id = self._keeper.put(session, draft, vectors, shift.begin(session, ACTION, draft.name))
            shift.mark(session, {"counts": {"topics_updated": before + 1}})
        return Reason(id, "topic", why)

    def _archive(self, shift: Shift, known: Known, why: str, before: int) -> None:
        with self._store.write() as session:
            self._keeper.archive(session, known, shift.begin(session, ACTION, f"{known.mark.name}: {why}"))
            shift.mark(session, {"counts": {"topics_updated": before + 1}})

    def _plan(self, session: Session, shift: Shift, grown: Mapping[str, set[str]]) -> _Plan:
        every = known_topics(session, statuses=tuple(Status))
        last = session.runs.last(CYCLES)
        # What took the place of what shows on a page, too.
        touched = session.notes.ids_changed(shift.since) | (
            session.links.ends_changed(last.started_at, but=ACTION, types=(LinkType.SUPERSEDES,)) if last else set()
        )
        plan = _Plan()
        for known in every:
            if known.note.status is not Status.DELETED:
                plan.names.setdefault(known.scope, []).append(known.mark.name)
        # Those of people come from their words, not from links; they keep their notes whatever these are linked to.
        for known in every:
            if known.mark.declared and known.note.status is Status.ACTIVE:
                mine = _active(session, known.members) | grown.get(known.id, set())
                _look_again(plan, known, mine, touched)
        found_by_links = [known for known in every if not known.mark.declared]
        groups, automatic = self._groups(session, shift.cycle, found_by_links, touched)
        recognised = recognise(groups, {id: known.members for id, known in automatic.items()})
        placed = {place: id for id, place in recognised.items()}
        gathered: set[str] = set()
        for place, group in enumerate(groups):
            found = automatic.get(placed.get(place, ""))
            if found is None:
                goes_on = self._founded(session, plan, group)
            elif found.note.status is Status.DELETED:
                continue  # somebody did not want it
            else:
                goes_on = self._renewed(session, plan, found, group, touched)
            if goes_on:
                gathered |= group
        for id, known in automatic.items():
            if known.note.status is Status.ACTIVE and id not in recognised:
                self._left(plan, known, _active(session, known.members), gathered, touched)
        keys = session.notes.keys_of([known.id for known, _ in plan.archive])
        kept = shift.taken_back(session, ACTION, list(keys.values()))
        plan.archive = [(known, why) for known, why in plan.archive if keys[known.id] not in kept]
        return plan

    def _groups(
        self, session: Session, cycle: str, topics: Sequence[Known], touched: AbstractSet[str]
    ) -> tuple[list[frozenset[str]], dict[str, Known]]:
        """Communities, and the topics that one of them may be.

        By night only where anything changed since the last run, and what joins a topic leaves it otherwise as it is;
        the first time and once a week the whole web is parted anew.
        """
        links = session.links.web(TIES)
        last = session.runs.last(CYCLES)
        if last is None or cycle != "nightly":
            return communities(links, self._settings.topic_size), {known.id: known for known in topics}
        moved = touched | session.links.ends_changed(last.started_at, but=ACTION)
        near = neighbours(links, moved)
        standing = {known.id: set(known.members) for known in topics if known.note.status is Status.ACTIVE}
        joined = joining(links, standing, near)
        for note, id in joined.items():
            standing[id].add(note)
        # Links of deleted notes are not shown, but they tell which topics lost one.
        lost = {link.target for link in session.links.around(sorted(moved)) if link.type is LinkType.PART_OF}
        looked_at = {id for id, notes in standing.items() if id in lost or not moved.isdisjoint(notes)}
        looked_at.update(joined.values())
        free = near.difference(*standing.values())
        fresh = communities([link for link in links if free.issuperset(link[:2])], self._settings.topic_size)
        groups = [frozenset(_active(session, standing[id])) for id in sorted(looked_at)]
        away = {known.id for known in topics if known.note.status is not Status.ACTIVE}
        return [*groups, *fresh], {known.id: known for known in topics if known.id in looked_at | away}

    def _founded(self, session: Session, plan: _Plan, group: frozenset[str]) -> bool:
        """Whether a community is a topic: of the notes that its name really fits there have to be enough."""
        notes = list(notes_of(session, group).values())
        members = core(notes, labels(session, notes, chinese=is_chinese(notes)))
        if len(members) < self._settings.topic_size:
            return False
        plan.drafts.append((None, sorted(members)))
        return True

    def _renewed(
        self, session: Session, plan: _Plan, known: Known, group: frozenset[str], touched: AbstractSet[str]
    ) -> bool:
        """Whether a topic goes on in a community: who belongs to it does so until it says something else."""
        wanted = (group - session.links.taken_away(known.id, LinkType.PART_OF)) | known.by_hand
        here = known.note.status is Status.ACTIVE
        stay = (known.members & wanted) - touched if here else frozenset[str]()
        fitting = core(list(notes_of(session, wanted - stay).values()), known.note.entities)
        members = stay | known.by_hand | set(fitting)
        if self._too_few(members):
            if here:
                plan.archive.append((known, _GONE))
            return False
        if not here or members != known.members or not touched.isdisjoint(members):
            plan.drafts.append((known, sorted(members)))
        return True

    def _left(
        self, plan: _Plan, known: Known, active: AbstractSet[str], gathered: AbstractSet[str], touched: AbstractSet[str]
    ) -> None:
        """A topic that no community is any more: it goes on while enough of its notes are there and are its own."""
        if self._too_few(active):
            plan.archive.append((known, _GONE))
        elif len(active & gathered) >= _ABSORBED * len(active):
            plan.archive.append((known, "its notes belong to other topics now"))
        else:
            _look_again(plan, known, active, touched)

    def _too_few(self, notes: AbstractSet[str]) -> bool:
        """For a topic to go on half of what makes a new one is enough."""
        return len(notes) * 2 < self._settings.topic_size


def _look_again(plan: _Plan, known: Known, active: AbstractSet[str], touched: AbstractSet[str]) -> None:
    if active != known.members or not touched.isdisjoint(active):
        plan.drafts.append((known, sorted(active)))


def _active(session: Session, ids: AbstractSet[str]) -> set[str]:
    keys = session.notes.keys_of(list(ids))
    states = session.notes.columns(list(keys.values()), ("status",))
    return {id for id, key in keys.items() if states[key] == (Status.ACTIVE,)}

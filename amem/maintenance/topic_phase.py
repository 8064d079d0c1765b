"""The phase of maintenance that gathers topics: communities of linked notes, and what people declared."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import StaleNote
from amem.language import index_terms, normalize, query_terms, written_in_cjk
from amem.language.lexicon import lexicon
from amem.maintenance.cycle import CYCLES
from amem.maintenance.phase import PhaseReport, PhaseRun, Reason
from amem.maintenance.topic_notes import Draft, Known, Mark, TopicWriter, known_topics, notes_of, recognise
from amem.maintenance.topic_pages import core, is_chinese, labels
from amem.note import Kind, LinkType, MemoryNote, Scope, Status
from amem.storage.vectors import text_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from amem.collection import Collection
    from amem.storage.store import Session

    Web = Mapping[str, Mapping[str, float]]


# Which notes are to be looked at, and what joins a topic that there is.


def neighbours(links: Iterable[tuple[str, str, float]], moved: AbstractSet[str]) -> set[str]:
    """The notes that are linked to one of `moved`, and these themselves."""
    near = set(moved)
    for one, other, _ in links:
        if one in moved or other in moved:
            near |= {one, other}
    return near


def joining(
    links: Iterable[tuple[str, str, float]], topics: Mapping[str, AbstractSet[str]], free: AbstractSet[str]
) -> dict[str, str]:
    """Of the `free` notes those that most of the weight of their links leads into one topic (by id), and which.

    A note that has joined draws others after it. `topics` stay as they are: parting the web anew for each note that
    came would shuffle them all.
    """
    place = {note: id for id in sorted(topics, reverse=True) for note in topics[id]}
    ties: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for one, other, weight in links:
        for note, end in ((one, other), (other, one)):
            if note in free and note not in place and note != end:
                ties[note][end] = max(ties[note].get(end, 0.0), weight)
    joined: dict[str, str] = {}
    waiting = sorted(ties)
    while True:
        found = {note: id for note in waiting if (id := _drawn(ties[note], place)) is not None}
        if not found:
            return joined
        place |= found
        joined |= found
        waiting = [note for note in waiting if note not in found]


def _drawn(ties: Mapping[str, float], place: Mapping[str, str]) -> str | None:
    """The topic to which more than half of the weight leads."""
    pull: defaultdict[str, float] = defaultdict(float)
    for end, weight in ties.items():
        if end in place:
            pull[place[end]] += weight
    return next((id for id, weight in pull.items() if weight * 2 > sum(ties.values())), None)


# Topics that a person declared: which notes belong to one is for its words to say, not for links.

#: Cosine from which a note that holds one of the words speaks of the topic; in Chinese, where all texts are near, more.
_NEAR, _NEAR_CHINESE = 0.33, 0.45
_NEAREST = 200
_PHRASES = re.compile(r"[,;，、；]+")


@dataclass(frozen=True, slots=True)
class Words:
    """A topic's words: `text` to be near to, `labels` that a tag may be (folded), `terms` that a text may hold."""

    text: str
    labels: frozenset[str]
    terms: frozenset[str]

    @classmethod
    def of(cls, mark: Mark) -> Words:
        """Those of a name and what it is about; a broad subject ("health", 健康) goes by its name in both languages."""
        phrases = [mark.name, *filter(str.strip, _PHRASES.split(mark.about))]
        if len(phrases) == 2 and not written_in_cjk(mark.about):
            phrases = [mark.name, *mark.about.split()]
        names = {normalize(phrase).replace("-", " ") for phrase in phrases}
        for theme in lexicon().themes:
            known = {normalize(name).replace("-", " ") for name in (theme.english, theme.chinese, *theme.aliases)}
            if normalize(mark.name).replace("-", " ") in known:
                names |= known
        terms = {term for name in names for term in query_terms(name)}
        return cls(f"{mark.name} {mark.about}".strip(), frozenset(names), frozenset(terms))

    def named_by(self, note: MemoryNote) -> bool:
        """Whether a tag, the category, a keyword or a name of the note is one of the words."""
        held = (*note.tags, note.category, *note.keywords, *note.entities)
        if any(normalize(value).replace("-", " ") in self.labels for value in held):
            return True
        named = [set(index_terms(name)) for name in note.entities]
        return any(set(index_terms(label)) <= terms for label in self.labels if label for terms in named if terms)

    def spoken_of_by(self, note: MemoryNote, cosine: float) -> bool:
        """Whether the note's text is near the words and holds one of them."""
        near = _NEAR_CHINESE if written_in_cjk(note.content) else _NEAR
        return cosine >= near and not self.terms.isdisjoint(index_terms(note.content))


@dataclass(frozen=True, slots=True)
class Declared:
    """Finds the notes of declared topics in one collection."""

    collection: Collection

    def belonging(self, keys: Sequence[int]) -> dict[str, set[str]]:
        """For each declared topic (by id) those of these notes that belong to it; nothing is loaded without topics."""
        with self.collection.store.read() as session:
            topics = [known for known in known_topics(session) if known.mark.declared] if keys else []
        found: dict[str, set[str]] = {}
        for known in topics:
            words = Words.of(known.mark)
            mine = self._of(words, list(keys), known.scope)
            with self.collection.store.read() as session:
                mine -= session.links.taken_away(known.id, LinkType.PART_OF)
            if mine:
                found[known.id] = mine
        return found

    def all_of(self, mark: Mark, scope: Scope) -> set[str]:
        """Every note of the scope that belongs to a topic of these words."""
        words = Words.of(mark)
        vector = self._vector(words)
        self.collection.dense.refresh()
        with self.collection.store.read() as session:
            allowed = session.notes.met_by(scope)
        near = self.collection.dense.search(vector, _NEAREST, allowed=allowed)[0].tolist()
        with self.collection.store.read() as session:
            keys = dict.fromkeys([*near, *_holding(session, words.labels)])
        return self._of(words, list(keys), scope)

    def _of(self, words: Words, keys: Sequence[int], scope: Scope) -> set[str]:
        if not keys:
            return set()
        vector = self._vector(words)
        self.collection.dense.refresh()
        cosines = self.collection.dense.cosines(vector, np.array(keys, dtype=np.int64)).tolist()
        with self.collection.store.read() as session:
            notes = session.notes.bare(keys)
        found: set[str] = set()
        for key, cosine in zip(keys, cosines, strict=True):
            note = notes[key][0] if key in notes else None
            if note is None or not _may_belong(note) or Scope.of(note.metadata) != scope:
                continue
            if words.named_by(note) or words.spoken_of_by(note, cosine):
                found.add(note.id)
        return found

    def _vector(self, words: Words) -> NDArray[np.float32]:
        """The vector of a topic's words; kept like those of notes, so that it costs a model once."""
        vectors, fresh = self.collection.vectorizer.embed([words.text])
        if fresh and not self.collection.store.read_only:
            with self.collection.store.write() as session:
                self.collection.vectorizer.keep(session, vectors)
        return vectors[text_hash(words.text)]


def _may_belong(note: MemoryNote) -> bool:
    return note.status is Status.ACTIVE and note.kind is not Kind.TOPIC and "episode" not in note.metadata


def _holding(session: Session, labels: Iterable[str]) -> list[int]:
    spelled = [value for label in labels for value in (label, label.replace(" ", "-"))]
    return [key for role in ("tag", "entity", "keyword") for key, _ in session.text.holding(role, spelled, -1)]


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


@dataclass(frozen=True, slots=True)
class TopicPhase:
    """Renews the topics of one collection."""

    collection: Collection
    writer: TopicWriter

    def run(self, run: PhaseRun) -> PhaseReport:
        """Make, update and put away topics; does nothing at all when nothing was written since the last run."""
        with self.collection.store.read() as session:
            if session.counter == run.since:
                return PhaseReport()
            changed = run.changed(session)
        grown = Declared(self.collection).belonging(changed)
        with self.collection.store.read() as session:
            plan = self._plan(session, run, grown)
        reasons: list[Reason] = []
        for place, (known, members) in enumerate(plan.drafts):
            if run.cancelled.is_set():
                break
            with self.collection.store.read() as session:
                scope = session.notes.scopes_of(members[:1])[members[0]] if known is None else known.scope
            names = plan.names.setdefault(scope, [])
            draft = self.writer.draft(members, known, scope=scope, taken=names, ask=not run.dry_run)
            if draft is not None:
                names.append(draft.name)
                with suppress(StaleNote):  # somebody is at it: it is looked at again the next time
                    reasons.append(self._put(run, draft, len(reasons)))
            run.tell(place + 1, len(plan.drafts))
        for known, why in plan.archive:
            if not run.dry_run:
                self._archive(run, known, why, len(reasons))
            reasons.append(Reason(known.id, "topic", f"{known.mark.name}: {why}"))
        return PhaseReport({"topics_updated": len(reasons)}, tuple(reasons))

    def _put(self, run: PhaseRun, draft: Draft, before: int) -> Reason:
        known = draft.known
        why = f"{draft.name}: {len(draft.members)} notes" + (" belong together" if known is None else "")
        if run.dry_run:
            return Reason("" if known is None else known.id, "topic", why)
        vectors = self.writer.embed(draft)
        with self.collection.store.write() as session:
            id = self.writer.put(session, draft, vectors, run.begin(session, ACTION, draft.name))
            run.mark(session, {"counts": {"topics_updated": before + 1}})
        return Reason(id, "topic", why)

    def _archive(self, run: PhaseRun, known: Known, why: str, before: int) -> None:
        with self.collection.store.write() as session:
            self.writer.archive(session, known, run.begin(session, ACTION, f"{known.mark.name}: {why}"))
            run.mark(session, {"counts": {"topics_updated": before + 1}})

    def _plan(self, session: Session, run: PhaseRun, grown: Mapping[str, set[str]]) -> _Plan:
        every = known_topics(session, statuses=tuple(Status))
        last = session.runs.last(CYCLES)
        # What took the place of what shows on a page, too.
        touched = session.notes.ids_changed(run.since) | (
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
        groups, automatic = self._groups(session, run.cycle, found_by_links, touched)
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
        kept = run.taken_back(session, ACTION, list(keys.values()))
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
            return communities(links, self.collection.settings.topic_size), {known.id: known for known in topics}
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
        fresh = communities([link for link in links if free.issuperset(link[:2])], self.collection.settings.topic_size)
        groups = [frozenset(_active(session, standing[id])) for id in sorted(looked_at)]
        away = {known.id for known in topics if known.note.status is not Status.ACTIVE}
        return [*groups, *fresh], {known.id: known for known in topics if known.id in looked_at | away}

    def _founded(self, session: Session, plan: _Plan, group: frozenset[str]) -> bool:
        """Whether a community is a topic: of the notes that its name really fits there have to be enough."""
        notes = list(notes_of(session, group).values())
        members = core(notes, labels(session, notes, chinese=is_chinese(notes)))
        if len(members) < self.collection.settings.topic_size:
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
        return len(notes) * 2 < self.collection.settings.topic_size


def _look_again(plan: _Plan, known: Known, active: AbstractSet[str], touched: AbstractSet[str]) -> None:
    if active != known.members or not touched.isdisjoint(active):
        plan.drafts.append((known, sorted(active)))


def _active(session: Session, ids: AbstractSet[str]) -> set[str]:
    keys = session.notes.keys_of(list(ids))
    states = session.notes.columns(list(keys.values()), ("status",))
    return {id for id, key in keys.items() if states[key] == (Status.ACTIVE,)}


#: The same web always falls into the same communities.
_SEED = 7
#: A community of more notes than this is looked at by itself once more: it is several subjects grown together.
_LARGE = 60


def communities(links: Iterable[tuple[str, str, float]], size: int) -> list[frozenset[str]]:
    """Groups of at least `size` notes that are linked more among each other than with others, the largest first.

    `links` are (note, note, weight) in either direction; of several between two notes the strongest counts. Found by
    Louvain's method (Blondel et al. 2008), seeded.
    """
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one, other, weight in links:
        if one != other and weight > 0:
            pair = (min(one, other), max(one, other))
            weights[pair] = max(weights[pair], weight)
    web: defaultdict[str, dict[str, float]] = defaultdict(dict)
    # In a fixed order, since the method's result depends on it.
    for (one, other), weight in sorted(weights.items()):
        web[one][other] = web[other][one] = weight
    large = [part for group in _louvain(web) for part in _parted(web, group) if len(part) >= size]
    return sorted(large, key=lambda group: (-len(group), min(group)))


def _parted(web: Web, group: frozenset[str]) -> Sequence[frozenset[str]]:
    if len(group) <= _LARGE:
        return [group]
    within = {one: {other: weight for other, weight in web[one].items() if other in group} for one in sorted(group)}
    inner = _louvain(within)
    return inner if len(inner) > 1 else [group]


def _louvain(web: Web) -> list[frozenset[str]]:
    """The communities of two levels: more only join communities to larger ones.

    By hand, since networkx takes four times as long, which is most of the first maintenance of many notes.
    """
    names, chance = list(web), random.Random(_SEED)
    places = {name: place for place, name in enumerate(names)}
    near = [{places[other]: weight for other, weight in web[name].items()} for name in names]
    first = _moved(near, [0.0] * len(near), chance)
    # A community is a node of the second level, what is within it a loop.
    numbers = {label: number for number, label in enumerate(dict.fromkeys(sorted(first)))}
    of = [numbers[label] for label in first]
    between: list[dict[int, float]] = [{} for _ in numbers]
    loops = [0.0] * len(numbers)
    for one, other, weight in _edges(near):
        if of[one] == of[other]:
            loops[of[one]] += weight
        else:
            for here, there in ((of[one], of[other]), (of[other], of[one])):
                between[here][there] = between[here].get(there, 0.0) + weight
    second = _moved(between, loops, chance)
    found: defaultdict[int, set[str]] = defaultdict(set)
    for name, place in zip(names, of, strict=True):
        found[second[place]].add(name)
    return [frozenset(found[label]) for label in sorted(found)]


def _moved(near: Sequence[Mapping[int, float]], loops: Sequence[float], chance: random.Random) -> list[int]:
    """For each node the community that it ends up in when each moves where modularity gains most, until none does."""
    of = list(range(len(near)))
    degrees = [sum(each.values()) + 2 * loop for each, loop in zip(near, loops, strict=True)]
    weight = sum(degrees) / 2
    twice = 2 * weight**2
    sums, order = list(degrees), list(of)
    chance.shuffle(order)
    moving = bool(weight)
    while moving:
        moving = False
        for node in order:
            old, degree = of[node], degrees[node]
            to: dict[int, float] = {}
            for other, strength in near[node].items():
                label = of[other]
                to[label] = to.get(label, 0.0) + strength
            sums[old] -= degree
            stay = to.get(old, 0.0) / weight - sums[old] * degree / twice
            best, most = old, 0.0
            for label, strength in to.items():
                gain = strength / weight - sums[label] * degree / twice - stay
                if gain > most:
                    best, most = label, gain
            sums[best] += degree
            if best != old:
                of[node], moving = best, True
    return of


def _edges(near: Sequence[Mapping[int, float]]) -> Iterator[tuple[int, int, float]]:
    return ((one, other, weight) for one, each in enumerate(near) for other, weight in each.items() if one < other)

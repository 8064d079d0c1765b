"""The phase that merges notes: compare what changed with its nearest notes, a page at a time."""

from __future__ import annotations

import logging
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.errors import StorageError
from amem.labels import counted, short_id
from amem.maintenance.merge_candidates import Candidates
from amem.maintenance.merge_drafts import Drafting, Opinion, merged
from amem.maintenance.phase import ACTOR, PhaseReport, PhaseRun, Reason, unchanged
from amem.maintenance.sameness import difference, may_merge, may_say_the_same
from amem.note import Link, LinkType, MemoryNote, Status
from amem.storage.jobs import MERGING
from amem.storage.reviews import IN_CONFLICT
from amem.storage.rows import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from amem.collection import Collection
    from amem.storage.store import Session


# Groups out of pairs: complete linkage, so that every two notes of a group say the same.


def groups_of(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Notes (by key) of which every two are a pair, oldest first; the same pairs always make the same groups."""
    near: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    found: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for key in sorted(near):
        if key in taken:
            continue
        group = [key]
        for other in sorted(near[key] - taken):
            if all(other in near[member] for member in group):
                group.append(other)
        if len(group) > 1:
            found.append(tuple(group))
            taken.update(group)
    return found


_log = logging.getLogger("amem")

CAUSE = "merged"


@dataclass(frozen=True, slots=True)
class _Planned:
    """A group that was found, as it was read, and the note it becomes; `remark` says who worded that, or why not."""

    parts: tuple[MemoryNote, ...]
    note: MemoryNote
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Two notes that state the same facts in other words, the earlier first, and what a model says of them."""

    old: MemoryNote
    new: MemoryNote
    opinion: Opinion = field(default_factory=Opinion)


@dataclass(frozen=True, slots=True)
class MergePhase:
    """Merges near-identical notes of one collection; ``amem.maintenance.sameness`` says which those are.

    Two notes that state the same facts in other words are proposed to a person, once. Where the `analyst` is a chat
    model it drafts the texts, and takes back proposals of notes that differ.
    """

    collection: Collection
    analyst: Callable[[], object] = lambda: None

    def run(self, run: PhaseRun) -> PhaseReport:
        """Merge what changed with what says the same; in a dry run only say what would be, and ask no model."""
        drafting = Drafting(self.analyst, self.collection.predicates, self.collection.settings.merge_days)
        try:
            return self._run(run, drafting)
        finally:
            self._count(drafting)

    def _count(self, drafting: Drafting) -> None:
        """Keep what the model cost, for ``amem models --cost``."""
        if not drafting.calls:
            return
        spent = drafting.spent
        try:
            with self.collection.store.write() as session:
                session.costs.add(MERGING, calls=drafting.calls, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
        except StorageError as error:  # the run's own outcome matters more
            _log.warning("what drafts of merged notes cost could not be written down: %s", error)

    def _run(self, run: PhaseRun, drafting: Drafting) -> PhaseReport:
        with self.collection.store.read() as session:
            keys = run.changed(session)
        reasons: list[Reason] = []
        gone: set[str] = set()
        done = proposed = 0
        settings = self.collection.settings
        candidates = Candidates(self.collection.dense, keys, cosine=settings.merge_cosine, days=settings.merge_days)
        for page in chunks(keys):
            if run.cancelled.is_set():
                break
            groups, doubtful = self._plan(run, page, candidates)
            # In a dry run what was taken by a group of an earlier page is still there.
            planned = [each for each in groups if gone.isdisjoint(part.id for part in each.parts)]
            if not run.dry_run:
                planned = [self._drafted(run, each, drafting) for each in planned]
            written = planned if run.dry_run else self._write(run, planned, page[-1], before=len(gone))
            gone.update(part.id for each in written for part in each.parts)
            doubtful = [each for each in doubtful if gone.isdisjoint((each.old.id, each.new.id))]
            if not run.dry_run:
                doubtful = self._weighed(run, doubtful, drafting)
            apart = [each for each in doubtful if each.opinion.apart]
            doubtful = [each for each in doubtful if not each.opinion.apart]
            asked = doubtful if run.dry_run else self._propose(run, doubtful)
            proposed += len(asked)
            reasons += [reason for each in written for reason in _reasons(each)]
            reasons += [_question(each) for each in asked]
            reasons += [_kept_apart(each) for each in apart]
            done += len(page)
            run.tell(done, len(keys))
        return PhaseReport({"consolidated": len(gone), "merges_proposed": proposed}, tuple(reasons))

    def _plan(self, run: PhaseRun, page: Sequence[int], candidates: Candidates) -> tuple[list[_Planned], list[_Doubt]]:
        """The groups and doubtful pairs that a note of the page belongs to."""
        with self.collection.store.read() as session:
            candidates.refresh(session)
        self.collection.dense.refresh()
        near = candidates.pairs(page)
        with self.collection.store.read() as session:
            found = session.notes.bare(sorted({key for pair in near for key in pair}))
            left_alone = run.taken_back(session, "merge", list(found))
            notes = {
                key: note for key, (note, owned) in found.items() if key not in left_alone and may_merge(note, owned)
            }
            links = session.links.around([note.id for note in notes.values()])
            asked = session.reviews.pairs(ACTOR)
        # Notes that one says the opposite of, or replaced, are not the same however alike they sound.
        apart = {frozenset((link.source, link.target)) for link in links if link.type in IN_CONFLICT}
        pairs = [
            (one, other)
            for one, other in sorted(near)
            if one in notes and other in notes and frozenset((notes[one].id, notes[other].id)) not in apart
        ]
        days = self.collection.settings.merge_days
        same = [(one, other) for one, other in pairs if not difference(notes[one], notes[other], days)]
        merging = {key for pair in same for key in pair}
        doubtful = [
            _Doubt(*_in_time(notes[one], notes[other]))
            for one, other in pairs
            if merging.isdisjoint((one, other))
            and frozenset((notes[one].id, notes[other].id)) not in asked
            and may_say_the_same(notes[one], notes[other], days)
        ]
        planned = []
        for group in groups_of(same):
            parts = tuple(notes[key] for key in group)
            note = merged(parts)
            if len(note.content) <= self.collection.settings.max_note_chars:
                planned.append(_Planned(parts, note))
        return planned, doubtful

    @contextmanager
    def _kept(self, run: PhaseRun, drafting: Drafting) -> Iterator[None]:
        """Keep the lease of the run over a slow call of the model in the block."""
        before = drafting.calls
        yield
        if drafting.calls > before:
            with self.collection.store.write() as session:
                run.keep(session)

    def _drafted(self, run: PhaseRun, planned: _Planned, drafting: Drafting) -> _Planned:
        with self._kept(run, drafting):
            note, remark = drafting.merged(planned.parts, planned.note)
        if len(note.content) > self.collection.settings.max_note_chars:
            return replace(planned, remark="text by the rules: its draft is too long")
        return replace(planned, note=note, remark=remark)

    def _weighed(self, run: PhaseRun, doubtful: Sequence[_Doubt], drafting: Drafting) -> list[_Doubt]:
        """The pairs that can be proposed now, one question a note at a time, with what the model says of each."""
        if not doubtful:
            return []
        with self.collection.store.read() as session:
            waiting = {item.note for item in session.reviews.open()}
        weighed: list[_Doubt] = []
        for each in doubtful:
            if each.old.id not in waiting:
                with self._kept(run, drafting):
                    weighed.append(replace(each, opinion=drafting.opinion(each.old, each.new)))
                if not weighed[-1].opinion.apart:
                    waiting.add(each.old.id)
        return weighed

    def _propose(self, run: PhaseRun, doubtful: Sequence[_Doubt]) -> list[_Doubt]:
        """Put into the review queue that the later of two notes stands for both; one question a note at a time."""
        proposed: list[_Doubt] = []
        if not doubtful:
            return proposed
        with self.collection.store.write() as session:
            waiting = {item.note for item in session.reviews.open()}
            for each in doubtful:
                old, new = each.old, each.new
                if old.id in waiting or not unchanged(session, (old, new)):
                    continue
                reason = f"states the same facts as {short_id(new.id)} in other words: {new.content}"
                if each.opinion.text:
                    reason += f" (the model: {each.opinion.reason}; its draft for both: {each.opinion.text})"
                session.reviews.propose(
                    old.id,
                    {"status": (str(old.status), str(Status.SUPERSEDED)), "superseded_by": (None, new.id)},
                    operation=run.begin(session, "propose", CAUSE),
                    base_version=old.version,
                    reason=reason,
                    confidence=0.5,
                    made_by=ACTOR,
                    days=self.collection.settings.review_days,
                )
                waiting.add(old.id)
                proposed.append(each)
        return proposed

    def _write(self, run: PhaseRun, planned: Sequence[_Planned], last: int, *, before: int) -> list[_Planned]:
        """Merge what is still as it was read; the others wait for the next night."""
        texts = {self.collection.vectorizer.text(each.note) for each in planned}
        vectors = self.collection.vectorizer.embed(sorted(texts))[0] if texts else {}
        written: list[_Planned] = []
        with self.collection.store.write() as session:
            self.collection.vectorizer.keep(session, vectors)
            for each in planned:
                if unchanged(session, each.parts):
                    operation = run.begin(session, "merge", CAUSE)
                    _store(session, each, self.collection.vectorizer.hash(each.note), operation)
                    written.append(each)
            counts = {"consolidated": before + sum(len(each.parts) for each in written)}
            run.mark(session, {"done": last, "counts": counts})
        return written


def _in_time(one: MemoryNote, other: MemoryNote) -> tuple[MemoryNote, MemoryNote]:
    first, second = sorted((one, other), key=lambda note: (note.at is not None, note.at))
    return first, second


def _store(session: Session, planned: _Planned, hashed: bytes, operation: int) -> None:
    """The merged note with all that hung on its parts, and the parts behind it."""
    note, ids = planned.note, [part.id for part in planned.parts]
    keys = session.notes.keys_of(ids)
    reliabilities = session.notes.columns(list(keys.values()), ("reliability",))
    owned = session.notes.owned_fields(ids)
    key = session.notes.insert(
        note,
        operation,
        reliability=max(reliability for (reliability,) in reliabilities.values()),
        text_hash=hashed,
        # Edited ones have none of this: they are never merged.
        given={name for fields in owned.values() for name in fields},
    )
    _carry_over(session, note.id, key, keys, operation)
    for id in ids:
        reason = f"merged from {len(ids)} notes that say the same"
        session.links.put(
            Link(note.id, id, LinkType.DERIVED_FROM, reason, 1.0, ACTOR, session.now),
            operation,
        )
        session.notes.change(id, {"status": str(Status.SUPERSEDED), "superseded_by": note.id}, operation)


def _carry_over(session: Session, id: str, key: int, parts: dict[str, int], operation: int) -> None:
    """Links, sources, witnesses and uses of the parts, for the merged note, too."""
    for link in session.links.around(list(parts)):
        source, target = (id if end in parts else end for end in (link.source, link.target))
        if source != target and not session.links.leads_across(source, target):
            session.links.put(replace(link, source=source, target=target), operation)
    sources = {source.id for found in session.notes.sources_of(list(parts)).values() for source in found}
    for source_key, _ in sorted(session.sources.keys_of(sorted(sources)).values()):
        session.sources.attach(key, source_key, operation, gathered=True)
    for who in _witnesses(session, parts):
        session.notes.corroborate(id, who, operation)
    used = session.notes.get_many(list(parts), history=False)
    recalls = sum(note.retrieval_count for note in used.values())
    if recalls:
        growth = float(session.usage.standings(list(parts.values())).growth.max())
        last = max(note.last_accessed for note in used.values() if note.retrieval_count)
        session.usage.carry_over(key, recalls, last, growth=growth)


def _witnesses(session: Session, parts: dict[str, int]) -> list[str]:
    """Who said it besides whoever said it first: speakers, documents, and who had agreed with a part."""
    voices: list[str] = []
    sources = session.notes.sources_of(list(parts))
    for id in parts:
        documents = [source.ref or source.id for source in sources[id] if source.kind == "file"]
        first = session.operations.history(id)[0]
        speaker = session.notes.columns([parts[id]], ("speaker",))[parts[id]][0]
        voices += documents or [speaker or first.actor]
    agreed = session.notes.witnesses(list(parts.values()))
    return sorted({*voices[1:], *agreed} - {voices[0]})


def _reasons(planned: _Planned) -> list[Reason]:
    others = len(planned.parts) - 1
    why = f"says the same as {counted(others, 'other note')}"
    return [Reason(part.id, "merged", _and(why, planned.remark)) for part in planned.parts]


def _question(doubt: _Doubt) -> Reason:
    opinion = doubt.opinion
    remark = f"yes, says the model: {opinion.reason}; with a draft" if opinion.text else opinion.remark
    return Reason(doubt.old.id, "review", _and(f"says the same as {short_id(doubt.new.id)}?", remark))


def _kept_apart(doubt: _Doubt) -> Reason:
    why = f"not proposed as the same as {short_id(doubt.new.id)}: they differ, says the model: {doubt.opinion.reason}"
    return Reason(doubt.old.id, "apart", why)


def _and(why: str, remark: str) -> str:
    return f"{why}; {remark}" if remark else why

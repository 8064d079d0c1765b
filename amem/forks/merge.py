"""Merge a fork into its source: three-way by field, as one operation that one undo takes back.

What only one side changed is taken. What both changed differently is a conflict: the strategy settles it, or it waits
in the review queue. A person's edit holds against a machine's change of the other side, which waits whatever the
strategy is. What was purged on either side does not come back.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from amem.conflict.corrections import Reweigher, delete
from amem.errors import EmbedderMismatch, InvalidInput
from amem.forks.diff import Changed, bare_link, changed_since, common_point, differs, fork_name, link_now, links_since
from amem.note import Enrichment, LinkType, MemoryNote, Scope, Source, Status, is_persons_word
from amem.storage.copies import MERGE, Point, add_point, mark, purged_ids
from amem.storage.note_reading import normal_hash
from amem.storage.notes import STANDING
from amem.storage.rows import VERSIONED, from_plain, plain, read_time
from amem.storage.whole import Whole, put_whole, wholes
from amem.three_way import either, merged_items, merged_lines
from amem.writing.fields import ENRICH_JOB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.collection import Collection
    from amem.forks.diff import Cell
    from amem.storage.store import Session, Store

STRATEGIES = ("review", "ours", "theirs", "newest")
#: Fields that are taken together, where either side changed the first of them.
_TOGETHER = (STANDING, ("content", "facts", "overturned"), ("timestamp", "at"), ("conversation_id", "ordinal"))
_LISTS = frozenset({"keywords", "tags", "entities", "facts", "overturned"})
#: What machines keep for themselves: nothing to ask anybody about.
_OWN = frozenset({"enrichment", "analyst", "layer"})
#: What is not merged yet where both sides are to agree.
_NOTHING = object()
_SOURCES = (
    "SELECT sources.id, sources.kind, sources.conversation, sources.ref, sources.speaker, sources.at, sources.text,"
    " sources.ordinal, sources.operation, note_sources.operation, note_sources.gathered"
    " FROM note_sources JOIN sources ON sources.key = note_sources.source"
    " LEFT JOIN operations ON operations.id = note_sources.operation"
    " WHERE note_sources.note = :key AND operations.undone_by IS NULL ORDER BY sources.key"
)
_WITNESSES = (
    "SELECT notes.id, who FROM corroborations JOIN notes ON notes.key = corroborations.note"
    " JOIN operations ON operations.id = corroborations.operation"
    " WHERE operations.id > :after AND undone_by IS NULL ORDER BY notes.key, who"
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The fields of a note that both sides changed differently, as plain values.

    `settled` is ``ours``, ``theirs`` or ``review``: the proposal is open, and our note is as it was.
    """

    note: str
    settled: str
    ours: Mapping[str, Any]
    theirs: Mapping[str, Any]


@dataclass(slots=True)
class MergeReport:
    """The result of a merge, by ids of notes of the source; `operation` is None where there was nothing to do.

    `joined` says which notes of the fork say the same as ours, `purged` which were left out since they were purged here
    or are made of such; `links` counts those that were made or taken away. Of a `dry_run` nothing was kept.
    """

    operation: int | None = None
    dry_run: bool = False
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    joined: dict[str, str] = field(default_factory=dict)
    purged: list[str] = field(default_factory=list)
    links: int = 0
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The changes to notes and links in words: ``2 notes added, 1 note changed, 1 link``.

        Conflicts are counted only where it did nothing else.
        """
        counts = (
            (len(self.added), "note", " added"),
            (len(self.changed), "note", " changed"),
            (len(self.removed), "note", " removed"),
            (self.links, "link", ""),
        )
        done = [f"{number:,} {noun}{'' if number == 1 else 's'}{what}" for number, noun, what in counts if number]
        if not done and self.conflicts:
            return f"nothing but {len(self.conflicts):,} conflict{'' if len(self.conflicts) == 1 else 's'}"
        return ", ".join(done) or "nothing to merge"

    @property
    def waiting(self) -> int:
        """How many conflicts wait for a person."""
        return sum(each.settled == "review" for each in self.conflicts)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON-ready data."""
        return asdict(self)


class _RolledBack(Exception):
    """Ends the transaction of a merge that is only tried."""


@dataclass(frozen=True, slots=True)
class Merger:
    """Merges forks into one collection."""

    collection: Collection
    reweigher: Reweigher

    def merge(self, fork: Store, strategy: str, actor: str, *, dry_run: bool = False) -> MergeReport:
        """Merge what the fork did since both were last the same.

        Raises InvalidInput for a collection that is no fork of this one, EmbedderMismatch for another embedder.
        """
        if strategy not in STRATEGIES:
            raise InvalidInput(f"there is no strategy {strategy!r}", hint=f"the strategies are {', '.join(STRATEGIES)}")
        store, vectorizer = self.collection.store, self.collection.vectorizer
        vectorizer.check()
        self.reweigher.refresh()
        name = fork_name(fork)
        try:
            with fork.read() as theirs, store.write() as ours:
                point = common_point(ours, theirs, fork_name(store), name)
                self._refuse_other_embedder(ours, theirs, name)
                work = _Merge(self.collection, ours, theirs, point, _Choice(strategy, actor, name))
                report = work.run(self.reweigher)
                moved = Point(mark(ours), mark(theirs), report.operation)
                if dry_run:
                    raise _RolledBack
        except _RolledBack:
            report.dry_run, report.operation = True, None
            return report
        if report.operation is not None:
            with fork.write() as theirs:
                add_point(theirs, moved)
            vectorizer.embed_missing([*report.added, *report.changed])
        return report

    def _refuse_other_embedder(self, ours: Session, theirs: Session, name: str) -> None:
        here, there = ours.vectors.space(), theirs.vectors.space()
        if here is None or there is None or (here.model, here.recipe) == (there.model, there.recipe):
            return
        raise EmbedderMismatch(
            f"{name} was embedded with {there.model} (recipe {there.recipe}), this collection with {here.model}"
            f" (recipe {here.recipe})",
            hint=f"amem -c {name} reindex embeds it as this one is",
        )


@dataclass(frozen=True, slots=True)
class _Choice:
    strategy: str
    actor: str
    fork: str


@dataclass(slots=True)
class _Outcome:
    """The changes to our note: fields to set, by whose they are, and values of fields to ask about."""

    values: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    proposed: dict[str, Any] = field(default_factory=dict)


class _Merge:
    """One merge under way, in a transaction of each side."""

    def __init__(self, collection: Collection, ours: Session, theirs: Session, point: Point, choice: _Choice) -> None:
        self._vectorizer, self._days = collection.vectorizer, collection.settings.review_days
        self._ours, self._theirs, self._point, self._choice = ours, theirs, point, choice
        self._here, self._there = changed_since(ours, point.source), changed_since(theirs, point.fork)
        #: Notes that were purged here, later also what the fork made of them.
        self._gone = purged_ids(ours)
        self._same: dict[str, str] = {}
        self._outcomes: dict[str, _Outcome] = {}
        self._report = MergeReport()

    @cached_property
    def _operation(self) -> int:
        operation = self._ours.begin(MERGE, self._choice.actor, self._choice.fork)
        self._report.operation = operation
        return operation

    def run(self, reweigher: Reweigher) -> MergeReport:
        self._leave_out_purged()
        fresh = [each for each in self._there.values() if each.added and each.note.status is not Status.DELETED]
        self._join_same(fresh)
        self._add([each for each in fresh if each.note.id not in self._same])
        removed: list[str] = []
        present = self._ours.notes.keys_of([self._here_id(id) for id in self._there])
        for their_id, each in self._there.items():
            id = self._here_id(their_id)
            if id in present and id not in self._report.added and self._compare(id, each):
                removed.append(id)
        removed += [id for id in self._purged_there() if self._gives_up(self._mine(id), None)]
        for id, outcome in self._outcomes.items():
            self._set(id, outcome)
        if removed:
            delete(self._ours, removed, self._operation, reweigher)
            self._report.removed += removed
        self._link()
        self._mark()
        self._propose()
        if self._report.conflicts:
            _ = self._operation  # what was settled is not asked again, also where that changed nothing
        return self._report

    # -- what comes along as a whole -----------------------------------------------------------------------------------

    def _leave_out_purged(self) -> None:
        """Forget notes of the fork that were purged here, and what it made of such notes since."""
        held = self._theirs.notes.keys_of(sorted(self._gone))
        out, fresh = set(self._gone), list(held)
        while fresh:
            made = set()
            for link in self._theirs.links.around(fresh):
                if link.type is LinkType.DERIVED_FROM and link.target in out:
                    made.add(link.source)
                elif link.type is LinkType.PART_OF and link.source in out:
                    made.add(link.target)
            fresh = [id for id in sorted(made - out) if id in self._there and self._there[id].added]
            out |= set(fresh)
        self._report.purged += [id for id in self._there if id in out]
        self._gone = out
        self._there = {id: each for id, each in self._there.items() if id not in out}

    def _purged_there(self) -> list[str]:
        """Our notes that the fork purged: a purge cannot be undone, so here they are deleted."""
        ids = sorted(purged_ids(self._theirs, self._point.fork.counter))
        notes = self._ours.notes.get_many(ids, history=False, usage=False)
        return [id for id in ids if id in notes]

    def _join_same(self, fresh: Sequence[Changed]) -> None:
        """Find notes that both sides added in the same words, for the same scope."""

        def said(each: Changed) -> tuple[bytes, Scope]:
            return normal_hash(each.note.content), Scope.of(each.note.metadata)

        known = {
            said(each): id
            for id, each in reversed(self._here.items())
            if each.added and each.note.status is not Status.DELETED
        }
        for each in fresh:
            if each.note.id not in self._here and (same := known.get(said(each))) is not None:
                self._same[each.note.id] = self._report.joined[each.note.id] = same

    def _add(self, fresh: Sequence[Changed]) -> None:
        held = self._ours.notes.keys_of([each.note.id for each in fresh])
        new = [each for each in fresh if each.note.id not in held]
        told = wholes(self._theirs, [each.note.id for each in new])
        known: dict[int, int] = {}
        self._bring_vectors([self._vectorizer.hash(each.note) for each in new])
        for each in new:
            key = self._put(each, told[each.note.id], known)
            self._bring_sources(each.key, key)
            if each.note.enrichment is not Enrichment.DONE:
                self._ours.jobs.put(ENRICH_JOB, each.note.id, self._operation)
        again = [
            each for each in fresh if each.note.id in held and self._mine(each.note.id).note.status is Status.DELETED
        ]
        for each in again:  # merged before, which was undone
            self._take(each.note.id, self._translated_all(each.now), each.owners)
        self._report.added += [each.note.id for each in (*new, *again)]

    def _put(self, each: Changed, whole: Whole, known: dict[int, int]) -> int:
        note = replace(each.note)
        for name in ("superseded_by", "overturned"):
            setattr(note, name, from_plain(name, self._translated(name, each.now[name])))
        if note.superseded_by in self._gone:
            note.status, note.superseded_by = Status.ACTIVE, None
        versions = [
            replace(version, changes={name: self._pair(name, pair) for name, pair in version.changes.items()})
            for version in self._theirs.operations.history(note.id)
        ]
        whole = replace(whole, flags=tuple(flag for flag in whole.flags if flag[0] not in self._gone))
        hashed = self._vectorizer.hash(note)
        return put_whole(self._ours, note, whole, versions, self._operation, text_hash=hashed, known=known)

    def _pair(self, name: str, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        return self._translated(name, pair[0]), self._translated(name, pair[1])

    def _bring_sources(self, there: int, here: int, after: int = -1) -> None:
        """Attach what a note of the fork came from since that operation, but for what was purged here."""
        rows = self._theirs.rows(_SOURCES, key=there)
        held = self._ours.sources.keys_of([row[0] for row in rows])
        for id, kind, conversation, ref, speaker, at, text, ordinal, made, attached, gathered in rows:
            if (attached is not None and attached <= after) or (id not in held and made <= self._point.fork.operation):
                continue
            source = Source(id, kind, conversation, ref, speaker, read_time(at), text, ordinal)
            key = self._ours.sources.put(source, self._operation)
            self._ours.sources.attach(here, key, self._operation, gathered=bool(gathered))

    def _bring_vectors(self, hashes: Sequence[bytes]) -> None:
        space = self._theirs.vectors.space()
        if space is not None and hashes:
            self._vectorizer.keep(self._ours, self._theirs.vectors.known(space, hashes))

    # -- field by field ------------------------------------------------------------------------------------------------

    def _compare(self, id: str, there: Changed) -> bool:
        """Decide each field of a note that both have; True for one that goes."""
        here, joined = self._mine(id), there.note.id in self._same
        now, then = here.now, there.now
        was_here, was_there = now | here.base, then | there.base
        if there.added:  # on both sides
            was_here = was_there = dict.fromkeys(VERSIONED, _NOTHING)
        elif then["status"] == Status.DELETED:
            gone = was_there["status"] != Status.DELETED and now["status"] != Status.DELETED
            return gone and self._gives_up(here, there)
        elif now["status"] == Status.DELETED and was_here["status"] != Status.DELETED:
            self._want_back(here, there)
            return False
        view = _View(here, there, now, then, was_here, was_there, joined)
        for names in view.groups():
            self._decide(id, names, view)
        return False

    def _decide(self, id: str, names: tuple[str, ...], view: _View) -> None:
        owners = view.there.owners
        ours = {name: view.now[name] for name in names}
        theirs = {name: self._translated(name, view.then[name]) for name in names}
        if ours == theirs or not view.there_changed(names) or self._leads_nowhere(theirs.get("superseded_by")):
            return
        alone = not view.here_changed(names)
        mine, its = _is_persons(view.here, names), _is_persons(view.there, names)
        merged = None if alone else view.merged(names)
        if mine and not its:
            self._wait(id, ours, theirs if merged is None else merged)
        elif alone:
            self._take(id, theirs, owners)
        elif its and not mine:
            self._take(id, theirs, owners)
            self._wait(id, theirs, ours, held="theirs")
        elif merged is not None:
            self._take(id, self._translated_all(merged), owners)
        elif view.joined:
            # Said at two times by two sides: it is ours, unless the fork has put it behind another since.
            if theirs.get("status") == Status.SUPERSEDED:
                self._take(id, theirs, owners)
        elif not _OWN.issuperset(names):
            chosen = self._chosen(_latest(view.here, ours), _latest(view.there, theirs))
            self._carry_out(id, chosen, ours, theirs, owners)

    def _carry_out(
        self, id: str, chosen: str, ours: dict[str, Any], theirs: dict[str, Any], owners: Mapping[str, str]
    ) -> None:
        if chosen == "review":
            return self._wait(id, ours, theirs)
        if chosen == "theirs":
            self._take(id, theirs, owners)
        self._report.conflicts.append(Conflict(id, chosen, ours, theirs))

    def _chosen(self, ours: str, theirs: str) -> str:
        if self._choice.strategy != "newest":
            return self._choice.strategy
        return "theirs" if theirs > ours else "ours"

    def _gives_up(self, here: Changed, there: Changed | None) -> bool:
        """Whether a note that the fork removed (None: purged) goes here as well. One that we changed is a conflict."""
        fields = [each.field for each in here.fields()]
        theirs = {"status": str(Status.DELETED)}
        ours = {"status": here.now["status"]}
        went, by = ("", "user") if there is None else there.last["status"]
        edited = "edited" in here.owners.values() and not is_persons_word(by)
        if not fields and not here.freed and not edited:
            return True
        chosen = "review" if edited else self._chosen(_latest(here, dict.fromkeys(fields)), went)
        if chosen == "review":
            self._wait(here.note.id, ours, theirs)
        else:
            self._report.conflicts.append(Conflict(here.note.id, chosen, ours, theirs))
        return chosen == "theirs"

    def _want_back(self, here: Changed, there: Changed) -> None:
        """Decide of a note that was removed here and changed in the fork."""
        theirs = {each.field: self._translated(each.field, each.after) for each in there.fields()}
        if not theirs or self._leads_nowhere(theirs.get("superseded_by")):
            return
        theirs["status"] = there.now["status"]
        ours = {name: here.now[name] for name in theirs}
        went, by = here.last["status"]
        held = is_persons_word(by) and not _is_persons(there, list(theirs))
        chosen = "review" if held else self._chosen(went, _latest(there, theirs))
        self._carry_out(here.note.id, chosen, ours, theirs, there.owners)

    def _take(self, id: str, values: Mapping[str, Any], owners: Mapping[str, str]) -> None:
        outcome = self._outcomes.setdefault(id, _Outcome())
        for name, value in values.items():
            outcome.values[owners.get(name, "")][name] = value

    def _wait(self, id: str, ours: dict[str, Any], other: Mapping[str, Any], held: str = "ours") -> None:
        """Have the other value wait in the review queue, beside what the note says when all is done."""
        outcome = self._outcomes.setdefault(id, _Outcome())
        outcome.proposed |= {name: other[name] for name in ours if ours[name] != other[name]}
        mine, its = (ours, dict(other)) if held == "ours" else (dict(other), ours)
        self._report.conflicts.append(Conflict(id, "review", mine, its))

    def _set(self, id: str, outcome: _Outcome) -> None:
        changed: tuple[str, ...] = ()
        for owner, values in sorted(outcome.values.items()):
            how = {"edited": owner == "edited", "given": owner == "given"}
            changed += self._ours.notes.change(id, values, self._operation, **how)
        if changed and id not in self._report.added:
            self._report.changed.append(id)
        if self._vectorizer.reads(changed):
            hashed = self._vectorizer.hash(self._as_it_is(id)[0])
            self._bring_vectors([hashed])
            self._ours.notes.address(id, hashed)

    def _propose(self) -> None:
        for id, outcome in self._outcomes.items():
            if not outcome.proposed:
                continue
            note, now = self._as_it_is(id)
            self._ours.reviews.propose(
                id,
                {name: (now[name], other) for name, other in outcome.proposed.items()},
                operation=self._operation,
                base_version=note.version,
                reason=f"both sides changed it: the fork {self._choice.fork} brought this",
                confidence=1.0,
                made_by=f"fork:{self._choice.fork}",
                days=self._days,
            )

    # -- links, and what belongs to a note beside its fields -----------------------------------------------------------

    def _link(self) -> None:
        was_there, _ = links_since(self._theirs, self._point.fork)
        was_here, touched = links_since(self._ours, self._point.source)
        for cell, before in sorted(was_there.items()):
            now = link_now(self._theirs, cell)
            ends = [self._here_id(end) for end in cell[:2]]
            if now == before or ends[0] == ends[1] or not self._can_link(cell):
                continue
            there = (ends[0], ends[1], cell[2])
            held = link_now(self._ours, there)
            worked_on = there in touched and held != was_here.get(there)
            taken_away = there in touched and held is None
            if held == now or worked_on:
                continue
            if cell[2] is LinkType.SUPERSEDES:
                # It says what the standing of its note says.
                if (now is not None) != self._stands_behind(ends[1], ends[0]):
                    continue
            elif taken_away and now is not None and not is_persons_word(now["made_by"]):
                continue
            if held is not None:
                self._ours.links.remove(*there, self._operation)
            if now is not None:
                self._ours.links.restore(*there, bare_link(now), self._operation)
            self._report.links += 1

    def _can_link(self, cell: Cell) -> bool:
        """Whether both ends are here, or in neither collection."""
        ends = cell[:2]
        if not self._gone.isdisjoint(ends):
            return False
        here = self._ours.notes.keys_of([self._here_id(end) for end in ends])
        there = self._theirs.notes.keys_of(ends)
        return all(self._here_id(end) in here or end not in there for end in ends)

    def _stands_behind(self, old: str, new: str) -> bool:
        _, now = self._as_it_is(old)
        return new == now["superseded_by"] or new in {each["by"] for each in now["overturned"]}

    def _mark(self) -> None:
        """Bring along who said the same, doubts, and what known notes were found to come from."""
        since = self._point.fork
        here = self._ours.notes.keys_of([self._here_id(id) for id in self._there])
        for id, who in self._theirs.rows(_WITNESSES, after=since.operation):
            if (mine := self._here_id(id)) in here and id not in self._report.added:
                self._ours.notes.corroborate(mine, who, self._operation)
        for flag in self._theirs.flags.open():
            mine = self._here_id(flag.note)
            if flag.id > since.flag and mine in here and not self._gone.intersection((flag.note, flag.because)):
                self._ours.flags.put(mine, self._here_id(flag.because), flag.reason, self._operation)
        for id, each in self._there.items():
            if (mine := self._here_id(id)) in here and mine not in self._report.added:
                self._bring_sources(each.key, here[mine], -1 if id in self._same else since.operation)

    # -- what is read --------------------------------------------------------------------------------------------------

    def _here_id(self, id: str) -> str:
        return self._same.get(id, id)

    def _mine(self, id: str) -> Changed:
        """Our note, whether or not it was changed."""
        if id not in self._here:
            ((key, (note, owners)),) = self._ours.notes.bare(list(self._ours.notes.keys_of([id]).values())).items()
            self._here[id] = Changed(note, key, False, owners)
        return self._here[id]

    def _as_it_is(self, id: str) -> tuple[MemoryNote, dict[str, Any]]:
        """Our note as this merge has left it, and its fields as plain values."""
        ((note, _),) = self._ours.notes.bare(list(self._ours.notes.keys_of([id]).values())).values()
        return note, {name: plain(name, getattr(note, name)) for name in VERSIONED}

    def _leads_nowhere(self, successor: str | None) -> bool:
        """Whether what took a note's place there is not here."""
        return successor is not None and not self._ours.notes.keys_of([successor])

    def _translated_all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._translated(name, value) for name, value in values.items()}

    def _translated(self, name: str, value: Any) -> Any:
        """A value of the fork with our ids, and without the words of notes that were purged here."""
        if name == "superseded_by" and value is not None:
            return self._here_id(value)
        if name == "overturned" and value:
            return [
                {**each, "then": "", "reason": ""}
                if each["by"] in self._gone
                else {**each, "by": self._here_id(each["by"])}
                for each in value
            ]
        return value


@dataclass(frozen=True, slots=True)
class _View:
    """A note as both sides have it (``now``), and what each had at the common point (``was``)."""

    here: Changed
    there: Changed
    now: dict[str, Any]
    then: dict[str, Any]
    was_here: dict[str, Any]
    was_there: dict[str, Any]
    joined: bool

    def here_changed(self, names: Sequence[str]) -> bool:
        """Whether our side changed any of these fields, or undid a supersession."""
        freed = names[0] == "status" and self.here.freed
        return freed or any(differs(name, self.was_here[name], self.now[name]) for name in names)

    def there_changed(self, names: Sequence[str]) -> bool:
        """Whether the fork did."""
        freed = names[0] == "status" and self.there.freed
        return freed or any(differs(name, self.was_there[name], self.then[name]) for name in names)

    def groups(self) -> Iterator[tuple[str, ...]]:
        """Every field once, those in one tuple that are decided together."""
        left = set(VERSIONED)
        for names in _TOGETHER:
            either_moved = self.here_changed(names[:1]) or self.there_changed(names[:1])
            both_moved = self.here_changed(names[:1]) and self.there_changed(names[:1])
            if both_moved or (either_moved and names[0] != "content"):
                left -= set(names)
                yield names
        yield from ((name,) for name in VERSIONED if name in left)

    def merged(self, names: Sequence[str]) -> dict[str, Any] | None:
        """The merge of both sides' changes to these fields; None where they contradict each other."""
        if names[0] == "content":
            if self.was_here["content"] != self.was_there["content"] or not isinstance(self.was_here["content"], str):
                return None
            text = merged_lines(self.was_there["content"], self.then["content"], self.now["content"])
            if text is None or not text.strip():
                return None
            overturned = [each for each in self._items("overturned") if each["text"] in text]
            return {"content": text, "facts": self._items("facts"), "overturned": overturned}
        (name, *others) = names
        if others or name not in _LISTS | {"metadata"}:
            return None
        return {name: self._items(name)} if name in _LISTS else self._metadata()

    def _items(self, name: str) -> list[Any]:
        base, one, other = (
            [json.dumps(each, sort_keys=True) for each in (() if side[name] is _NOTHING else side[name])]
            for side in (self.was_there, self.then, self.now)
        )
        return [json.loads(each) for each in merged_items(base, one, other)]

    def _metadata(self) -> dict[str, Any] | None:
        base, one, other = (
            {} if side["metadata"] is _NOTHING else side["metadata"] for side in (self.was_there, self.then, self.now)
        )
        found = {}
        for key in {**other, **one}:
            sides = [side.get(key, _NOTHING) for side in (base, one, other)]
            held = either(*sides)
            if held is None and None not in sides:
                return None
            if held is not _NOTHING:
                found[key] = held
        return {"metadata": found}


def _latest(side: Changed, names: Mapping[str, Any]) -> str:
    return max((side.last[name][0] for name in names if name in side.last), default="")


def _is_persons(side: Changed, names: Sequence[str]) -> bool:
    return any(side.owners.get(name) == "edited" for name in names)

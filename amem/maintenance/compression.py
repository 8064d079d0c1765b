"""Compressing: what is old and about to fade becomes one short note that says where it came from."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from amem.analysis import PageNote
from amem.analysts.rules.kind_and_context import gist_of
from amem.clock import zone
from amem.errors import AmemError, Cancelled, StorageError
from amem.language import written_in_cjk
from amem.language.word_reading import read
from amem.maintenance.forgetting_phases import lasting
from amem.maintenance.phase import ACTOR, PhaseReport, PhaseRun, Reason, unchanged
from amem.note import Enrichment, Kind, Link, LinkType, MemoryNote, Scope, Status
from amem.protocols import PageWriter
from amem.rendering import holding_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import tzinfo

    from amem.collection import Collection
    from amem.protocols import Analyst
    from amem.storage.store import Session


# The short note that stands for several: a line each, in their own words, with the id of the note it is from.

#: What a digest carries in its metadata: how many notes it stands for.
MARK = "digest"
TAG = "digest"
_LONGEST_LINE = 120
_MOST_TERMS = 8
_SHOWN_ID = 8


def gists(parts: Sequence[MemoryNote]) -> list[tuple[str, list[str]]]:
    """The clause that carries each note, with its id."""
    said = [(note, holding_text(note.content, note.overturned) or note.content) for note in parts]
    return [(gist_of(read(text), note.kind, note.keywords, _LONGEST_LINE) or text, [note.id]) for note, text in said]


def digest_of(
    parts: Sequence[MemoryNote], lines: Sequence[tuple[str, Sequence[str]]], zone: tzinfo, by: str
) -> MemoryNote:
    """The note that stands for `parts` (oldest first); `lines` are what it says, each with the ids it is from."""
    times = [note.at for note in parts if note.at is not None]
    conversations = {note.conversation_id for note in parts}
    return MemoryNote(
        content="\n".join([_heading(parts, zone), *(_line(text, ids) for text, ids in lines)]),
        keywords=_common(note.keywords for note in parts),
        tags=[*_common(note.tags for note in parts if TAG not in note.tags), TAG],
        entities=_common(note.entities for note in parts),
        timestamp=parts[-1].timestamp,
        at=max(times, default=None),
        kind=Kind.EPISODE,
        importance=max(note.importance for note in parts),
        conversation_id=conversations.pop() if len(conversations) == 1 else None,
        metadata={MARK: len(parts), **Scope.of(parts[0].metadata).ids},
        enrichment=Enrichment.DONE,
        analyst=by,
    )


def _heading(parts: Sequence[MemoryNote], zone: tzinfo) -> str:
    days = [f"{note.at.astimezone(zone):%Y-%m-%d}" for note in parts if note.at is not None]
    first, last = min(days, default=""), max(days, default="")
    if sum(written_in_cjk(note.content) for note in parts) * 2 > len(parts):
        span = first if first == last else f"{first} 至 {last}"
        return f"{span} 的 {len(parts)} 条旧笔记："
    span = first if first == last else f"{first} to {last}"
    return f"{len(parts)} old notes of {span}:"


def _line(text: str, ids: Sequence[str]) -> str:
    cited = ", ".join(id[:_SHOWN_ID] for id in ids)
    return f"- {' '.join(text.split())} [{cited}]"


def _common(lists: Iterable[Sequence[str]]) -> list[str]:
    """The values that most of them have, as they were first written."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for values in lists:
        for value in values:
            spelled.setdefault(value.casefold(), value)
            counts[value.casefold()] += 1
    return [spelled[each] for each, _ in counts.most_common(_MOST_TERMS)]


# Which fading notes are summed up together: those of one conversation, else those that name the same.

#: Fewer notes than these are not worth a note; more would not make a short one.
LEAST, MOST = 3, 12


def groups_of(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """Groups of LEAST to MOST notes of one scope, each in one at most and oldest first; the rest is left as it is."""
    scopes: defaultdict[Scope, list[MemoryNote]] = defaultdict(list)
    for note in notes:
        scopes[Scope.of(note.metadata)].append(note)
    return [group for some in scopes.values() for group in _of_one_scope(some)]


def _of_one_scope(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    conversations: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in notes:
        if note.conversation_id is not None:
            conversations[note.conversation_id].append(note)
    groups = [group for each in conversations.values() for group in _cut(each)]
    taken = {note.id for group in groups for note in group}
    return groups + _by_entities([note for note in notes if note.id not in taken])


def _by_entities(notes: Iterable[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """By the name that most of them share, then by the next, until no name is shared by enough."""
    naming: defaultdict[str, dict[str, MemoryNote]] = defaultdict(dict)
    for note in notes:
        for entity in note.entities:
            naming[entity.casefold()][note.id] = note
    groups: list[tuple[MemoryNote, ...]] = []
    while naming:
        name = max(naming, key=lambda each: (len(naming[each]), each))
        found = naming.pop(name)
        if len(found) < LEAST:
            break
        groups += _cut(list(found.values()))
        for others in naming.values():
            for id in found:
                others.pop(id, None)
    return groups


def _cut(notes: list[MemoryNote]) -> list[tuple[MemoryNote, ...]]:
    """Neighbours in time together, in as few groups of about the same size as it takes."""
    if len(notes) < LEAST:
        return []
    ordered = sorted(notes, key=lambda note: (note.at is not None, note.at))
    parts = -(-len(ordered) // MOST)
    bounds = [round(place * len(ordered) / parts) for place in range(parts + 1)]
    return [tuple(ordered[start:end]) for start, end in pairwise(bounds)]


# What a model says of notes that are summed up: one call, and only statements that cite notes it was shown.

_TITLE = "What happened"


def summed_up(writer: PageWriter, parts: Sequence[MemoryNote]) -> list[tuple[str, list[str]]]:
    """Statements with the ids of the notes that each rests on. Raises what the writer raises."""
    ids = {f"n{number}": note.id for number, note in enumerate(parts, 1)}
    shown = [PageNote(handle, note.content, note.at) for handle, note in zip(ids, parts, strict=True)]
    draft = writer.page(_TITLE, "", shown)
    cited = [(text, [ids[handle] for handle in handles if handle in ids]) for text, handles in draft.statements]
    return [(text, found) for text, found in cited if found]


# The weekly phase that sums up: groups of weak old notes make way for a short one, and stay in the archive.

_log = logging.getLogger("amem")

#: What may be summed up. What someone is, wants, has decided or may not eat, and how things are done, stays as it is.
COMPRESSED = (Kind.EPISODE, Kind.CHITCHAT, Kind.QUESTION, Kind.ERROR)
#: Days that a note is left as it is: half the time after which it fades alone.
AFTER_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class _Planned:
    parts: tuple[MemoryNote, ...]
    note: MemoryNote
    by: str


@dataclass(frozen=True, slots=True)
class CompressPhase:
    """Sums up notes as weak as those that fade, in words of the `analyst` where it is a model, else in their own."""

    collection: Collection
    analyst: Callable[[], Analyst]

    def run(self, run: PhaseRun) -> PhaseReport:
        """Sum up what can be; in a dry run, say what that is. What was summed up is no candidate any more, so a run
        that was killed goes on by beginning anew."""
        with self.collection.store.read() as session:
            groups = groups_of(self._candidates(session, run))
        summed: list[_Planned] = []
        for number, parts in enumerate(groups, 1):
            if run.cancelled.is_set():
                break
            planned = self._plan(parts, by_model=not run.dry_run)
            if run.dry_run or self._write(run, planned, before=sum(len(each.parts) for each in summed)):
                summed.append(planned)
            run.tell(number, len(groups))
        reasons = [reason for each in summed for reason in _reasons(each)]
        return PhaseReport({"compressed": len(reasons)}, tuple(reasons))

    def _candidates(self, session: Session, run: PhaseRun) -> list[MemoryNote]:
        standings, at = session.usage.standings(), session.now
        weak = standings.strength(at) < self.collection.settings.fade_below
        wanted = weak & standings.active & ~standings.pinned & standings.of_kind(*COMPRESSED)
        keys = standings.keys[wanted & (standings.idle(at) > AFTER_DAYS)].astype(np.int64).tolist()
        held = lasting(session, keys, at, self.collection.settings, self.collection.predicates())
        left_alone = run.taken_back(session, "compress", keys) | held.keys()
        found = session.notes.bare([key for key in keys if key not in left_alone])
        return [note for note, owned in found.values() if owned.get("status") != "edited" and MARK not in note.metadata]

    def _plan(self, parts: tuple[MemoryNote, ...], *, by_model: bool) -> _Planned:
        writer = self.analyst() if by_model else None
        by, lines = ACTOR, gists(parts)
        if isinstance(writer, PageWriter):
            try:
                lines = summed_up(writer, parts) or lines
                by = writer.name
            except (Cancelled, StorageError):
                raise
            except AmemError as error:  # their own words do as well
                _log.warning("%d old notes are summed up by rules: %s", len(parts), error)
        return _Planned(parts, digest_of(parts, lines, zone(self.collection.settings.timezone), by), by)

    def _write(self, run: PhaseRun, planned: _Planned, *, before: int) -> bool:
        """False when one of them was changed, or recalled, meanwhile."""
        note, ids = planned.note, [part.id for part in planned.parts]
        vectors, _ = self.collection.vectorizer.embed([self.collection.vectorizer.text(note)])
        with self.collection.store.write() as session:
            if not unchanged(session, planned.parts):
                return False
            self.collection.vectorizer.keep(session, vectors)
            page = run.begin(session, "compress", f"{len(ids)} old notes in one")
            operation = page if planned.by == ACTOR else session.begin("compress", planned.by, "sum up", parent=page)
            keys = session.notes.keys_of(ids)
            reliable = [each for (each,) in session.notes.columns(list(keys.values()), ("reliability",)).values()]
            session.notes.insert(
                note, operation, reliability=min(reliable), text_hash=self.collection.vectorizer.hash(note), given=()
            )
            for id in ids:
                link = Link(note.id, id, LinkType.DERIVED_FROM, "sums it up", 1.0, ACTOR, session.now)
                session.links.put(link, operation)
                session.notes.change(id, {"status": str(Status.ARCHIVED)}, page)
            run.mark(session, {"counts": {"compressed": before + len(ids)}})
        return True


def _reasons(planned: _Planned) -> list[Reason]:
    why = f"weak, old, and one of {len(planned.parts)} that belong together"
    return [Reason(part.id, "compressed", why) for part in planned.parts]

"""Which existing notes a new one is held against, and what the ways of writing a note have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING

from amem.analysis import Analysis, Draft, Neighbour
from amem.clock import local_time, parse_time
from amem.conflict.candidates import Candidate
from amem.language import hashtags
from amem.note import Kind, Scope, Status
from amem.rendering import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from datetime import datetime, tzinfo

    from amem.note import Fact, MemoryNote
    from amem.storage.store import Session
    from amem.writing.fields import Canon


# What the ways of writing a note have in common.

#: Fields that an analyst's answer fills in.
ANSWERED = ("keywords", "context", "tags", "kind", "importance", "entities", "facts")
#: All that analysis fills in where nobody has: the answer, and since when it is so, by the same rules whoever answers.
ANALYSED = (*ANSWERED, "valid_from")
#: Under this name a note's metadata says which fields the rules filled in although a model was asked, and why.
BY_RULES = "by_rules"
#: What a question or small talk says of a time is not since when something is so.
_NO_STATEMENT = (Kind.QUESTION, Kind.CHITCHAT)
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


def draft_of(note: MemoryNote, zone: tzinfo, previous: tuple[str, ...] = ()) -> Draft:
    """A note as an analyst is shown it, at the hour its own clock showed: "today" must mean that day."""
    return Draft(note.content, local_time(note.timestamp, zone), note.speaker, previous)


def fill_in(
    note: MemoryNote, analysis: Analysis, owned: Container[str], zone: tzinfo, canon: Canon | None = None
) -> None:
    """Take over what analysis found, for the fields nobody has filled in; `zone` is that of times given without one.

    Facts are brought into the form that `canon` keeps them in, whoever found them; without it the note states none of
    its own (it sums up others that do). What a model says is so that rules read otherwise ("Ana left Google") is as
    the rules read it: they know no longer from still, and March from May.

    `valid_from` is read from the text here, not asked for: small models get dates wrong, and a note whose model was
    down deserves its date, too. See ``amem.language.validity`` for what counts as one; else it is the time that all
    of the note's facts share.
    """
    for name in ANSWERED:
        if name != "facts" and name not in owned:
            value = getattr(analysis, name)
            setattr(note, name, list(value) if isinstance(value, tuple) else value)
    if "tags" not in owned:
        note.tags = with_hashtags(note, note.tags)
    if "facts" not in owned:
        note.facts = [] if canon is None else _stated(note, analysis, zone, canon)
    if "valid_from" not in owned:
        note.valid_from = _holds_from(note, zone)


def with_hashtags(note: MemoryNote, tags: Iterable[str]) -> list[str]:
    """The tags that stand in the note's text as ``#tag``, then these; in code a # is none."""
    written = [] if note.kind is Kind.CODE else hashtags(note.content)
    known = {tag.casefold() for tag in written}
    return written + [tag for tag in tags if tag.casefold() not in known]


def _stated(note: MemoryNote, analysis: Analysis, zone: tzinfo, canon: Canon) -> list[Fact]:
    if not analysis.prompt or note.kind is Kind.CODE:
        found = canon.found(analysis.facts, note)
    else:
        # Here, so that opening a collection to read it does not load the rules.
        from amem.language.statements import facts_in

        found = canon.found(analysis.facts, note, facts_in(draft_of(note, zone), canon.predicates()))
    said = local_time(note.timestamp, zone)
    return [
        replace(fact, valid_from=_as_a_day(fact.valid_from, said, zone), valid_to=_as_a_day(fact.valid_to, said, zone))
        for fact in found
    ]


def _as_a_day(time: datetime | None, said: datetime, zone: tzinfo) -> datetime | None:
    """A day that a note names begins in `zone`, in which it is shown: "since 2023" must not read 2022-12-31 there.

    Not where it would then begin only after it was said, and no time of day is touched.
    """
    if time is None or time.tzinfo is None or time != time.replace(hour=0, minute=0, second=0, microsecond=0):
        return time
    day = time.replace(tzinfo=zone)
    return time if time <= said < day else day


def _holds_from(note: MemoryNote, zone: tzinfo) -> datetime | None:
    from amem.language.times import holds_from

    if note.kind in _NO_STATEMENT:
        return None
    said = local_time(note.timestamp, zone)
    found = _as_a_day(holds_from(note.content, said), said, zone)
    if found is None:
        shared = {fact.valid_from for fact in note.facts}
        found = shared.pop() if len(shared) == 1 else None
    return None if found is None else parse_time(found, zone)


def analysis_of(note: MemoryNote) -> Analysis:
    """A note's own fields as evolution is shown them."""
    return Analysis(
        keywords=tuple(note.keywords),
        context=note.context,
        tags=tuple(note.tags),
        kind=note.kind,
        importance=note.importance,
        entities=tuple(note.entities),
        facts=tuple(note.facts),
    )


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

    neighbours: list[Neighbour]
    notes: dict[str, MemoryNote]
    owned: dict[str, dict[str, str]]

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
    shown, scope = Shown([], {}, {}), Scope.of(of.metadata)
    for each in candidates:
        note, owned = found.get(each.key, (None, {}))
        if note is None or note.id == of.id or note.status is not Status.ACTIVE:
            continue
        if Scope.of(note.metadata) != scope:
            continue
        if "episode" in note.metadata or note.kind is Kind.TOPIC:
            continue
        handle = f"n{len(shown.neighbours) + 1}"
        shown.notes[handle] = note
        shown.owned[note.id] = owned
        shown.neighbours.append(_seen(handle, note, each.cosine, of))
    return shown


def _seen(handle: str, note: MemoryNote, cosine: float, of: MemoryNote) -> Neighbour:
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
        same_conversation=of.conversation_id is not None and note.conversation_id == of.conversation_id,
    )

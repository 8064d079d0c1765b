"""Topics as notes: their values, the list of them, and the writer of their notes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, Cancelled, StaleNote, StorageError
from amem.language import normalize
from amem.maintenance.phase import ACTOR
from amem.maintenance.topic_pages import (
    MOST_GONE,
    Gone,
    Page,
    cited_ids,
    compose,
    is_chinese,
    labels,
    line_of,
    render,
    statement_of,
    title,
    written,
)
from amem.note import Enrichment, Kind, Layer, Link, LinkType, MemoryNote, Plain, Scope, Status, plain_fields
from amem.protocols import PageWriter
from amem.query import Filter
from amem.rendering import holding_text
from amem.storage.rows import plain, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection
    from amem.protocols import Analyst
    from amem.storage.store import Session


# What a topic is to a reader, and what its note keeps about it.

#: Under this name a topic's note keeps its `Mark` in its metadata.
KEY = "topic"


@dataclass(frozen=True, slots=True)
class Topic(Plain):
    """A topic as it is listed: its note's `id`, its `name`, how many `notes` belong to it, when it was last changed."""

    id: str
    name: str
    summary: str
    notes: int
    updated: datetime
    declared: bool


@dataclass(frozen=True, slots=True)
class TopicPage:
    """A topic's page in Markdown, and its notes by id, those it cites included."""

    topic: Topic
    text: str
    notes: Mapping[str, MemoryNote]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        cited = {id: note.content for id, note in self.notes.items()}
        return self.topic.to_dict() | {"page": self.text, "members": cited}


@dataclass(frozen=True, slots=True)
class TopicMap:
    """The largest topics, how many links and common notes hold two of them together (by their ids), and the rest.

    `more` are topics that are left out, `loose` active notes that belong to no topic at all.
    """

    topics: tuple[Topic, ...]
    ties: Mapping[tuple[str, str], int]
    more: int
    loose: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What the note of a topic keeps in its metadata, under `KEY`.

    `about` are the words of a declared topic besides its name; `seen` is what the page was made of (see `fingerprint`).
    """

    name: str
    declared: bool = False
    about: str = ""
    seen: str = ""


def mark_of(note: MemoryNote) -> Mark | None:
    """The mark of a topic's note; None for one that is none of ours."""
    held = note.metadata.get(KEY)
    if not isinstance(held, dict):
        return None
    return Mark(
        name=str(held.get("name", "")),
        declared=bool(held.get("declared")),
        about=str(held.get("about", "")),
        seen=str(held.get("seen", "")),
    )


def fingerprint(parts: Iterable[str]) -> str:
    """The same for the same parts, in whatever order."""
    return blake2b("\n".join(sorted(parts)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# The topics that a collection has, with the notes that belong to each.


@dataclass(frozen=True, slots=True)
class Known:
    """A topic's `note`, its `mark`, the fields of it that people hold, and its notes.

    `members` are all that are linked to it, `by_hand` those that a person linked.
    """

    note: MemoryNote
    mark: Mark
    owned: Mapping[str, str]
    members: frozenset[str]
    by_hand: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        return self.note.id

    @property
    def scope(self) -> Scope:
        """Whose topic it is; all its notes are of it."""
        return Scope.of(self.note.metadata)


def known_topics(session: Session, *, statuses: Sequence[Status] = (Status.ACTIVE,)) -> list[Known]:
    """The topics of these statuses, oldest first; of a deleted one the notes that it ever had.

    Only notes of a topic's own scope are its notes, whatever links there are from before scopes were kept apart.
    """
    held = topic_notes(session, statuses=statuses)
    members = session.links.leading_to([note.id for note, _, _ in held], LinkType.PART_OF)
    found: list[Known] = []
    for note, mark, owned in held:
        mine = members[note.id]
        if note.status is Status.DELETED:
            mine = dict.fromkeys(session.links.ever_to(note.id, LinkType.PART_OF), "")
        scopes = session.notes.scopes_of(list(mine))
        mine = {id: made_by for id, made_by in mine.items() if scopes.get(id) == Scope.of(note.metadata)}
        by_hand = frozenset(id for id, made_by in mine.items() if made_by.split(":")[0] == "user")
        found.append(Known(note, mark, owned, frozenset(mine), by_hand))
    return found


def topic_notes(
    session: Session, *, statuses: Sequence[Status] = (Status.ACTIVE,)
) -> list[tuple[MemoryNote, Mark, Mapping[str, str]]]:
    """The note of each topic of these statuses, its mark, and the fields of it that people hold; oldest first."""
    keys = session.notes.keys(Filter(kinds=(Kind.TOPIC,), statuses=tuple(statuses)))
    bare = session.notes.bare(keys)
    return [(note, mark, owned) for note, owned in (bare[key] for key in keys) if (mark := mark_of(note))]


def notes_of(session: Session, ids: Iterable[str]) -> dict[str, MemoryNote]:
    """These notes without what other tables say of them, in the order of their arrival; deleted ones are left out."""
    keys = session.notes.keys_of(list(ids))
    held = session.notes.bare(sorted(keys.values()))
    found = (held[key][0] for key in sorted(keys.values()))
    return {note.id: note for note in found if note.status is not Status.DELETED}


# Which topic a community is: the same one as last night, though a few notes came and went.

#: Share of both together, and of the topic's own notes, from which a community is that topic.
_JACCARD, _MOST = 0.5, 0.6


def recognise(groups: Sequence[frozenset[str]], topics: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """For each known topic (by id, with its notes) the community that it is now; each is at most one topic's.

    The best overlap is settled first; ties go to the smaller id and the earlier community.
    """
    overlaps: list[tuple[float, str, int]] = []
    holding: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for note in group:
            holding.setdefault(note, []).append(place)
    for id, notes in topics.items():
        for place in {place for note in notes for place in holding.get(note, ())}:
            shared = len(notes & groups[place])
            jaccard = shared / len(notes | groups[place])
            if jaccard >= _JACCARD or shared >= _MOST * len(notes):
                overlaps.append((jaccard, id, place))
    found: dict[str, int] = {}
    taken: set[int] = set()
    for _, id, place in sorted(overlaps, key=lambda each: (-each[0], each[1], each[2])):
        if id not in found and place not in taken:
            found[id] = place
            taken.add(place)
    return found


# What the notes of a topic took the place of, and what of it was taken back: the end of a topic's page.

#: How far back a chain of notes, each in the place of the one before, is followed.
_DEEP = 4


def overturned(session: Session, members: Sequence[str], former: Sequence[str], scope: Scope) -> list[Gone]:
    """What is no longer so, the newest first; `former` are notes that belonged to the topic and are not active now.

    The parts of a merged note were not overturned: what they said is said by it.
    """
    successors: dict[str, str] = {}
    at_hand = list(members)
    for _ in range(_DEEP):
        at_hand = [id for id in session.notes.replaced_by(at_hand) if id not in successors] if at_hand else []
        for id, note in notes_of(session, at_hand).items():
            if note.superseded_by is not None and not _merged(session, note):
                successors[id] = note.superseded_by
    retracted = [
        id
        for id, note in notes_of(session, former).items()
        if note.status is Status.SUPERSEDED and note.superseded_by is None
    ]
    marked = [note for note in notes_of(session, members).values() if note.overturned]
    followed = [each.by for note in marked for each in note.overturned if each.by]
    notes = {note.id: note for note in marked}
    notes |= notes_of(session, [*successors, *successors.values(), *retracted, *followed])
    notes = {id: note for id, note in notes.items() if Scope.of(note.metadata) == scope}
    found = [
        Gone(statement_of(notes[old]), statement_of(notes[new]))
        for old, new in successors.items()
        if old in notes and new in notes
    ]
    found += [Gone(statement_of(notes[id]), None) for id in retracted if id in notes]
    found += [
        Gone(line_of(note, each.text), statement_of(notes[each.by]) if each.by in notes else None)
        for note in marked
        if note.id in notes
        for each in note.overturned
    ]
    newest = {id: note.at.isoformat() if note.at is not None else "" for id, note in notes.items()}
    found.sort(key=lambda each: (newest[each.old.notes[0]], each.old.notes[0]), reverse=True)
    return found[:MOST_GONE]


def _merged(session: Session, note: MemoryNote) -> bool:
    assert note.superseded_by is not None
    return session.links.get(note.superseded_by, note.id, LinkType.DERIVED_FROM) is not None


# Writes the notes of topics: the page, who belongs to it, and nothing at all where nothing changed.

if TYPE_CHECKING:
    Vectors = Mapping[bytes, NDArray[np.float32]]

_log = logging.getLogger("amem")
_SHORT = 8
#: Of its labels those by which a question names a topic, and those that are its keywords.
_TITLED, _KEYWORDS = 2, 7


@dataclass(frozen=True, slots=True)
class Draft:
    """A topic as it is to be: its page as `text`, its members' ids; `known` is what it is now, None for a new one."""

    known: Known | None
    name: str
    text: str
    summary: str
    labels: tuple[str, ...]
    members: frozenset[str]
    mark: Mark
    scope: Scope
    made_by: str = ACTOR


@dataclass(frozen=True, slots=True)
class TopicWriter:
    """Drafts and stores topics of one collection; the `analyst` writes pages where it can, else the rules."""

    collection: Collection
    analyst: Callable[[], Analyst]

    def draft(
        self,
        members: Sequence[str],
        known: Known | None,
        mark: Mark | None = None,
        *,
        scope: Scope,
        taken: Sequence[str] = (),
        ask: bool = True,
    ) -> Draft | None:
        """What a topic of these notes, all of that scope, should be, None when it is that already.

        A new one is named by its `mark`, or by what its notes share and unlike
        those `taken`; None when they share nothing that could name it. May `ask` a model; holds no transaction then.
        """
        with self.collection.store.read() as session:
            notes = [note for note in notes_of(session, members).values() if note.status is Status.ACTIVE]
            members = [note.id for note in notes]
            ever = session.links.ever_to(known.id, LinkType.PART_OF) if known is not None else set()
            former = sorted(ever - set(members))
            gone = overturned(session, members, former, scope)
            held = mark if mark is not None or known is None else known.mark
            chinese = is_chinese(notes, held.name if held is not None and held.declared else "")
            found = labels(session, notes, chinese=chinese)
        seen = fingerprint(
            [f"{note.id} {note.kind} {normalize(holding_text(note.content, note.overturned))}" for note in notes]
            + [f"{each.old.text} > {'' if each.new is None else each.new.text}" for each in gone]
        )
        if known is not None and known.note.status is Status.ACTIVE:
            before, after = known.mark, held or known.mark
            if (before.seen, before.about, known.members) == (seen, after.about, frozenset(members)):
                return None
        name = held.name if held is not None else _unlike(found, taken, chinese=chinese)
        if not name:
            return None
        page = compose(name, found, notes, gone, chinese=chinese)
        page, made_by = self._written(page, known, notes) if ask else (page, ACTOR)
        if normalize(page.title) in {normalize(each) for each in taken if each != name}:
            page = replace(page, title=name)
        with self.collection.store.read() as session:
            short = session.notes.shortened(list(cited_ids(page)), _SHORT)
        text = render(page, short.__getitem__, self.collection.settings.max_note_chars)
        mark = replace(held or Mark(name), name=name if held and held.declared else page.title, seen=seen)
        shown = tuple(found[:_KEYWORDS])
        return Draft(known, mark.name, text, page.summary, shown, frozenset(members), mark, scope, made_by)

    def _written(self, page: Page, known: Known | None, notes: Sequence[MemoryNote]) -> tuple[Page, str]:
        """The page as a model writes it, where there is one; the rules' own when that fails."""
        writer = self.analyst() if notes else None
        if not isinstance(writer, PageWriter):
            return page, ACTOR
        present = "" if known is None else known.note.content
        fresh = [note.id for note in notes if known is None or note.id not in known.members]
        try:
            return written(writer, page, present, notes, fresh), writer.name
        except (Cancelled, StorageError):
            raise
        except AmemError as error:
            _log.warning("the page of the topic %s is written by rules: %s", page.title, error)
            return page, ACTOR

    def embed(self, draft: Draft) -> Vectors:
        """What `put` needs of the embedder, so that no transaction waits for it."""
        return self.collection.vectorizer.embed(
            [self.collection.vectorizer.text(MemoryNote(draft.text, kind=Kind.TOPIC))]
        )[0]

    def put(self, session: Session, draft: Draft, vectors: Vectors, operation: int) -> str:
        """Store a draft with its `vectors`; returns the id of the topic's note.

        Raises StaleNote when the topic is no longer what it was drafted from, or one of its notes is destroyed.
        """
        if len(session.notes.keys_of(sorted(draft.members))) < len(draft.members):
            raise StaleNote(f"a note of the topic {draft.name} was purged meanwhile", hint="try again")
        self.collection.vectorizer.keep(session, vectors)
        if draft.known is None:
            id = self._insert(session, draft, operation)
        else:
            id = draft.known.id
            self._change(session, draft, draft.known, operation)
        self._link(session, draft, id, operation)
        return id

    def _insert(self, session: Session, draft: Draft, operation: int) -> str:
        note = MemoryNote(
            draft.text,
            keywords=list(draft.labels),
            entities=list(draft.labels[:_TITLED]),
            context=draft.summary,
            timestamp=time_text(session.now),
            at=session.now,
            kind=Kind.TOPIC,
            layer=Layer.LONG_TERM,
            metadata={KEY: plain_fields(draft.mark), **draft.scope.ids},
            enrichment=Enrichment.DONE,
            analyst=draft.made_by,
        )
        session.notes.insert(
            note,
            operation,
            reliability=self.collection.settings.trust_agent,
            text_hash=self.collection.vectorizer.hash(note),
            given=("kind", "keywords", "context", "tags", "importance", "entities", "facts", "metadata", "layer"),
        )
        return note.id

    def _change(self, session: Session, draft: Draft, known: Known, operation: int) -> None:
        changes: dict[str, Any] = {
            "content": draft.text,
            "context": draft.summary,
            "keywords": list(draft.labels),
            "entities": list(draft.labels[:_TITLED]),
            "analyst": draft.made_by,
            "status": str(Status.ACTIVE),
            "metadata": {**known.note.metadata, KEY: plain_fields(draft.mark)},
        }
        edited = {name for name, how in known.owned.items() if how == "edited"}
        if "content" in edited and draft.text != known.note.content:
            # The page is a person's: what the machine would write waits for that person.
            session.reviews.propose(
                known.id,
                {"content": (known.note.content, draft.text)},
                operation=operation,
                base_version=known.note.version,
                reason=f"the notes of the topic {draft.name} have changed",
                confidence=1.0,
                made_by=draft.made_by,
                days=self.collection.settings.review_days,
            )
        session.notes.change(
            known.id,
            {name: value for name, value in changes.items() if name not in edited},
            operation,
            expect=known.note.version,
        )
        held = session.notes.get_many([known.id], history=False, usage=False)[known.id]
        session.notes.address(known.id, self.collection.vectorizer.hash(held))

    def _link(self, session: Session, draft: Draft, id: str, operation: int) -> None:
        linked = {link.source: link for link in session.links.to(id) if link.type is LinkType.PART_OF}
        for gone in sorted(linked.keys() - draft.members):
            session.links.remove(gone, id, LinkType.PART_OF, operation)
        for member in sorted(draft.members - linked.keys()):
            link = Link(member, id, LinkType.PART_OF, draft.name, 1.0, ACTOR, session.now)
            session.links.put(link, operation)

    def archive(self, session: Session, known: Known, operation: int) -> None:
        """Put a topic away whose notes are gone; it comes back when they do."""
        session.notes.change(known.id, {"status": plain("status", Status.ARCHIVED)}, operation)


def _unlike(found: Sequence[str], taken: Sequence[str], *, chinese: bool) -> str:
    """A title that no other topic has; '' when there is nothing to call it by."""
    names = {normalize(name) for name in taken}
    for pair in ([*found[:2]], [*found[:1]], [*found[:1], *found[2:3]], [*found[1:3]]):
        name = title(pair, chinese=chinese)
        if name and normalize(name) not in names:
            return name
    base = title(found[:2], chinese=chinese)
    return next((f"{base} {n}" for n in range(2, 100) if normalize(f"{base} {n}") not in names), "") if base else ""

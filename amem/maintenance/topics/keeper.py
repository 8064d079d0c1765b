"""Writes the notes of topics: the page, who belongs to it, and nothing at all where nothing changed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, Cancelled, StaleNote, StorageError
from amem.maintenance.shift import ACTOR
from amem.maintenance.topics.known import notes_of
from amem.maintenance.topics.modelled import written
from amem.maintenance.topics.naming import labels, title
from amem.maintenance.topics.overturned import overturned
from amem.maintenance.topics.page import Page, cited_ids, compose, is_chinese, render
from amem.maintenance.topics.topic import KEY, Mark, fingerprint
from amem.note import Enrichment, Kind, Layer, Link, LinkType, MemoryNote, Scope, Status
from amem.rendering import holding_text
from amem.storage.rows import plain, time_text
from amem.text import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.maintenance.topics.known import Known
    from amem.protocols import PageWriter
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer

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


class Keeper:
    """Drafts and stores topics of one collection; `writer` gives the model that writes pages, None for the rules."""

    def __init__(
        self, store: Store, vectorizer: Vectorizer, settings: Settings, writer: Callable[[], PageWriter | None]
    ) -> None:
        self._store = store
        self._vectorizer = vectorizer
        self._settings = settings
        self._writer = writer

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
        with self._store.read() as session:
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
        with self._store.read() as session:
            short = session.notes.shortened(list(cited_ids(page)), _SHORT)
        text = render(page, short.__getitem__, self._settings.max_note_chars)
        mark = replace(held or Mark(name), name=name if held and held.declared else page.title, seen=seen)
        shown = tuple(found[:_KEYWORDS])
        return Draft(known, mark.name, text, page.summary, shown, frozenset(members), mark, scope, made_by)

    def _written(self, page: Page, known: Known | None, notes: Sequence[MemoryNote]) -> tuple[Page, str]:
        """The page as a model writes it, where there is one; the rules' own when that fails."""
        writer = self._writer() if notes else None
        if writer is None:
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
        return self._vectorizer.embed([self._vectorizer.text(MemoryNote(draft.text, kind=Kind.TOPIC))])[0]

    def put(self, session: Session, draft: Draft, vectors: Vectors, operation: int) -> str:
        """Store a draft with its `vectors`; returns the id of the topic's note.

        Raises StaleNote when the topic is no longer what it was drafted from, or one of its notes is destroyed.
        """
        if len(session.notes.keys_of(sorted(draft.members))) < len(draft.members):
            raise StaleNote(f"a note of the topic {draft.name} was purged meanwhile", hint="try again")
        self._vectorizer.keep(session, vectors)
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
            metadata={KEY: draft.mark.to_metadata(), **draft.scope.ids},
            enrichment=Enrichment.DONE,
            analyst=draft.made_by,
        )
        session.notes.insert(
            note,
            operation,
            reliability=self._settings.trust_agent,
            text_hash=self._vectorizer.hash(note),
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
            "metadata": {**known.note.metadata, KEY: draft.mark.to_metadata()},
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
                days=self._settings.review_days,
            )
        session.notes.change(
            known.id,
            {name: value for name, value in changes.items() if name not in edited},
            operation,
            expect=known.note.version,
        )
        held = session.notes.get_many([known.id], history=False, usage=False)[known.id]
        session.notes.address(known.id, self._vectorizer.hash(held))

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

"""Topics: the pages on which the collection gathers what belongs together, and those that a person asks for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.conflict.corrections import Reweigher, delete
from amem.errors import AmbiguousId, InvalidInput, NoteNotFound, StaleNote
from amem.labels import short_id
from amem.language import normalize
from amem.maintenance.phase import ACTOR
from amem.maintenance.topic_notes import Mark, Topic, TopicMap, TopicPage, TopicWriter, known_topics, topic_notes
from amem.maintenance.topic_phase import Declared, TopicPhase
from amem.note import EVERYONE, NOBODY, Kind, MemoryNote, Scope, Status
from amem.query import Filter
from amem.writing.fields import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.collection import Collection
    from amem.maintenance.topic_notes import Draft, Known
    from amem.protocols import Analyst
    from amem.retrieval.lookups import NoteLists
    from amem.storage.store import Session


#: Characters of what a topic is about.
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Topics:
    """Lists the topics of one collection, shows their pages, and takes a person's word for what is one."""

    collection: Collection
    lists: NoteLists
    reweigher: Reweigher
    analyst: Callable[[], Analyst]

    def all(self, *, scope: Scope = EVERYONE) -> list[Topic]:
        """Every topic of the `scope`, the largest first."""

        def read() -> list[tuple[Topic, Scope]]:
            numbers = self.lists.topic_sizes(session)
            found = [
                (_topic(session, note, mark, numbers.get(note.id, 0)), Scope.of(note.metadata))
                for note, mark, _ in topic_notes(session)
            ]
            return sorted(found, key=lambda each: (-each[0].notes, each[0].name))

        with self.collection.store.read() as session:
            every = self.lists.since(session.counter, "topics", read)
        return [topic for topic, whose in every if scope.covers(whose)]

    def page(self, name: str, *, scope: Scope = EVERYONE) -> TopicPage:
        """The page of a topic of the `scope`, by its name, the beginning of it or its note's id.

        Raises NoteNotFound, or AmbiguousId when several begin so.
        """
        with self.collection.store.read() as session:
            known = _named(session, name, scope)
            notes = session.notes.get_many(sorted(known.members), history=False, usage=False)
            active = {id: note for id, note in notes.items() if note.status is Status.ACTIVE}
            listed = _topic(session, known.note, known.mark, len(active))
            shown = session.notes.shown([known.id], history=False, usage=False)
            return TopicPage(listed, shown[known.id].content, active)

    def map(self, limit: int = 40, *, scope: Scope = EVERYONE) -> TopicMap:
        """The `limit` largest topics of the `scope` and what holds them together: all of it at a glance."""
        topics = self.all(scope=scope)
        with self.collection.store.read() as session:
            every = [topic.id for topic in topics]
            pages = session.notes.count(Filter(kinds=(Kind.TOPIC,), whose=scope))
            return TopicMap(
                topics=tuple(topics[:limit]),
                ties=session.links.ties_of_wholes(every[:limit]),
                more=max(0, len(topics) - limit),
                loose=max(0, session.notes.count(Filter(whose=scope)) - pages - session.links.gathered(every)),
            )

    def declare(self, name: str, about: str = "", *, actor: str, scope: Scope = NOBODY) -> TopicPage:
        """Keep a page for a topic from now on: of notes of the `scope` that speak of it or of the words in `about`."""
        (wanted,) = labels("topic", [name]) or [""]
        if not wanted:
            raise InvalidInput("a topic needs a name", hint='amem topic "my garden" --declare')
        if len(about) > _LONGEST:
            raise InvalidInput(f"what a topic is about may have {_LONGEST:,} characters, not {len(about):,}")
        mark = Mark(wanted, declared=True, about=" ".join(about.split()))
        scope = Scope.of(scope.ids)
        members = Declared(self.collection).all_of(mark, scope)
        with self.collection.store.read() as session:
            every = [known for known in known_topics(session) if known.scope == scope]
        same = [known for known in every if normalize(known.mark.name) == normalize(wanted)]
        if same and not same[0].mark.declared:
            raise InvalidInput(f"there is a topic {same[0].mark.name!r} already", hint="choose another name")
        writer = TopicWriter(self.collection, self.analyst)
        known = same[0] if same else None
        draft = writer.draft(sorted(members | (known.by_hand if known else frozenset())), known, mark, scope=scope)
        id = "" if known is None else known.id
        if draft is not None:
            vectors = writer.embed(draft)
            with self.collection.store.write() as session:
                id = writer.put(session, draft, vectors, session.begin("declare", actor, f"topic {wanted}"))
        # By its id, since a redo may have brought another of its name back.
        return self.page(id, scope=scope)

    def remove(self, name: str, *, actor: str, scope: Scope = EVERYONE) -> str:
        """Give up a declared topic: its page goes, its notes stay; `undo` brings it back. Returns its name.

        Raises NoteNotFound, AmbiguousId, or InvalidInput for one that was found by links.
        """
        self.reweigher.refresh()
        with self.collection.store.write() as session:
            known = _named(session, name, scope)
            if not known.mark.declared:
                raise InvalidInput(
                    f"the topic {known.mark.name!r} was found by links, not declared",
                    hint=f"amem delete {short_id(known.id)} takes its page away for good",
                )
            operation = session.begin("undeclare", actor, f"topic {known.mark.name}")
            delete(session, [known.id], operation, self.reweigher)
        return known.mark.name

    def take_in(self, ids: Sequence[str], parent: int | None) -> None:
        """Let declared topics take in these new notes, below the operation that brought them."""
        with self.collection.store.read() as session:
            topics = {known.id: known for known in known_topics(session) if known.mark.declared}
            if not topics:
                return
            keys = list(session.notes.keys_of(ids).values())
        writer = TopicWriter(self.collection, self.analyst)
        for id, grown in Declared(self.collection).belonging(keys).items():
            draft = writer.draft(sorted(topics[id].members | grown), topics[id], scope=topics[id].scope)
            with suppress(StaleNote):
                self._put(writer, draft, parent)

    def write_again(self, ids: Sequence[str], parent: int) -> None:
        """Write the pages of these topics anew, by rules, from the notes that are left to them."""
        with self.collection.store.read() as session:
            topics = [known for known in known_topics(session) if known.id in ids] if ids else []
        writer = TopicWriter(self.collection, self.analyst)
        for known in topics:
            self._put(writer, writer.draft(sorted(known.members), known, scope=known.scope, ask=False), parent)

    def phase(self, analyst: Callable[[], Analyst]) -> TopicPhase:
        """The part of maintenance that renews topics."""
        return TopicPhase(self.collection, TopicWriter(self.collection, analyst))

    def _put(self, writer: TopicWriter, draft: Draft | None, parent: int | None) -> None:
        if draft is not None:
            vectors = writer.embed(draft)
            with self.collection.store.write() as session:
                writer.put(session, draft, vectors, session.begin("topic", ACTOR, draft.name, parent=parent))


def _topic(session: Session, note: MemoryNote, mark: Mark, notes: int) -> Topic:
    return Topic(
        id=note.id,
        name=mark.name,
        summary=note.context,
        notes=notes,
        updated=session.operations.history(note.id, limit=1)[-1].at,
        declared=mark.declared,
    )


def _named(session: Session, name: str, scope: Scope) -> Known:
    every = [known for known in known_topics(session) if scope.covers(known.scope)]
    folded = normalize(name)
    found = [known for known in every if normalize(known.mark.name) == folded or known.id == name]
    found = found or [known for known in every if normalize(known.mark.name).startswith(folded)]
    found = found or [known for known in every if len(name) >= 4 and known.id.startswith(name)]
    if not found:
        raise NoteNotFound(f"no topic {name!r}", hint="amem topics lists them")
    if len(found) > 1:
        names = ", ".join(f"{known.mark.name} ({known.id[:8]})" for known in found[:4])
        raise AmbiguousId(f"{name!r} fits {len(found)} topics: {names}", hint="give more of the name, or the id")
    return found[0]

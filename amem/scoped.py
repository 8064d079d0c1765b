"""One user's, agent's or session's part of a collection, as its program hands it on: nothing in it tells of the rest.

Every method is that of `AgenticMemorySystem` with the scope filled in, or with an id held against it first: a note
outside the scope is not there, whoever asks for it by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.border import bordered
from amem.errors import InvalidInput, NoteNotFound, ReviewNotFound
from amem.note import EVERYONE
from amem.query import Filter, Query
from amem.retrieval.hit import related_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from amem.conversation.assistant import Assistant
    from amem.conversation.ingest import RememberReport
    from amem.conversation.questions import Answer
    from amem.language.intervals import Interval
    from amem.maintenance.forgetting_preview import Outlook
    from amem.maintenance.shift import MaintenanceReport
    from amem.maintenance.topic_notes import Topic, TopicMap, TopicPage
    from amem.memory_system import AgenticMemorySystem
    from amem.message import Message
    from amem.neighbourhood import LocalGraph, Neighbourhood
    from amem.note import Link, MemoryNote, Scope, Source
    from amem.receipt import Receipt
    from amem.retrieval.context import Context
    from amem.retrieval.core_notes import Core, CoreNotes
    from amem.retrieval.expansion import Ancestor
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.fact_leg import Filled
    from amem.retrieval.hit import Hit
    from amem.retrieval.tiers import Tiers
    from amem.settings import Settings
    from amem.storage.note_lists import Card, Census
    from amem.storage.records import Operation, Review, UndoReport, Version
    from amem.storage.reviews import Flag
    from amem.storage.whole import Whole
    from amem.strength import Strength
    from amem.system.purges import PurgeReport
    from amem.tools import Toolbox
    from amem.verdict import Conflict
    from amem.writing.intake import NewNote


@bordered
class ScopedMemory:
    """What one scope's owner may see and do of a collection; `AgenticMemorySystem.scoped` makes one.

    What it adds carries the ids of the scope; ids that the scope leaves open may be given with each note. Errors are
    those of the system's methods; a note of others raises NoteNotFound, like one that does not exist.
    """

    def __init__(self, memory: AgenticMemorySystem, scope: Scope) -> None:
        self._memory = memory
        self.scope = scope

    @property
    def settings(self) -> Settings:
        """Those of the collection."""
        return self._memory.settings

    def acting_as(self, actor: str) -> ScopedMemory:
        """The same part of it for another actor, such as ``agent``."""
        return ScopedMemory(self._memory.acting_as(actor), self.scope)

    @property
    def actor(self) -> str:
        """Who the log says it was."""
        return self._memory.actor

    def scoped(
        self, *, user_id: str | None = None, agent_id: str | None = None, session_id: str | None = None
    ) -> ScopedMemory:
        """A part of this part. Raises InvalidInput for an id other than one that the scope has."""
        narrow = self._memory.scoped(user_id=user_id, agent_id=agent_id, session_id=session_id).scope
        return ScopedMemory(self._memory, self.scope.and_(narrow))

    def tools(self) -> Toolbox:
        """Tools for a function-calling agent that reach no further."""
        from amem.tools import Toolbox

        return Toolbox(self)

    def maintain(self, *words: Any, **how: Any) -> MaintenanceReport:
        """Look after the whole collection: only of the scope that is all of it."""
        if self.scope != EVERYONE:
            raise InvalidInput("maintenance is of a whole collection, not of a part of it")
        return self._memory.maintain(*words, **how)

    # -- in --------------------------------------------------------------------------------------------------------

    def add(self, content: str, *, time: str | datetime | None = None, wait: bool = True, **fields: Any) -> Receipt:
        """Remember one note."""
        return self._memory.add(content, time=time, wait=wait, **self._own(fields))

    def add_note(self, content: str, time: str | datetime | None = None, *, wait: bool = True, **fields: Any) -> str:
        """A-Mem's ``add_note``: remember one note, return its id."""
        return self.add(content, time=time, wait=wait, **fields).id

    def add_notes(self, items: Sequence[NewNote | Mapping[str, Any] | str], *, wait: bool = True) -> Sequence[Receipt]:
        """Remember many notes as one operation."""
        return self._memory.add_notes([self._taken(item) for item in items], wait=wait)

    def assistant(self, **how: Any) -> Assistant:
        """A chat that recalls from the scope's notes, and learns for them; `how` as for the system's method."""
        return self._memory.assistant(scope=self.scope, **how)

    def remember(
        self, messages: Sequence[Message | Mapping[str, Any]], *, conversation: str | None = None, **how: Any
    ) -> RememberReport:
        """Store what was said and learn from it; `how` as for the system's method."""
        return self._memory.remember(messages, conversation=conversation, **self._own(how))

    # -- out -------------------------------------------------------------------------------------------------------

    def ask(self, query: Query) -> list[Hit]:
        """Answer a Query from the scope's notes."""
        return self._memory.ask(replace(query, filter=self.within(query.filter)))

    def search(self, query: str, k: int = 5, *, filter: Filter | None = None, **how: Any) -> list[Hit]:
        """The k notes of the scope that answer best."""
        return self._memory.search(query, k, filter=self.within(filter), **how)

    def search_agentic(self, query: str, k: int = 5, *, filter: Filter | None = None, **how: Any) -> list[Hit]:
        """As `search`, with the notes that good answers are linked to."""
        return self._memory.search_agentic(query, k, filter=self.within(filter), **how)

    def search_batch(self, queries: Sequence[str | Query], k: int = 5) -> Sequence[Sequence[Hit]]:
        """Answer many questions; results in order."""
        asked = [each if isinstance(each, Query) else Query(each, k) for each in queries]
        return self._memory.search_batch([replace(each, filter=self.within(each.filter)) for each in asked])

    def explain(self, query: str | Query, id: str) -> Explanation:
        """Why this note of the scope is, or is not, among the answers."""
        asked = query if isinstance(query, Query) else Query(query, expand=True, touch=False)
        return self._memory.explain(replace(asked, filter=self.within(asked.filter)), self._held(id))

    def find_related_memories(self, query: str, k: int = 5) -> tuple[str, Sequence[str]]:
        """A-Mem's helper: the related notes as text for a prompt, and their ids."""
        hits = self.search(query, k)
        return related_text(hits), [hit.id for hit in hits]

    def find_related_memories_raw(self, query: str, k: int = 5) -> str:
        """As `find_related_memories`, with linked notes, the text alone."""
        return related_text(self.search_agentic(query, k))

    def recall_tiers(
        self, query: str, budget_tokens: int | None = None, *, filter: Filter | None = None, **how: Any
    ) -> Tiers:
        """Read the scope's notes from the top until what was read suffices."""
        return self._memory.recall_tiers(query, budget_tokens, filter=self.within(filter), **how)

    def context(
        self, query: str, budget_tokens: int | None = None, *, filter: Filter | None = None, **how: Any
    ) -> Context:
        """What the scope's notes know about a question, within so many tokens."""
        return self._memory.context(query, budget_tokens, filter=self.within(filter), **how)

    def core_notes(self, budget_tokens: int | None = None, **how: Any) -> CoreNotes:
        """The scope's notes that every prompt should hold."""
        return self._memory.core_notes(budget_tokens, filter=self.within(how.pop("filter", None)), **how)

    def core_chosen(self, most: int, count: Callable[[str], int] | None = None) -> list[Core]:
        """Those for the prompt of a chat."""
        counting = {} if count is None else {"count": count}
        return self._memory.core_chosen(most, scope=self.scope, **counting)

    def answer(self, question: str, k: int = 8, *, rerank: bool | None = None) -> Answer:
        """Answer one question from the scope's notes, with citations."""
        return self._memory.answer(question, k, rerank=rerank, scope=self.scope)

    def facts(self, subject: str, predicate: str | None = None, **when: Any) -> list[Interval]:
        """What is so of a subject, as the scope's notes have it."""
        return self._memory.facts(subject, predicate, scope=self.scope, **when)

    def facts_asked(self, question: str, as_of: datetime | str | None = None) -> Filled:
        """The facts that fill the slot a question asks for."""
        return self._memory.facts_asked(question, as_of, scope=self.scope)

    def timeline(self, subject: str, predicate: str | None = None, **when: Any) -> list[Interval]:
        """All that was ever so of a subject."""
        return self._memory.timeline(subject, predicate, scope=self.scope, **when)

    def subjects(self) -> dict[str, int]:
        """Whoever the scope's notes state facts of, and how many."""
        return self._memory.subjects(scope=self.scope)

    def wording(self, found: Sequence[Interval], *, chinese: bool = False) -> str:
        """Facts as a clause said to the user."""
        return self._memory.wording(found, chinese=chinese)

    def doubted_by(self, ids: Sequence[str]) -> list[str]:
        """The scope's notes because of which these may be out of date."""
        found = self._memory.doubted_by(ids)
        own = self._own_of(found)
        return [id for id in found if id in own]

    def conflicts(self, text: str, time: str | datetime | None = None, **how: Any) -> list[Conflict]:
        """What adding this text would overturn."""
        return self._memory.conflicts(text, time, scope=self.scope, **how)

    def topics(self) -> list[Topic]:
        """The scope's topics."""
        return self._memory.topics(scope=self.scope)

    def topic(self, name: str) -> TopicPage:
        """The page of one of them."""
        return self._memory.topic(name, scope=self.scope)

    def topic_map(self, limit: int = 40) -> TopicMap:
        """The largest of them and what holds them together."""
        return self._memory.topic_map(limit, scope=self.scope)

    def declare_topic(self, name: str, about: str = "") -> TopicPage:
        """Keep a page for a topic of the notes that have the scope's ids and no others."""
        return self._memory.declare_topic(name, about, scope=self.scope)

    def remove_topic(self, name: str) -> str:
        """Give up a declared topic of the scope."""
        return self._memory.remove_topic(name, scope=self.scope)

    def census(self, filter: Filter | None = None, *, starting: str = "") -> Census:
        """How many of the scope's notes one would see with each kind, tag, topic or day chosen besides the filter."""
        return self._memory.census(self.within(filter), starting=starting)

    def days(self, filter: Filter | None = None) -> dict[date, int]:
        """How many of the scope's notes speak of each day."""
        return self._memory.days(self.within(filter))

    def conflicts_open(self) -> Sequence[Conflict]:
        """The scope's notes that contradict each other, and that nobody has decided on."""
        found = self._memory.conflicts_open()
        own = self._own_of([id for each in found for id in (each.earlier, each.later)])
        return [each for each in found if {each.earlier, each.later} <= own]

    def supersessions(self, limit: int = 50) -> Sequence[Link]:
        """What took the place of what in the scope, of the newest so many in the collection."""
        return self._staying(self._memory.supersessions(limit))

    def tags(self) -> dict[str, int]:
        """The scope's tags, and how many of its notes carry each."""
        return self._memory.tags(scope=self.scope)

    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> list[MemoryNote]:
        """The scope's notes that pass the filter."""
        return self._memory.list(self.within(filter), limit=limit, offset=offset, order=order)

    def count(self, filter: Filter | None = None) -> int:
        """How many those are; without a filter, all that stand."""
        return self._memory.count(self.within(filter))

    # -- one note --------------------------------------------------------------------------------------------------

    def resolve(self, prefix: str, *, deleted: bool = False) -> str:
        """The one id of the scope that begins so."""
        return self._memory.resolve(prefix, deleted=deleted, scope=self.scope)

    def read(self, id: str, known_at: datetime | str | None = None) -> MemoryNote | None:
        """The note, if it is of the scope."""
        note = self._memory.read(id, known_at)
        return note if note is not None and self.scope.holds(note.metadata) else None

    def opened(self, ids: Sequence[str]) -> None:
        """Count notes of the scope as used."""
        self._memory.opened([id for id in ids if self._holds(id)])

    def read_many(self, ids: Sequence[str]) -> dict[str, MemoryNote]:
        """Those of these notes that are of the scope."""
        own = self._own_of(ids)
        return self._memory.read_many([id for id in ids if id in own])

    def wholes(self, ids: Sequence[str]) -> dict[str, Whole]:
        """For each of these notes of the scope what an export tells beside it."""
        own = self._own_of(ids)
        found = self._memory.wholes([id for id in ids if id in own])
        causes = self._memory.scopes_of([flag[0] for each in found.values() for flag in each.flags])
        foreign = {id for id, whose in causes.items() if not self.scope.covers(whose)}
        return {
            id: replace(each, flags=tuple(flag for flag in each.flags if flag[0] not in foreign))
            for id, each in found.items()
        }

    def links(self, id: str) -> Sequence[Link]:
        """Links that start at this note and stay in the scope."""
        return self._staying(self._memory.links(self._held(id)))

    def backlinks(self, id: str) -> Sequence[Link]:
        """Links that end at this note and stay in the scope."""
        return self._staying(self._memory.backlinks(self._held(id)))

    def links_among(self, ids: Sequence[str]) -> Sequence[Link]:
        """Links that have both ends among these notes of the scope."""
        own = self._own_of(ids)
        return self._memory.links_among([id for id in ids if id in own])

    def neighbourhood(self, id: str, depth: int = 1) -> Neighbourhood:
        """The scope's notes within `depth` links of this one."""
        return self._memory.neighbourhood(self._held(id), depth, scope=self.scope)

    def graph(self, id: str, depth: int = 1, **how: Any) -> LocalGraph:
        """What of the scope's graph around this note can be looked at."""
        return self._memory.graph(self._held(id), depth, scope=self.scope, **how)

    def ancestors(self, id: str, **how: Any) -> Sequence[Ancestor]:
        """What of the scope the note rests on."""
        return self._memory.ancestors(self._held(id), scope=self.scope, **how)

    def similar(self, id: str, k: int = 10) -> Sequence[tuple[Card, float]]:
        """The scope's notes nearest in meaning."""
        return self._memory.similar(self._held(id), k, scope=self.scope)

    def succession(self, id: str) -> Sequence[MemoryNote]:
        """The note, and the scope's notes that held before and after it."""
        return [note for note in self._memory.succession(self._held(id)) if self.scope.holds(note.metadata)]

    def superseded_by(self, id: str) -> Sequence[str]:
        """Ids of the scope's superseded notes whose place this one took."""
        return [each for each in self._memory.superseded_by(self._held(id)) if self._holds(each)]

    def expand(self, note: str) -> Sequence[Message]:
        """The messages that a note was made from."""
        return self._memory.expand(self._held(note))

    def strength(self, id: str, at: datetime | str | None = None) -> Strength:
        """How strong a note is, and why."""
        return self._memory.strength(self._held(id), at)

    def outlook(self, id: str, ahead: float | None = None) -> Outlook:
        """What is to become of a note if nothing recalls it."""
        return self._memory.outlook(self._held(id), ahead)

    def owned_fields(self, id: str) -> dict[str, str]:
        """Fields of a note whose words are a person's."""
        return self._memory.owned_fields(self._held(id))

    def flags(self, id: str | None = None) -> Sequence[Flag]:
        """The scope's notes (or this one) that may be out of date."""
        return self._open(self._memory.flags(None if id is None else self._held(id)))

    def doubted(self) -> Sequence[Flag]:
        """Flags of the scope's notes that lean on something no longer so."""
        return self._open(self._memory.doubted())

    def sources(self, ids: Sequence[str]) -> dict[str, Sequence[Source]]:
        """For each of these notes the raw input it came from."""
        return {id: found for id, found in self._memory.sources([self._held(id) for id in ids]).items()}

    def history(self, id: str, *, limit: int | None = None) -> Sequence[Version]:
        """The newest `limit` versions of a note; None: every one."""
        return self._memory.history(self._held(id), limit=limit)

    def note(self, prefix: str) -> MemoryNote:
        """The one note of the scope whose id begins so."""
        try:
            found = self.read(self.resolve(prefix))
        except NoteNotFound:
            found = None
        if found is None:
            raise NoteNotFound(f"no note {checks.shown(prefix)}", hint="a search gives the ids of what it finds")
        return found

    def update(self, id: str, *, wait: bool = True, **fields: Any) -> bool:
        """Change fields of a note; False when there is none."""
        return self._holds(id) and self._memory.update(id, wait=wait, **fields)

    def link(self, source: str, target: str, type: str = "related", reason: str = "") -> Link:
        """Link two notes."""
        return self._memory.link(self._held(source), self._held(target), type, reason)

    def supersede(self, old: str, new: str, reason: str = "", *, statement: str = "") -> Link:
        """Put one note in another's place."""
        return self._memory.supersede(self._held(old), self._held(new), reason, statement=statement)

    def unsupersede(self, id: str, *, statement: str = "") -> bool:
        """Say that a note holds after all."""
        return self._memory.unsupersede(self._held(id), statement=statement)

    def unlink(self, source: str, target: str, type: str = "related") -> bool:
        """Remove a link; False when there is none."""
        return self._holds(source) and self._holds(target) and self._memory.unlink(source, target, type)

    def keep(self, id: str) -> int:
        """Say that a note holds in spite of its flags."""
        return self._memory.keep(self._held(id))

    def pin(self, id: str, pinned: bool = True) -> bool:
        """Keep a note from ever fading; False when there is none."""
        return self._holds(id) and self._memory.pin(id, pinned)

    def rollback(self, id: str, version: int) -> tuple[str, ...]:
        """Set a note back to an earlier version."""
        return self._memory.rollback(self._held(id), version)

    def would_roll_back(self, id: str, version: int) -> dict[str, tuple[Any, Any]]:
        """What `rollback` would change."""
        return self._memory.would_roll_back(self._held(id), version)

    def differences(self, id: str, older: int, newer: int | None = None) -> dict[str, tuple[Any, Any]]:
        """The fields in which two versions of a note differ."""
        return self._memory.differences(self._held(id), older, newer)

    def retract(self, id: str, reason: str = "", *, statement: str = "") -> bool:
        """Take a note back with nothing in its place."""
        return self._memory.retract(self._held(id), reason, statement=statement)

    def delete(self, id: str) -> bool:
        """Hide a note; False when there is none."""
        return self._holds(id) and self._memory.delete(id)

    def delete_notes(self, ids: Sequence[str]) -> int:
        """Hide several notes of the scope, as one operation; returns how many there were to hide."""
        own = self._own_of(ids)
        return self._memory.delete_notes([id for id in ids if id in own])

    def restore(self, id: str) -> bool:
        """Bring a note back."""
        return self._memory.restore(self._held(id))

    def purge(self, ids: str | Sequence[str]) -> PurgeReport | None:
        """Destroy notes for good; None when there are none. What it did and left is told of the scope's notes alone."""
        own = self._own_of([ids] if isinstance(ids, str) else ids)
        done = self._memory.purge([id for id in ([ids] if isinstance(ids, str) else ids) if id in own])
        if done is None or self.scope == EVERYONE:
            return done
        own = {*done.notes, *self._own_of([*done.rewritten, *done.stands_again, *(each.note for each in done.left)])}
        return replace(
            done,
            rewritten=tuple(id for id in done.rewritten if id in own),
            stands_again=tuple(id for id in done.stands_again if id in own),
            # What went of reasons and sentences may have stood in the whole collection's chats and log.
            removed={what: n for what, n in (done.removed or {}).items() if what not in ("reasons", "sentences")},
            left=tuple(each for each in done.left if each.note in own),
        )

    # -- the log ---------------------------------------------------------------------------------------------------

    def log(self, since: datetime | None = None, **how: Any) -> Sequence[Operation]:
        """What was done to notes of the scope and to no others."""
        return self._memory.log(since, scope=self.scope, **how)

    def own_last(self) -> int | None:
        """The newest of that which this actor began and that can be taken back."""
        return self._memory.own_last(scope=self.scope)

    def undo(self, operation: int | None = None) -> UndoReport:
        """Take back the newest of that, or the one named."""
        return self._memory.undo(operation, scope=self.scope)

    def redo(self, undone_by: int | None = None) -> UndoReport:
        """Do again what was undone of it last."""
        return self._memory.redo(undone_by, scope=self.scope)

    def reviews(self) -> Sequence[Review]:
        """Changes to the scope's notes that wait for a decision."""
        return self._memory.reviews(scope=self.scope)

    def accept(self, review: int) -> tuple[str, ...]:
        """Apply one of them. Raises ReviewNotFound for another's."""
        return self._memory.accept(self._reviewed(review))

    def reject(self, review: int) -> None:
        """Turn one of them down. Raises ReviewNotFound for another's."""
        self._memory.reject(self._reviewed(review))

    # -- the rule --------------------------------------------------------------------------------------------------

    def within(self, filter: Filter | None) -> Filter:
        """The filter within the scope."""
        asked = filter or Filter()
        if asked.whose is not None and not self.scope.covers(asked.whose):
            raise InvalidInput("the filter asks for notes outside the scope", hint="leave `whose` out")
        return replace(asked, whose=asked.whose or self.scope)

    def _staying(self, links: Sequence[Link]) -> Sequence[Link]:
        """Those of these links that stay in the scope; some of old do not."""
        own = self._own_of([id for link in links for id in (link.source, link.target)])
        return [link for link in links if {link.source, link.target} <= own]

    def _open(self, flags: Sequence[Flag]) -> Sequence[Flag]:
        """The flags of the scope's notes; the note that is the cause may be gone, but is no one else's."""
        asked = list(dict.fromkeys(id for flag in flags for id in (flag.note, flag.because)))
        whose = self._memory.scopes_of(asked)
        foreign = {id for id in asked if id in whose and not self.scope.covers(whose[id])}
        return [flag for flag in flags if flag.note in whose and not foreign & {flag.note, flag.because}]

    def _reviewed(self, review: int) -> int:
        if review not in {each.id for each in self.reviews()}:
            raise ReviewNotFound(f"no open review {review}", hint="reviews() has those that there are")
        return review

    def _own(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        for name, own in self.scope.ids.items():
            if fields.get(name) not in (None, own):
                given = checks.shown(fields[name])
                raise InvalidInput(f"the {name} {given} is not that of this memory", hint=f"leave {name} out")
        return {**fields, **self.scope.ids}

    def _taken(self, item: NewNote | Mapping[str, Any] | str) -> NewNote | Mapping[str, Any]:
        if isinstance(item, str):
            return {"content": item, **self._own({})}
        if isinstance(item, Mapping):
            return self._own(item)
        return replace(item, fields=self._own(item.fields))

    def _holds(self, id: str) -> bool:
        return id in self._own_of([id])

    def _own_of(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are notes of the scope."""
        return {id for id, whose in self._memory.scopes_of(ids).items() if self.scope.covers(whose)}

    def _held(self, id: str) -> str:
        if not self._holds(id):
            raise NoteNotFound(f"no note {checks.shown(id)}")
        return id

"""One user's, agent's or session's part of a collection, as its program hands it on: nothing in it tells of the rest.

Every method is that of `AgenticMemorySystem` with the scope filled in, or with an id held against it first: a note
outside the scope is not there, whoever asks for it by its id.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.border import bordered
from amem.errors import InvalidInput, NoteNotFound
from amem.note import EVERYONE
from amem.query import Filter, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from amem.conversation.asking import Answer
    from amem.conversation.remember import RememberReport
    from amem.maintenance.report import MaintenanceReport
    from amem.maintenance.topics.topic import Topic, TopicPage
    from amem.memory_system import AgenticMemorySystem
    from amem.message import Message
    from amem.note import Link, MemoryNote, Scope, Source
    from amem.receipt import Receipt
    from amem.retrieval import Hit
    from amem.retrieval.context import Context
    from amem.retrieval.core_notes import CoreNotes
    from amem.retrieval.core_safety import Core
    from amem.retrieval.slots import Filled
    from amem.settings import Settings
    from amem.storage import Operation, Review, UndoReport, Version
    from amem.system.purging import PurgeReport
    from amem.tools import Toolbox
    from amem.truth.intervals import Interval
    from amem.verdict import Conflict


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
        return [id for id in self._memory.doubted_by(ids) if self.read(id) is not None]

    def conflicts(self, text: str, time: str | datetime | None = None, **how: Any) -> list[Conflict]:
        """What adding this text would overturn."""
        return self._memory.conflicts(text, time, scope=self.scope, **how)

    def topics(self) -> list[Topic]:
        """The scope's topics."""
        return self._memory.topics(scope=self.scope)

    def topic(self, name: str) -> TopicPage:
        """The page of one of them."""
        return self._memory.topic(name, scope=self.scope)

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

    def links(self, id: str) -> Sequence[Link]:
        """Links that start at this note and stay in the scope."""
        links = self._memory.links(self._held(id))
        return links if self.scope == EVERYONE else [link for link in links if self._holds(link.target)]

    def backlinks(self, id: str) -> Sequence[Link]:
        """Links that end at this note and stay in the scope."""
        links = self._memory.backlinks(self._held(id))
        return links if self.scope == EVERYONE else [link for link in links if self._holds(link.source)]

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

    def retract(self, id: str, reason: str = "", *, statement: str = "") -> bool:
        """Take a note back with nothing in its place."""
        return self._memory.retract(self._held(id), reason, statement=statement)

    def delete(self, id: str) -> bool:
        """Hide a note; False when there is none."""
        return self._holds(id) and self._memory.delete(id)

    def restore(self, id: str) -> bool:
        """Bring a note back."""
        return self._memory.restore(self._held(id))

    def purge(self, id: str) -> PurgeReport | None:
        """Destroy a note for good; None when there is none."""
        return self._memory.purge(id) if self._holds(id) else None

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

    # -- the rule --------------------------------------------------------------------------------------------------

    def within(self, filter: Filter | None) -> Filter:
        """The filter within the scope."""
        asked = filter or Filter()
        if asked.whose is not None and not self.scope.covers(asked.whose):
            raise InvalidInput("the filter asks for notes outside the scope", hint="leave `whose` out")
        return replace(asked, whose=asked.whose or self.scope)

    def _own(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        for name, own in self.scope.ids.items():
            if fields.get(name) not in (None, own):
                given = checks.shown(fields[name])
                raise InvalidInput(f"the {name} {given} is not that of this memory", hint=f"leave {name} out")
        return {**fields, **self.scope.ids}

    def _holds(self, id: str) -> bool:
        whose = self._memory.scope_of(id)
        return whose is not None and self.scope.covers(whose)

    def _held(self, id: str) -> str:
        if not self._holds(id):
            raise NoteNotFound(f"no note {checks.shown(id)}")
        return id

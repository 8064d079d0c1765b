"""One user's, agent's or session's part of a collection, which shows nothing of the rest.

A method holds the ids it is given against the scope, or passes the scope on; the services in `amem.wiring.Parts` do the
work. A note outside the scope is not there, whoever asks for it by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from amem import checks
from amem.checks import validated
from amem.clock import parse_time
from amem.errors import InvalidInput, NoteNotFound, ReviewNotFound, StorageReadOnly
from amem.labels import short_id
from amem.note import EVERYONE, NOBODY, Conflict, Link, LinkType, MemoryNote, Message, Receipt, Scope, Source, Status
from amem.query import DEPTH, Filter, Query

if TYPE_CHECKING:
    import threading
    from datetime import date, datetime

    from amem.conversation.assistant import Assistant
    from amem.conversation.learning import RememberReport
    from amem.conversation.questions import Answer
    from amem.conversation.reply import Learnt
    from amem.interop.graph import LocalGraph, Neighbourhood
    from amem.language.intervals import Interval
    from amem.maintenance.forgetting_preview import Outlook
    from amem.maintenance.phase import MaintenanceReport
    from amem.maintenance.purges import PurgeReport
    from amem.maintenance.topic_notes import Topic, TopicMap, TopicPage
    from amem.protocols import ChatModel
    from amem.retrieval.budget import Core, CoreNotes
    from amem.retrieval.context import Context
    from amem.retrieval.expansion import Ancestor
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.fact_leg import Filled
    from amem.retrieval.hit import Hit
    from amem.retrieval.question import Period
    from amem.retrieval.tiers import Tiers
    from amem.storage.note_lists import Card, Census
    from amem.storage.operations import Operation, Version
    from amem.storage.reviews import Flag, Review
    from amem.storage.store import Session
    from amem.storage.undo import UndoReport
    from amem.storage.whole import Whole
    from amem.strength import Strength
    from amem.tools import Toolbox
    from amem.wiring import Parts
    from amem.writing.intake import NewNote

    Method = TypeVar("Method", bound=Callable[..., Any])


def _widened(query: Query) -> Query:
    """The same question to notes, too, whose place others have taken."""
    statuses = dict.fromkeys((*query.filter.statuses, Status.SUPERSEDED))
    return replace(query, filter=replace(query.filter, statuses=tuple(statuses)))


def _of_one(method: Method) -> Method:
    """A method that reads one note by its id, asked of the catalog that has it where it is none of the memory's own.

    It is called with the id of a note of the scope; another raises NoteNotFound here.
    """

    @wraps(method)
    def read(self: ScopedMemory, id: str, *args: Any, **how: Any) -> Any:
        holder = self.holder(id)
        return method(holder, holder._held(id), *args, **how)

    return cast("Method", read)


@validated
class ScopedMemory:
    """What one scope's owner may see and do of a collection; `AgenticMemorySystem.scoped` makes one.

    What it adds carries the ids of the scope; ids that the scope leaves open may be given with each note, and a `scope`
    that a method takes narrows this one. A note of others raises NoteNotFound, like one that does not exist.
    """

    def __init__(self, memory: ScopedMemory, scope: Scope) -> None:
        self._hold(memory._parts, memory.actor, scope)

    def _hold(self, parts: Parts, actor: str, scope: Scope) -> None:
        self._parts, self.actor, self.scope = parts, actor, scope
        self._store, self._clock, self._zone = parts.store, parts.clock, parts.zone
        self.settings = parts.settings

    def acting_as(self, actor: str) -> Self:
        """The same open collection, or part of it, under another name in the log; closing either closes both."""
        other = copy(self)
        other.actor = actor
        return other

    def scoped(
        self, *, user_id: str | None = None, agent_id: str | None = None, session_id: str | None = None
    ) -> ScopedMemory:
        """The part of it that was added under these ids, to hand on to whoever may see no more.

        Raises InvalidInput for an id that is empty, so that what is to be one's own never turns out to be everyone's,
        and for another id than the scope has.
        """

        from amem.writing.intake import open_scope

        return ScopedMemory(
            self, self.scope.intersection(open_scope(user_id=user_id, agent_id=agent_id, session_id=session_id))
        )

    def tools(
        self, *, user_id: str | None = None, agent_id: str | None = None, session_id: str | None = None
    ) -> Toolbox:
        """JSON-schema definitions for function-calling agents, and the dispatcher that carries their calls out.

        They reach no further than the scope, and the notes that were added under these ids, which are what they add
        notes under.
        """
        from amem.tools import Toolbox

        return Toolbox(self, user_id=user_id, agent_id=agent_id, session_id=session_id)

    def assistant(
        self,
        *,
        chat: ChatModel | Callable[[], ChatModel] | None = None,
        session: str | None = None,
        incognito: bool = False,
        on_learnt: Callable[[Learnt], None] | None = None,
        scope: Scope = EVERYONE,
    ) -> Assistant:
        """A chat that recalls from this collection before it answers, and learns from what is said.

        `chat` answers (None: the model that the settings name, found when it is first needed). `session` goes on with
        an earlier chat, by its id or the beginning of one. While `incognito` nothing is stored, learnt or counted;
        `on_learnt` hears, from another thread, what came of a turn. Of a `scope` it recalls, learns and lists no more
        than is of it; a chat goes on in the one it was begun in. Raises SessionNotFound or AmbiguousId.
        """
        from amem.conversation.assistant import Assistant

        scope = self._of(scope)
        if session is not None:
            with self._store.read() as read, read.within(scope):
                session = read.chats.resolve(session)
                scope = scope.intersection(Scope(**read.chats.scope_of(session).ids))
        return Assistant(
            self if scope == self.scope else ScopedMemory(self, scope),
            self._store,
            self._clock,
            chat=chat or self._parts.models.chat,
            learner=self._parts.learner,
            session=session,
            incognito=incognito,
            on_learnt=on_learnt,
            owner=self._parts.worker.owner,
            scope=scope,
        )

    def maintain(
        self,
        cycle: str = "nightly",
        *,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> MaintenanceReport:
        """Move notes between layers, let fade what never mattered, settle conflicts, merge, renew topics.

        `cycle` is nightly, weekly (also compresses what is old and fading) or monthly (also re-embeds for another
        model and weighs links by use). Looks at what has changed since the last run, and at what time alone has moved;
        goes on with a run that was killed. ``undo(report.operation)`` takes all of it back. `progress` hears
        (phase, done, of); setting `cancelled` (None: closing the collection) calls it off. Raises MaintenanceRunning,
        Cancelled or InvalidInput.
        """
        if self.scope != EVERYONE:
            raise InvalidInput("maintenance is of a whole collection, not of a part of it")
        return self._parts.maintainer.maintain(cycle, dry_run=dry_run, progress=progress, cancelled=cancelled)

    # -- catalogs ------------------------------------------------------------------------------------------------------

    @property
    def catalogs(self) -> dict[str, Self]:
        """The collections that are searched beside this one, by name, each to be read and no more."""
        found = {}
        for name, parts in self._parts.catalogs.items():
            found[name] = copy(self)
            found[name]._hold(parts, self.actor, self.scope)
        return found

    def holder(self, id: str) -> Self:
        """The memory that holds the note: this one, else the catalog that has it, which can only be read."""
        if self._parts.catalogs:
            with self._store.read() as session:
                if session.notes.keys_of([id]):
                    return self
        return next((each for each in self.catalogs.values() if id in each._stored([id])), self)

    def catalog_of(self, id: str) -> str:
        """The name of the catalog that holds the note; '' for one of the memory's own, and for none."""
        held = self.holder(id)
        return "" if held is self else held.settings.collection

    def publish(self, id: str, to: str | None = None) -> Receipt:
        """Copy a note into a catalog, with its facts and sources and where it is from, as one operation there.

        `to` may be left out where the setting ``publish`` names one catalog only. The receipt is the catalog's, whose
        log has the operation: it is undone there. Raises NoteNotFound, and InvalidInput without the right, or for a
        note that no longer holds.
        """
        return self._parts.publisher.publish(self._held(id), to, self.actor)

    # -- in ------------------------------------------------------------------------------------------------------------

    def add(
        self,
        content: str,
        *,
        time: str | datetime | None = None,
        source: Source | None = None,
        wait: bool = True,
        **fields: Any,
    ) -> Receipt:
        """Remember one note and say what came of it.

        `time` is when it was said or happened (ISO 8601, ``YYYYMMDDHHMM`` or a datetime; default: now); `fields` are
        note fields already known, analysis fills in the rest; ``user_id``, ``agent_id`` and ``session_id`` among them
        say whose the note is, for a Filter to ask by. With ``wait=False`` a model is not waited for: the note
        is stored and searchable, the receipt says ``pending``, and a thread finishes it (see `wait`); the offline
        rules, which take milliseconds, are applied at once either way. Raises EmptyNote, NoteTooLong, UnknownField,
        InvalidInput, MissingModel or StorageError; nothing is stored then.
        """

        from amem.writing.intake import NewNote

        items = [NewNote(content, time, source, self._own(fields))]
        return self._parts.writer.add(items, actor=self.actor, wait=wait)[0]

    def add_note(self, content: str, time: str | datetime | None = None, *, wait: bool = True, **fields: Any) -> str:
        """A-Mem's ``add_note``: remember one note, return its id (of the old note when it was known already)."""
        return self.add(content, time=time, wait=wait, **fields).id

    def add_notes(self, items: Sequence[NewNote | Mapping[str, Any] | str], *, wait: bool = True) -> list[Receipt]:
        """Remember many notes as one operation, embedded and committed in batches; receipts in order.

        One item that cannot be used raises before anything is stored. `wait` is that of `add`.
        """
        return self._parts.writer.add([self._taken(item) for item in items], actor=self.actor, wait=wait)

    def remember(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        conversation: str | None = None,
        earlier: Sequence[Message | Mapping[str, Any]] = (),
        wait: bool | None = True,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
    ) -> RememberReport:
        """Store what was said, episode by episode, and learn from it; all of it is undone as one operation.

        A message is a Message or a mapping with ``role`` and ``content`` (``at``, ``speaker`` and ``id`` where they
        are known); those remembered before are left out. `conversation` names it, so that it can be continued;
        `earlier` messages give context and are not stored. The ids say whose words these are: what is stored and learnt
        is kept under them, and the conversation of that name is theirs alone (see `amem.note.Scope`). With
        ``wait=False`` learning is left to the background (see `wait`), with None only what a model would have to be
        waited for. Raises InvalidInput naming a message that cannot be used; nothing is stored then.
        """

        from amem.writing.intake import named_scope

        ids = self._own({"user_id": user_id, "agent_id": agent_id, "session_id": session_id})
        return self._parts.backlog.remember(
            messages,
            actor=self.actor,
            wait=wait,
            conversation=conversation,
            earlier=earlier,
            scope=named_scope(**ids),
        )

    # -- out -----------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        include_superseded: bool = False,
        touch: bool = True,
        minimum_score: float | None = None,
        rerank: bool | None = None,
        minimum_confidence: float | None = None,
        group_by: str | None = None,
    ) -> list[Hit]:
        """The k notes that answer best, best first, each with a score in 0..1 (higher is better) and its reasons.

        `minimum_confidence` (0..1) leaves out those that are less likely to hold the answer (``hit.confidence``).

        `group_by` (session or topic) spreads the places over the sessions or topics that the best notes are in, those
        of one (``hit.group``) one behind the other: for a question whose answer several notes share.

        `include_superseded` lets notes answer, too, whose place others have taken. `rerank` has a cross-encoder read
        the best candidates again, or keeps it from doing so; None leaves that to the settings. Raises MissingModel
        where it was asked for and cannot be had.
        """
        asked = Query(
            query,
            k,
            filter or Filter(),
            touch=touch,
            minimum_score=minimum_score,
            rerank=rerank,
            minimum_confidence=minimum_confidence,
            group_by=group_by,
        )
        return self.ask(_widened(asked) if include_superseded else asked)

    def search_agentic(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        include_superseded: bool = False,
        touch: bool = True,
        minimum_score: float | None = None,
        rerank: bool | None = None,
        minimum_confidence: float | None = None,
        group_by: str | None = None,
    ) -> list[Hit]:
        """As `search`, with the notes that good answers are linked to, all ranked together."""
        asked = Query(
            query,
            k,
            filter or Filter(),
            expand=True,
            touch=touch,
            minimum_score=minimum_score,
            rerank=rerank,
            minimum_confidence=minimum_confidence,
            group_by=group_by,
        )
        return self.ask(_widened(asked) if include_superseded else asked)

    def ask(self, query: str | Query) -> list[Hit]:
        """The hits of a Query, the one value behind every way to search, or of a text; `answer` puts them in words.

        Raises EmbedderMismatch.
        """
        return self._parts.joined_recall.search(self._asked(query if isinstance(query, Query) else Query(query)))

    def search_batch(self, queries: Sequence[str | Query], k: int = 5) -> list[list[Hit]]:
        """Answer many questions, embedding them together; results in order."""
        self._parts.vectorizer.check()
        asked = [self._confined(each if isinstance(each, Query) else Query(each, k)) for each in queries]
        self._parts.languages.meet([query.text for query in asked])
        return self._parts.joined_recall.search_batch(asked)

    def reading(self, hits: Sequence[Hit]) -> Iterator[tuple[Session, list[Hit]]]:
        """Each collection that some of the hits are from, this one or a catalog, open to be read, with these."""
        return self._parts.joined_recall.reading(hits)

    def explain(self, query: str | Query, id: str) -> Explanation:
        """Why this note is, or is not, among the answers of its collection. Raises NoteNotFound."""
        if (holder := self.holder(id)) is not self:
            return holder.explain(query, id)
        self._parts.vectorizer.check()
        asked = query if isinstance(query, Query) else Query(query, expand=True, touch=False)
        return self._parts.recall.explain(self._confined(asked), self._held(id))

    def opened(self, ids: Sequence[str]) -> None:
        """Count notes that somebody opened and read as used, at most once a day each.

        An archived note comes back when it is used for the second time since it was archived, here or in a search.
        """
        own = self._own_of(ids)
        self._parts.uses.opened([id for id in ids if id in own])

    def find_related_memories(self, query: str, k: int = 5) -> tuple[str, list[str]]:
        """A-Mem's helper: the related notes as text for a prompt, and their ids."""

        from amem.retrieval.hit import related_text

        hits = self.search(query, k)
        return related_text(hits), [hit.id for hit in hits]

    def find_related_memories_raw(self, query: str, k: int = 5) -> str:
        """As `find_related_memories`, with linked notes, the text alone."""

        from amem.retrieval.hit import related_text

        return related_text(self.search_agentic(query, k))

    def context(
        self,
        query: str | Query,
        budget_tokens: int | None = None,
        *,
        order: str | None = None,
        core: bool = True,
        filter: Filter | None = None,
        minimum_score: float | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
        touch: bool = True,
    ) -> Context:
        """What is known about a question within `budget_tokens` (None: setting ``context_tokens``), never more.

        Of the notes found those go in that add most for their tokens. `order` is time (oldest first) or relevance
        (None: setting ``context_order``); `core` says whether core notes stand before them. `tokenizer` names the
        model whose prompt it is for, or the folder of one, or is a function that counts; None means the model of the
        settings. Where its tokenizer is not on this machine an upper bound counts; the context says so. With `touch`
        the notes placed count as used. A Query brings its own filter, score and touch. Raises InvalidInput and
        EmbedderMismatch.
        """
        asked = self._asked(query, filter=filter or Filter(), touch=touch, minimum_score=minimum_score)
        context_builder = self._parts.context_builder
        return context_builder.context(asked, budget_tokens, context_builder.counter(tokenizer), order=order, core=core)

    def core_notes(
        self,
        budget_tokens: int | None = None,
        *,
        filter: Filter | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
    ) -> CoreNotes:
        """The notes that every prompt should hold, as one block within so many tokens (None: setting ``core_tokens``).

        What may do harm first (an allergy), shortened rather than left out; then constraints, preferences, decisions,
        and facts that are pinned or important, as far as they hold now, under ``[Background]``, or
        ``[背景知识]`` where most are in Chinese. Counts as no use. `filter` and `tokenizer` as in `context`.
        """
        within = self.within(filter).in_zone(self._zone)
        return self._parts.context_builder.core(budget_tokens, within, self._parts.context_builder.counter(tokenizer))

    def core_chosen(
        self, most: int, count: Callable[[str], int] | None = None, *, scope: Scope = EVERYONE
    ) -> list[Core]:
        """The `scope`'s core notes for the prompt of a chat whose lines fit into `most` tokens, as `count` says."""
        from amem.language.terms import tokens
        from amem.retrieval.budget import core_notes

        within = Filter(whose=self._of(scope))
        with self._store.read() as session, session.within(self._of(scope)):
            return core_notes(session, self._parts.predicates(), most, within=within, count=count or tokens)

    def recall_tiers(
        self,
        query: str | Query,
        budget_tokens: int | None = None,
        *,
        order: str | None = None,
        ask_model: bool = False,
        filter: Filter | None = None,
        minimum_score: float | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
        touch: bool = True,
    ) -> Tiers:
        """Read a large collection from the top until what was read suffices, at most `budget_tokens` of it.

        First a topic's page, then the topic's notes, then all notes, then what they came from, in its own words; the
        result says of each tier what was read, and why it did or did not suffice. That is told by rules, or with
        `ask_model` by the model of the settings (a call for each tier; the rules again where it fails). The other
        arguments and errors as in `context`.
        """
        asked = self._asked(query, filter=filter or Filter(), touch=touch, minimum_score=minimum_score)
        counter = self._parts.context_builder.counter(tokenizer)
        model = self._parts.models.sufficer() if ask_model else None
        judge, name = (None, "") if model is None else (model.judge, model.name)
        return self._parts.tiers.read(asked, budget_tokens, counter, order=order, judge=judge, model=name)

    def answer(
        self, question: str, k: int | None = None, *, rerank: bool | None = None, scope: Scope = EVERYONE
    ) -> Answer:
        """Answer one question from the best `k` notes, with numbered citations; when they hold no answer, say that.

        `k` None takes 8, or 16 where several things are asked for ("which recipes", "all the pets", 哪些). With
        `rerank` (None: as the setting ``llm_rerank`` says) the model first reads more of what was found and picks
        those, for one call more. Only notes of the `scope` are asked. That no model answers is said by the answer,
        which holds what was recalled in any case. Raises EmbedderMismatch.
        """
        from amem.conversation.questions import Asker

        scope, models = self._of(scope), self._parts.models
        wanted = self.settings.llm_rerank if rerank is None else rerank
        memory = self if scope == self.scope else ScopedMemory(self, scope)
        orderer = models.orderer if wanted else None
        return Asker(memory, self._store, self._clock, answerer=models.answerer, orderer=orderer).ask(question, k)

    # -- what is so ----------------------------------------------------------------------------------------------------

    def facts(
        self,
        subject: str,
        predicate: str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        *,
        scope: Scope = EVERYONE,
    ) -> list[Interval]:
        """What is so of a subject at `as_of` (None: now), by predicate and time; an unknown subject has no facts.

        `known_at` answers by the notes as they stood then, and with what was so then where `as_of` does not ask for
        another time. Only notes of the `scope` are asked. Times as `parse_time` reads them. Raises InvalidInput for a
        time or a table of predicates that cannot be read.
        """
        return self._parts.facts.facts(subject, predicate, as_of, known_at, scope=self._of(scope))

    def facts_asked(
        self,
        question: str,
        as_of: datetime | str | None = None,
        *,
        period: Period | None = None,
        scope: Scope = EVERYONE,
    ) -> Filled:
        """The facts that fill the slot a question asks for: "what am I allergic to?", "where did I live in 2025?".

        They are those that are so at `as_of`, else those that were so in `period`, else in the time that the question
        names, else now. Read only where it names its subject ("I", "my son", Ana) and a slot of the table; the
        result's `exact` tells whether it asks for nothing else. `scope` and errors as in `facts`.
        """
        return self._parts.facts.facts_asked(question, as_of, period=period, scope=self._of(scope))

    def timeline(
        self,
        subject: str,
        predicate: str | None = None,
        known_at: datetime | str | None = None,
        *,
        scope: Scope = EVERYONE,
    ) -> list[Interval]:
        """All that was ever so of a subject, in order of time. `known_at`, `scope` and errors as in `facts`."""
        return self._parts.facts.timeline(subject, predicate, known_at, scope=self._of(scope))

    def subjects(self, *, scope: Scope = EVERYONE) -> dict[str, int]:
        """Everyone and everything that notes of the `scope` state facts of, and how many, most first."""
        return self._parts.facts.subjects(scope=self._of(scope))

    def wording(self, found: Sequence[Interval], *, chinese: bool = False, period: Period | None = None) -> str:
        """What is so of one subject and predicate, as a clause said to the user."""
        return self._parts.facts.wording(found, chinese=chinese, period=period)

    def doubted_by(self, ids: Sequence[str], words: Sequence[str] = ()) -> list[str]:
        """The notes because of which these, which state one fact, may be out of date, the latest first.

        One that is older than the last of these speaks against none: the fact was said again since. With `words` of
        what is taken from the notes, neither does one that speaks against other statements of them.
        """
        found = self._parts.facts.doubted_by(ids, words)
        own = self._own_of(found)
        return [id for id in found if id in own]

    def conflicts(
        self,
        text: str,
        time: str | datetime | None = None,
        *,
        speaker: str | None = None,
        scope: Scope = NOBODY,
    ) -> list[Conflict]:
        """What adding this text to the `scope` would overturn or contradict, by the rules; stores and counts nothing.

        The text stands for the side whose id is ''. Raises EmptyNote, InvalidInput or EmbedderMismatch.
        """

        from amem.writing.preview import try_out

        it = self._parts
        rules, whose = it.models.rules(), self._of(scope)
        return try_out(
            text, time, speaker, whose, collection=it.collection, settler=it.settler, rules=rules, canon=it.canon
        )

    def conflicts_open(self) -> list[Conflict]:
        """Notes that contradict each other, or may have overturned each other, and that nobody has decided on.

        Values of one slot that both stand since a person kept one come last.
        """

        from amem.conflict.corrections import with_kept
        from amem.writing.preview import open_conflicts

        with self._store.read() as session:
            least, predicates = self.settings.supersede_confidence, self._parts.predicates()
            found = with_kept(session, predicates, open_conflicts(session, least))
        own = self._own_of([id for each in found for id in (each.earlier, each.later)])
        return [each for each in found if {each.earlier, each.later} <= own]

    def supersessions(self, limit: int = 50) -> list[Link]:
        """What took the place of what and still does, by rules, models or by hand, the newest first."""
        with self._store.read() as session:
            found = session.reviews.supersessions(limit)
        return self._staying(found)

    @_of_one
    def succession(self, id: str) -> list[MemoryNote]:
        """The note, all whose place it or its successors took, and what took its own, in the order in which they held.

        Deleted ones too; no more than a hundred. Raises NoteNotFound.
        """
        with self._store.read() as session:
            return [note for note in session.reviews.succession(id) if self.scope.holds(note.metadata)]

    @_of_one
    def superseded_by(self, id: str) -> list[str]:
        """Ids of the superseded notes whose place this one took."""
        with self._store.read() as session:
            found = session.notes.replaced_by([id])
        own = self._own_of(found)
        return [each for each in found if each in own]

    def flags(self, id: str | None = None) -> list[Flag]:
        """Notes (or this one) that may be out of date, since what they lean on is; oldest first."""
        if id is not None and (holder := self.holder(id)) is not self:
            return holder.flags(id)
        held = None if id is None else self._held(id)
        with self._store.read() as session:
            found = session.flags.open(held)
        return self._open(found)

    def doubted(self) -> list[Flag]:
        """The flags of notes that lean on something no longer so, without those of notes that `conflicts_open` has."""
        with self._store.read() as session:
            found = session.flags.leaning()
        return self._open(found)

    def supersede(self, old: str, new: str, reason: str = "", *, statement: str = "") -> Link:
        """Put one note in another's place, or in that of one `statement` of it, while the rest of it stands.

        Raises NoteNotFound, InvalidInput for what is superseded already or what the note does not say.
        """
        return self._parts.corrector.supersede(
            self._held(old, "supersede"), self._held(new, "supersede"), reason, self.actor, statement
        )

    def unsupersede(self, id: str, *, statement: str = "") -> bool:
        """Say that a note holds after all, or that its overturned statements do (or the `statement` named).

        Machines may then only propose to hide it. False when nothing of it was superseded. Raises NoteNotFound.
        """
        return self._parts.corrector.unsupersede(self._held(id, "supersede"), self.actor, statement)

    def retract(self, id: str, reason: str = "", *, statement: str = "") -> bool:
        """Take a note back, or one `statement` of it, with nothing in its place, as of now.

        False when it does not stand. Raises NoteNotFound, InvalidInput for a statement that the note does not make.
        """
        return self._parts.corrector.retract(self._held(id, "retract"), reason, self.actor, statement)

    def keep(self, id: str) -> int:
        """Say that a note holds in spite of its flags and of what disagrees; returns how many. Raises NoteNotFound."""
        return self._parts.corrector.keep(self._held(id, "keep"), self.actor)

    # -- topics, counts ------------------------------------------------------------------------------------------------

    def topics(self, *, scope: Scope = EVERYONE) -> list[Topic]:
        """Every topic of the `scope`, the largest first."""
        return self._parts.topics.all(scope=self._of(scope))

    def topic(self, name: str, *, scope: Scope = EVERYONE) -> TopicPage:
        """The page of a topic of the `scope`, by its name, the beginning of it or its note's id.

        Raises NoteNotFound, or AmbiguousId when several begin so.
        """
        return self._parts.topics.page(name, scope=self._of(scope))

    def topic_map(self, limit: int = 40, *, scope: Scope = EVERYONE) -> TopicMap:
        """The `limit` largest topics of the `scope` and what holds them together: all of it at a glance."""
        return self._parts.topics.map(limit, scope=self._of(scope))

    def declare_topic(self, name: str, about: str = "", *, scope: Scope = NOBODY) -> TopicPage:
        """Keep a page for a topic from now on: of notes that name it, or speak of it or of the words in `about`.

        It gathers notes of one `scope` alone, which leaves no id open: without one those that say of nobody that they
        are his.

        It may begin with no note at all. Declared again with other words, it gathers by these. Raises InvalidInput for
        a name that cannot be one, or that a topic has which was found by links.
        """
        return self._parts.topics.declare(name, about, actor=self.actor, scope=self._of(scope))

    def remove_topic(self, name: str, *, scope: Scope = EVERYONE) -> str:
        """Give up a declared topic: its page goes, its notes stay; `undo` brings it back. Returns its name.

        Raises NoteNotFound, AmbiguousId, or InvalidInput for one that was found by links.
        """
        return self._parts.topics.remove(name, actor=self.actor, scope=self._of(scope))

    def census(self, filter: Filter | None = None, *, starting: str = "") -> Census:
        """How many notes one would see with each kind, layer, status, tag, topic or day chosen besides the filter.

        What the filter chooses in a group of them does not count there: with kinds chosen, `kinds` counts what passes
        all else. Tags narrow each other, since a note must carry all. `starting` is as for `shelf`; with it, deleted
        notes are counted only where the filter asks for these, as it takes a look at each of them.
        """
        return self._parts.note_lists.census(self.within(filter), starting=starting)

    def days(self, filter: Filter | None = None) -> dict[date, int]:
        """How many notes speak of each day, in the collection's time zone, the first day first."""
        return self._parts.note_lists.days(self.within(filter))

    def tags(self, *, active: bool = False, scope: Scope = EVERYONE) -> dict[str, int]:
        """Every tag of the `scope` and how many notes carry it, most used first; `active` counts active ones only."""
        with self._store.read() as session, session.within(self._of(scope)):
            return session.text.counts("tag", active=active)

    def count(self, filter: Filter | None = None) -> int:
        """How many notes of the scope pass the filter; without one, all that stand."""
        with self._store.read() as session:
            return session.notes.count(self.within(filter).in_zone(self._zone))

    # -- one note ------------------------------------------------------------------------------------------------------

    def resolve(self, prefix: str, *, deleted: bool = False, scope: Scope = EVERYONE) -> str:
        """The one id of the `scope` that begins with `prefix`, of a catalog where none of its own does.

        Raises NoteNotFound or AmbiguousId.
        """
        try:
            with self._store.read() as session, session.within(self._of(scope)):
                return session.notes.resolve(prefix, deleted=deleted)
        except NoteNotFound:
            for each in self.catalogs.values():
                with suppress(NoteNotFound):
                    return each.resolve(prefix, deleted=deleted, scope=scope)
            raise

    def read(self, id: str, known_at: datetime | str | None = None) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none.

        `known_at` asks for the note as it stood then: every field and its history, though not what is kept beside it
        (links, usage, trust). None where it was not there yet, or was deleted.
        """
        if (holder := self.holder(id)) is not self:
            return holder.read(id, known_at)
        moment = None if known_at is None else parse_time(known_at, self._zone)
        with self._store.read() as session:
            note = session.notes.shown([id], known_at=moment).get(id)
        return note if note is not None and self.scope.holds(note.metadata) else None

    def note(self, prefix: str) -> MemoryNote:
        """The one note of the scope whose id begins so."""
        try:
            found = self.read(self.resolve(prefix))
        except NoteNotFound:
            found = None
        if found is None:
            raise NoteNotFound(f"no note {checks.shown(prefix)}", hint="a search gives the ids of what it finds")
        return found

    def read_many(self, ids: Sequence[str]) -> dict[str, MemoryNote]:
        """The notes with these ids, without their histories, in the order asked for; deleted ones are left out.

        Those of catalogs too; an id that no note has is left out.
        """
        own = self._own_of(ids)
        with self._store.read() as session:
            found = session.notes.shown([id for id in ids if id in own], history=False)
        for each in self.catalogs.values():
            found |= each.read_many([id for id in ids if id not in found])
        return {id: found[id] for id in ids if id in found}

    def wholes(self, ids: Sequence[str]) -> dict[str, Whole]:
        """For each of these notes what belongs to it beside fields, links and sources, as an export tells it."""

        from amem.storage.whole import wholes

        own = self._own_of(ids)
        with self._store.read() as session:
            found = wholes(session, [id for id in ids if id in own])
            causes = session.notes.scopes_of([flag[0] for each in found.values() for flag in each.flags])
        foreign = {id for id, whose in causes.items() if not self.scope.covers(whose)}
        return {
            id: replace(each, flags=tuple(flag for flag in each.flags if flag[0] not in foreign))
            for id, each in found.items()
        }

    @_of_one
    def links(self, id: str) -> list[Link]:
        """Links that start at this note."""
        with self._store.read() as session:
            found = session.links.of(id)
        return self._staying(found)

    @_of_one
    def backlinks(self, id: str) -> list[Link]:
        """Links that end at this note."""
        with self._store.read() as session:
            found = session.links.to(id)
        return self._staying(found)

    def links_among(self, ids: Sequence[str]) -> list[Link]:
        """Links that have both ends among these notes, oldest first."""
        own = self._own_of(ids)
        with self._store.read() as session:
            return session.links.among([id for id in ids if id in own], tuple(LinkType))

    @_of_one
    def neighbourhood(self, id: str, depth: int = 1, *, scope: Scope = EVERYONE) -> Neighbourhood:
        """The notes of the `scope` within `depth` links of this one, in either direction, and the links among them."""

        from amem.interop.graph import walk

        with self._store.read() as session, session.within(self._of(scope)):
            return walk(session, id, depth)

    @_of_one
    def graph(
        self,
        id: str,
        depth: int = 1,
        *,
        limit: int = 40,
        types: Sequence[LinkType] | None = None,
        scope: Scope = EVERYONE,
    ) -> LocalGraph:
        """What of the graph around this note can be looked at: at most `limit` notes within `depth` links, and which.

        By links of these `types`, None for all, to notes of the `scope`. However many links a note has, the cost stays
        bounded. Raises NoteNotFound, and InvalidInput for a depth below 0 or a limit below 1.
        """

        from amem.interop.graph import local_graph

        with self._store.read() as session, session.within(self._of(scope)):
            return local_graph(session, id, depth, limit=limit, types=types)

    @_of_one
    def ancestors(self, id: str, depth: int = DEPTH, *, scope: Scope = EVERYONE) -> list[Ancestor]:
        """What the note rests on, nearest first: its causes, what it was derived from, what supports it, and theirs.

        Each comes once, with the links that lead to it. A superseded one is among them and says so, a deleted one is
        not, nor is one outside the `scope`. Raises NoteNotFound, and InvalidInput for a depth below 0.
        """
        from amem.retrieval.expansion import ancestors

        with self._store.read() as session, session.within(self._of(scope)):
            return ancestors(session, id, depth)

    @_of_one
    def similar(self, id: str, k: int = 10, *, scope: Scope = EVERYONE) -> list[tuple[Card, float]]:
        """The scope's k active notes nearest in meaning, each with its cosine (-1..1), by the vectors that are stored.

        None at all while the note has no vector. Raises NoteNotFound.
        """
        return self._parts.note_lists.similar(id, k, scope=self._of(scope))

    @_of_one
    def expand(self, note: str) -> list[Message]:
        """The messages that a note was made from, word for word and in their order. Raises NoteNotFound."""
        return self._parts.learner.expand(note)

    def sources(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note the raw input it came from."""
        elsewhere = {id: held for id in ids if (held := self.holder(id)) is not self}
        own = [self._held(id) for id in ids if id not in elsewhere]
        with self._store.read() as session:
            found = session.notes.sources_of(own)
        return found | {id: held.sources([id])[id] for id, held in elsewhere.items()}

    @_of_one
    def owned_fields(self, id: str) -> dict[str, str]:
        """Fields of a note whose words are a person's: ``given`` when it was added, or ``edited`` since.

        Raises NoteNotFound.
        """
        with self._store.read() as session:
            owned = session.notes.owned_fields([id])
        if id not in owned:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return owned[id]

    @_of_one
    def strength(self, id: str, at: datetime | str | None = None) -> Strength:
        """How strong a note is now, or at another time if nothing uses it until then, and what that is made of.

        Of a time that is past it tells by the uses counted since. Raises NoteNotFound, or InvalidInput for a time that
        cannot be read.
        """

        from amem.maintenance.forgetting_preview import strength_of

        with self._store.read() as session:
            moment = session.now if at is None else parse_time(at, self._zone)
            return strength_of(session, id, moment)

    @_of_one
    def outlook(self, id: str, ahead: float | None = None) -> Outlook:
        """What is to become of one note if nothing recalls it: how strong it is, when it moves, when it fades.

        Its curve reaches `ahead` days from now (None: past the day on which something happens). Raises NoteNotFound,
        or InvalidInput for a table of predicates that cannot be read.
        """

        from amem.maintenance.forgetting_preview import look_ahead

        with self._store.read() as session:
            return look_ahead(session, self.settings, self._parts.predicates(), id, ahead)

    # -- by hand -------------------------------------------------------------------------------------------------------

    def update(self, id_or_note: str | MemoryNote, *, wait: bool = True, **fields: Any) -> bool:
        """Change fields of a note, or save a note object that was changed; False when there is no such note.

        A note with another text is analysed again; with ``wait=False`` a model is not waited for, as in `add`.
        Raises UnknownField and InvalidInput, and StaleNote when the note object is no longer what is stored.
        """
        id = id_or_note if isinstance(id_or_note, str) else checks.text("id", id_or_note.id)
        return self._holds(id) and self._parts.editor.update(id_or_note, fields, self.actor, wait=wait)

    def link(self, source: str, target: str, type: str = "related", reason: str = "") -> Link:
        """Link two notes by hand. Raises NoteNotFound or InvalidInput."""
        return self._parts.editor.link(self._held(source, "link"), self._held(target, "link"), type, reason, self.actor)

    def unlink(self, source: str, target: str, type: str = "related") -> bool:
        """Take a link away; False when it was not there."""
        own = self._holds(source, "link") and self._holds(target, "link")
        return own and self._parts.editor.unlink(source, target, type, self.actor)

    def pin(self, id: str, pinned: bool = True) -> bool:
        """Keep a note from ever fading, or let it fade again; False when there is none."""
        return self._holds(id, "pin") and self._parts.editor.pin(id, pinned, self.actor)

    def delete(self, id: str) -> bool:
        """Hide a note (`restore` and `undo` bring it back); False when there is none."""
        return self._holds(id, "delete") and self._parts.editor.delete(id, self.actor)

    def delete_notes(self, ids: Sequence[str] = (), *, filter: Filter | None = None) -> int:
        """Hide several notes, as one operation that `undo` takes back whole; returns how many there were to hide.

        They are named by their ids, or by a `filter`: `list` and `count` show beforehand which those are. Raises
        InvalidInput for both, and for a filter that leaves out nothing, so that none is emptied by mistake.
        """
        if filter is not None:
            if ids:
                raise InvalidInput("ids and a filter exclude each other", hint="give one of them")
            wanted = replace(self.within(filter).in_zone(self._zone), minimum_cosine=None)
            if wanted.is_default:
                raise InvalidInput("the filter leaves out no note", hint="name them by their ids, or by a status")
            with self._store.read() as session:
                ids = list(session.notes.ids_of(session.notes.keys(wanted)).values())
        self._refuse_catalogs(ids, "delete")
        own = self._own_of(ids)
        return self._parts.editor.delete_all([id for id in dict.fromkeys(ids) if id in own], self.actor)

    def restore(self, id: str) -> bool:
        """Bring back a deleted, archived or superseded note; False when it is active.

        Raises NoteNotFound and EmbedderMismatch.
        """
        return self._parts.editor.restore(self._held(id, "restore"), self.actor)

    def purge(self, ids: str | Sequence[str]) -> PurgeReport | None:
        """Destroy notes, their history and what derives from them; None when there are none. `undo` can't take it back.

        What other notes say in their own words stays, and is named. When the files cannot be rewritten now (no room
        left, another process reads), the report says so in `owed`, and the next `maintain` finishes it.
        """
        asked = [ids] if isinstance(ids, str) else ids
        self._refuse_catalogs(asked, "purge")
        own = self._own_of(asked)
        done = self._parts.purges.purge([id for id in asked if id in own], self.actor)
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

    # -- the log -------------------------------------------------------------------------------------------------------

    @_of_one
    def history(self, id: str, *, limit: int | None = None) -> list[Version]:
        """The newest `limit` versions of a note (None: every version), oldest first. Raises NoteNotFound."""
        with self._store.read() as session:
            return session.operations.history(id, limit=limit)

    @_of_one
    def differences(self, id: str, older: int, newer: int | None = None) -> dict[str, tuple[Any, Any]]:
        """The fields in which two versions of a note differ, {field: (in the older, in the newer)}, as plain values.

        `newer` None is the note as it is now; version 0 is before it was there, with None for each field. Raises
        NoteNotFound and OperationNotFound.
        """
        with self._store.read() as session:
            return session.notes.differences(id, older, newer)

    def rollback(self, id: str, version: int) -> tuple[str, ...]:
        """Set a note back to an earlier version, as a new one; returns the fields that changed.

        Raises NoteNotFound, OperationNotFound and EmbedderMismatch.
        """
        return self._parts.editor.rollback(self._held(id, "history"), version, self.actor)

    @_of_one
    def would_roll_back(self, id: str, version: int) -> dict[str, tuple[Any, Any]]:
        """What `rollback` would change, {field: (now, then)}, as plain values. Raises as `rollback` does."""
        with self._store.read() as session:
            return session.notes.would_roll_back(id, version)

    def log(
        self,
        since: datetime | None = None,
        *,
        limit: int = 50,
        actor: str | None = None,
        scope: Scope = EVERYONE,
    ) -> list[Operation]:
        """What was written, linked and rewritten, newest first; each can be undone by its id.

        Of a `scope` only what touched no notes but its own, with all that it set off.
        """
        with self._store.read() as session, session.within(self._of(scope)):
            return session.operations.log(since=since, limit=limit, actor=actor)

    def own_last(self, *, scope: Scope = EVERYONE) -> int | None:
        """The newest operation that this actor began through this open collection and that can be taken back.

        What was done before it was opened, in another process or by others is never it, nor, of a `scope`, what
        touched notes of others.
        """

        from amem.storage.undo import own_last

        with self._store.read() as session, session.within(self._of(scope)):
            return own_last(session, self.actor, self._store.begun)

    def undo(self, operation: int | None = None, *, scope: Scope = EVERYONE) -> UndoReport:
        """Take back an operation with all it set off (None: the newest), but for what later work has changed since.

        Of a `scope` only what touched no notes but its own (see `log`). Raises NothingToUndo, OperationNotFound,
        InvalidInput and EmbedderMismatch; nothing has changed then.
        """
        return self._parts.editor.undo(operation, self.actor, scope=self._of(scope))

    def redo(self, undone_by: int | None = None, *, scope: Scope = EVERYONE) -> UndoReport:
        """Do again what was undone last, or what the undo with this id took back; `scope` and errors as for `undo`."""
        return self._parts.editor.redo(undone_by, self.actor, scope=self._of(scope))

    def reviews(self, *, scope: Scope = EVERYONE) -> list[Review]:
        """Changes to notes of the `scope` that machines proposed and a person has to decide."""
        whose = self._of(scope)
        with self._store.read() as session:
            found = session.reviews.open()
            scopes = {} if whose == EVERYONE else session.notes.scopes_of([each.note for each in found])
        return [each for each in found if whose == EVERYONE or whose.covers(scopes[each.note])]

    def accept(self, review: int) -> tuple[str, ...]:
        """Apply a proposed change; returns the fields it set. Raises ReviewNotFound, StaleNote, EmbedderMismatch.

        What was proposed for a catalog is published there, which raises as `publish` does.
        """
        from amem.maintenance.shared_notes import FIELD

        number = self._reviewed(review)
        with self._store.read() as session:
            item = session.reviews.get(number)
        if FIELD in item.changes:
            self.publish(item.note, item.changes[FIELD][1])
        return self._parts.editor.accept(number, self.actor)

    def reject(self, review: int) -> None:
        """Turn a proposed change down. Raises ReviewNotFound."""
        self._parts.editor.reject(self._reviewed(review), self.actor)

    # -- the rule ------------------------------------------------------------------------------------------------------

    def within(self, filter: Filter | None = None) -> Filter:
        """The filter within the scope. Raises InvalidInput for one that asks for notes outside of it."""
        asked = filter or Filter()
        if self.scope == EVERYONE:
            return asked
        if asked.whose is not None and not self.scope.covers(asked.whose):
            raise InvalidInput("the filter asks for notes outside the scope", hint="leave `whose` out")
        return replace(asked, whose=asked.whose or self.scope)

    def _of(self, asked: Scope) -> Scope:
        """The scope that is asked for, within this one. Raises InvalidInput where that can be nothing."""
        if self.scope == EVERYONE:
            return asked
        return self.scope if asked == NOBODY else self.scope.intersection(asked)

    def _asked(self, query: str | Query, **how: Any) -> Query:
        """The question as it is asked of the scope's notes; `how` is for one that is no Query, which says it itself."""
        self._parts.vectorizer.check()
        asked = query if isinstance(query, Query) else Query(query, 0, **how)
        self._parts.languages.meet([asked.text])
        return self._confined(asked)

    def _confined(self, query: Query) -> Query:
        return replace(query, filter=self.within(query.filter)).in_zone(self._zone)

    def _staying(self, links: Sequence[Link]) -> list[Link]:
        """Those of these links that stay in the scope; some of old do not."""
        own = self._own_of([id for link in links for id in (link.source, link.target)])
        return [link for link in links if {link.source, link.target} <= own]

    def _open(self, flags: list[Flag]) -> list[Flag]:
        """The flags of the scope's notes; the note that is the cause may be gone, but is no one else's."""
        if self.scope == EVERYONE:
            return flags
        asked = list(dict.fromkeys(id for flag in flags for id in (flag.note, flag.because)))
        with self._store.read() as session:
            whose = session.notes.scopes_of(asked)
        foreign = {id for id in asked if id in whose and not self.scope.covers(whose[id])}
        return [flag for flag in flags if flag.note in whose and not foreign & {flag.note, flag.because}]

    def _reviewed(self, review: int) -> int:
        if self.scope != EVERYONE and review not in {each.id for each in self.reviews()}:
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

    def _holds(self, id: str, command: str = "edit") -> bool:
        self._refuse_catalogs([id], command)
        return id in self._own_of([id])

    def _own_of(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are notes of the scope."""
        return self._stored(ids)

    def _stored(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that the collection has, within the scope."""
        with self._store.read() as session:
            return {id for id, whose in session.notes.scopes_of(list(ids)).items() if self.scope.covers(whose)}

    def _refuse_catalogs(self, ids: Sequence[str], command: str) -> None:
        """Refuse to change what is in a catalog, with the command that does it there. Raises StorageReadOnly."""
        for id in ids if self._parts.catalogs else ():
            if name := self.catalog_of(id):
                raise StorageReadOnly(
                    f"note {short_id(id)} is in the catalog {name!r}, which is only read from here",
                    hint=f"change it there, as with amem -c {name} {command} {short_id(id)}; "
                    "or write a note of your own",
                )

    def _held(self, id: str, command: str = "edit") -> str:
        if not self._holds(id, command):
            raise NoteNotFound(f"no note {checks.shown(id)}")
        return id

    # Last, because from here on `list` in an annotation of this class would mean the method.
    def list(
        self,
        filter: Filter | None = None,
        *,
        limit: int = 50,
        offset: int = 0,
        order: str = "time",
        holding: Sequence[Sequence[str]] = (),
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first; `order` is time, recorded or importance.

        With `holding`, only those that have one term at least of each of these groups (``amem.language.index_terms``).
        """
        with self._store.read() as session:
            wanted = self.within(filter).in_zone(self._zone)
            return session.notes.page(wanted, limit=limit, offset=offset, order=order, holding=holding)

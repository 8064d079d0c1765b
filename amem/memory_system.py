"""``AgenticMemorySystem``: what amem can do, each call delegated to the room that does it. No algorithm lives here."""

from __future__ import annotations

import logging
from copy import copy
from typing import TYPE_CHECKING, Any

from amem.analysis import Draft
from amem.collection import collection_names, folder_of
from amem.errors import AmemError, CollectionExists, InvalidInput
from amem.interop.settle import settle
from amem.live import CollectionRetriever, Memories
from amem.maintenance.doctor import Finding, examine
from amem.maintenance.index import embed_missing, reindex
from amem.neighbourhood import Neighbourhood, walk
from amem.note import MemoryNote
from amem.query import Filter, Query
from amem.retrieval import related_text
from amem.wiring import Wiring
from amem.writing.enrich import EnrichReport
from amem.writing.intake import NewNote
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.conversation.asking import Answer
    from amem.conversation.assistant import Assistant
    from amem.conversation.remember import RememberReport
    from amem.conversation.reply import Learnt
    from amem.errors import AmemError
    from amem.interop.settle import Debts
    from amem.llm_controller import LLMController
    from amem.message import Message
    from amem.note import Link, Source
    from amem.protocols import ChatModel
    from amem.receipt import Receipt
    from amem.retrieval import Explanation, Hit
    from amem.storage import Operation, Review, UndoReport, Version
    from amem.tools import Toolbox

#: A-Mem's programs import MemoryNote from here.
__all__ = ["AgenticMemorySystem", "MemoryNote"]

_log = logging.getLogger("amem")


class AgenticMemorySystem(Wiring):
    """One collection of notes that analyse, link and evolve themselves, and can be found again.

    The first five arguments are A-Mem's; None leaves each to the settings. `directory` is the home that holds the
    collections: without one (and without `settings`) the collection lives in memory and ends with the object.
    `create=False` refuses to make a collection that is not there. `actor` is who the log says it was: ``user``
    (``user:<name>``) for a person, ``agent`` (``agent:<name>``) for a program. `clock`, `embedder` and `analyst`
    replace the real ones; `notify` hears one line when something takes its time or a choice is made.
    ``background=False`` leaves what ``wait=False`` puts off to other processes (``amem work``).

    Safe to use from many threads. Close it, or use it in a ``with`` statement.
    """

    # -- writing -----------------------------------------------------------------------------------------------

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
        note fields already known, analysis fills in the rest. With ``wait=False`` a model is not waited for: the note
        is stored and searchable, the receipt says ``pending``, and a thread finishes it (see `wait`); the offline
        rules, which take milliseconds, are applied at once either way. Raises EmptyNote, NoteTooLong, UnknownField,
        InvalidInput, MissingModel or StorageError; nothing is stored then.
        """
        return self._add([NewNote(content, time, source, fields)], wait=wait)[0]

    def add_note(self, content: str, time: str | datetime | None = None, *, wait: bool = True, **fields: Any) -> str:
        """A-Mem's ``add_note``: remember one note, return its id (of the old note when it was known already)."""
        return self.add(content, time=time, wait=wait, **fields).id

    def add_notes(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        *,
        cause: str = "",
        action: str = "add",
        wait: bool = True,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
    ) -> list[Receipt]:
        """Remember many notes as one operation, embedded and committed in batches; receipts in order.

        One item that cannot be used raises before anything is stored, unless `on_refused` takes it (position, error)
        and it is left out. With a model all notes are stored first; then several are analysed at a time (setting
        ``llm_parallel``), and linked and evolved in order; `enrich` goes on where that was interrupted. `wait` is that
        of `add`. `progress` hears (done, of how many) after each batch, with a model after each note.
        """
        return self._add(items, cause=cause, action=action, wait=wait, progress=progress, on_refused=on_refused)

    def wait(self, timeout: float | None = None) -> bool:
        """Until the background has tried all that ``wait=False`` left to it; False when `timeout` seconds pass first.

        What failed is ``degraded`` then and waits for `enrich`.
        """
        return self._worker.wait(timeout)

    def work(self, *, once: bool = False, poll: float = 1.0, heard: Callable[[Receipt], None] | None = None) -> None:
        """Do what waits in the collection, whoever left it, looking for more every `poll` seconds until it is closed.

        With `once` only until nothing waits. `heard` is told of each note. Any number of processes may do this.
        """
        self._working(heard).run(once=once, poll=poll)

    def _add(
        self, items: Sequence[NewNote | Mapping[str, Any] | str], *, wait: bool = True, **how: Any
    ) -> list[Receipt]:
        receipts = self._pipeline.add(items, actor=self.actor, wait=wait, **how)
        if not wait and self._background and any(receipt.enrichment == "pending" for receipt in receipts):
            self._worker.wake()
        self._keep_up(receipts)
        return receipts

    def _keep_up(self, receipts: Sequence[Receipt]) -> None:
        """Count what evolved, and bring the index up to date where that changed it or is due."""
        evolved = sum(1 for receipt in receipts if receipt.links or receipt.evolved)
        due = self._progress.count(evolved, self.settings.evo_threshold)
        try:
            if self.settings.embed_recipe != "content":
                # Evolution changed what is embedded of these; until it is embedded, only their words find them.
                touched = {id for receipt in receipts for id in (receipt.id, *(each.id for each in receipt.evolved))}
                embed_missing(self._store, self._vectorizer, sorted(touched))
            if due:
                self.consolidate_memories()
        except Exception as error:  # the notes are stored and acknowledged; the next consolidation makes up for it
            _log.warning("the index is not up to date yet: %s", error)

    # -- conversation ------------------------------------------------------------------------------------------

    def remember(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        conversation: str | None = None,
        earlier: Sequence[Message | Mapping[str, Any]] = (),
        wait: bool = True,
    ) -> RememberReport:
        """Store what was said, episode by episode, and learn from it; all of it is undone as one operation.

        A message is a Message or a mapping with ``role`` and ``content`` (``at``, ``speaker`` and ``id`` where they
        are known); those remembered before are left out. `conversation` names it, so that it can be continued;
        `earlier` messages give context and are not stored. With ``wait=False`` learning is left to the background
        (see `wait`). Raises InvalidInput naming a message that cannot be used; nothing is stored then.
        """
        report = self._learner().remember(
            messages,
            conversation=conversation,
            actor=self.actor,
            wait=wait,
            earlier=earlier,
            cancelled=self._called_off,
        )
        if report.waiting and self._background:
            self._worker.wake()
        self._keep_up(report.learnt)
        return report

    def expand(self, note: str) -> list[Message]:
        """The messages that a note was made from, word for word and in their order. Raises NoteNotFound."""
        return self._learner().expand(note)

    def answer(self, question: str, k: int = 8) -> Answer:
        """Answer one question from the best `k` notes, with numbered citations; when they hold no answer, say that.

        That no model answers is said by the answer, which holds what was recalled in any case. Raises EmbedderMismatch.
        """
        from amem.conversation.asking import Asker
        from amem.llm.answering import Answerer

        def answerer() -> Answerer:
            return Answerer(self.chat_model(), self.settings.home / "prompts")

        return Asker(self, self._store, self._clock, answerer=answerer).ask(question, k)

    def assistant(
        self,
        *,
        chat: ChatModel | Callable[[], ChatModel] | None = None,
        session: str | None = None,
        incognito: bool = False,
        on_learnt: Callable[[Learnt], None] | None = None,
    ) -> Assistant:
        """A chat that recalls from this collection before it answers, and learns from what is said.

        `chat` answers (None: the model that the settings name, found when it is first needed). `session` goes on with
        an earlier chat, by its id or the beginning of one. While `incognito` nothing is stored, learnt or counted;
        `on_learnt` hears, from another thread, what came of a turn. Raises SessionNotFound or AmbiguousId.
        """
        from amem.conversation.assistant import Assistant

        return Assistant(
            self,
            self._store,
            self._clock,
            chat=chat or self.chat_model,
            learner=self._learner(),
            session=session,
            incognito=incognito,
            on_learnt=on_learnt,
        )

    def update(self, id_or_note: str | MemoryNote, **fields: Any) -> bool:
        """Change fields of a note, or save a note object that was changed; False when there is no such note.

        Raises UnknownField and InvalidInput, and StaleNote when the note object is no longer what is stored.
        """
        operation = self._editor.update(id_or_note, fields, self.actor)
        if operation:
            self._enricher.revise(id_or_note if isinstance(id_or_note, str) else id_or_note.id, operation)
        return operation is not None

    def delete(self, id: str) -> bool:
        """Hide a note (`restore` and `undo` bring it back); False when there is none."""
        return self._editor.delete(id, self.actor)

    def restore(self, id: str) -> bool:
        """Bring back a deleted, archived or superseded note; False when it is active. Raises NoteNotFound."""
        restored = self._editor.restore(id, self.actor)
        embed_missing(self._store, self._vectorizer, [id])
        return restored

    def purge(self, id: str) -> bool:
        """Destroy a note and its history for good; False when there is none. The only thing undo cannot take back."""
        purged = self._editor.purge([id], self.actor) == 1
        if purged:
            self._dense.refresh()
            self._dense.flush()
        return purged

    def pin(self, id: str, pinned: bool = True) -> bool:
        """Keep a note from ever fading, or let it fade again; False when there is none."""
        return self._editor.pin(id, pinned, self.actor)

    def link(self, source: str, target: str, type: str = "related", reason: str = "") -> Link:
        """Link two notes by hand. Raises NoteNotFound or InvalidInput."""
        return self._editor.link(source, target, type, reason, self.actor)

    def unlink(self, source: str, target: str, type: str = "related") -> bool:
        """Take a link away; False when it was not there."""
        return self._editor.unlink(source, target, type, self.actor)

    def rename_tag(self, old: str, new: str) -> int:
        """Rename a tag everywhere, merging it into `new` where that is in use; returns how many notes changed."""
        changed = self._editor.rename_tag(old, new, self.actor)
        if changed and self.settings.embed_recipe != "content":
            embed_missing(self._store, self._vectorizer)
        return changed

    def settle(self, debts: Debts, *, cause: str = "") -> int:
        """Pay what an import owes its stored notes (links, old standing), as one operation; returns how many links."""
        return settle(self._store, debts, actor=self.actor, cause=cause)

    # -- reading -----------------------------------------------------------------------------------------------

    def read(self, id: str) -> MemoryNote | None:
        """The note with its links, usage, trust and history; None when there is none."""
        with self._store.read() as session:
            return session.notes.get(id)

    def resolve(self, prefix: str, *, deleted: bool = False) -> str:
        """The one id that begins with `prefix`. Raises NoteNotFound or AmbiguousId."""
        with self._store.read() as session:
            return session.notes.resolve(prefix, deleted=deleted)

    def count(self, filter: Filter | None = None) -> int:
        """How many notes pass the filter; without one, all that are not deleted."""
        with self._store.read() as session:
            return session.notes.count(filter)

    @property
    def memories(self) -> Memories:
        """A live mapping of id to note, as A-Mem's programs read it; changes go through `update` and `delete`."""
        return Memories(self._store)

    def links(self, id: str) -> list[Link]:
        """Links that start at this note."""
        with self._store.read() as session:
            return session.links.of(id)

    def backlinks(self, id: str) -> list[Link]:
        """Links that end at this note."""
        with self._store.read() as session:
            return session.links.to(id)

    def neighbourhood(self, id: str, depth: int = 1) -> Neighbourhood:
        """The notes within `depth` links of this one, in either direction, and the links among them."""
        with self._store.read() as session:
            return walk(session, id, depth)

    def sources(self, ids: Sequence[str]) -> dict[str, list[Source]]:
        """For each note the raw input it came from."""
        with self._store.read() as session:
            return session.sources.of(ids)

    def tags(self) -> dict[str, int]:
        """Every tag and how many notes carry it, most used first."""
        with self._store.read() as session:
            return session.text.counts("tag")

    # -- recall ------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        touch: bool = True,
        minimum_score: float | None = None,
    ) -> list[Hit]:
        """The k notes that answer best, best first, each with a score in 0..1 (higher is better) and its reasons."""
        return self.ask(Query(query, k, filter or Filter(), touch=touch, minimum_score=minimum_score))

    def search_agentic(
        self,
        query: str,
        k: int = 5,
        *,
        filter: Filter | None = None,
        touch: bool = True,
        minimum_score: float | None = None,
    ) -> list[Hit]:
        """As `search`, with the notes that good answers are linked to, all ranked together."""
        return self.ask(Query(query, k, filter or Filter(), expand=True, touch=touch, minimum_score=minimum_score))

    def ask(self, query: Query) -> list[Hit]:
        """Answer a Query, the one value behind every way to search. Raises EmbedderMismatch."""
        self._vectorizer.check()
        return self._recall.search(query)

    def search_batch(self, queries: Sequence[str | Query], k: int = 5) -> list[list[Hit]]:
        """Answer many questions, embedding them together; results in order."""
        self._vectorizer.check()
        return self._recall.search_batch([Query(each, k) if isinstance(each, str) else each for each in queries])

    def explain(self, query: str | Query, id: str) -> Explanation:
        """Why this note is, or is not, among the answers. Raises NoteNotFound."""
        self._vectorizer.check()
        question = Query(query, expand=True, touch=False) if isinstance(query, str) else query
        return self._recall.explain(question, id)

    def find_related_memories(self, query: str, k: int = 5) -> tuple[str, list[str]]:
        """A-Mem's helper: the related notes as text for a prompt, and their ids."""
        hits = self.search(query, k)
        return related_text(hits), [hit.id for hit in hits]

    def find_related_memories_raw(self, query: str, k: int = 5) -> str:
        """As `find_related_memories`, with linked notes, the text alone."""
        return related_text(self.search_agentic(query, k))

    # -- analysis ----------------------------------------------------------------------------------------------

    def analyze_content(self, content: str) -> dict[str, Any]:
        """What the analyst makes of a text, as A-Mem's dictionary; stores nothing."""
        found = self._analyst().analyze(
            Draft(content, self._clock.now()), StoreVocabulary(self._store, FrequencyCache())
        )
        return {
            "keywords": [*found.keywords],
            "context": found.context,
            "tags": [*found.tags],
            "kind": str(found.kind),
            "importance": found.importance,
            "entities": [*found.entities],
            "facts": [[fact.subject, fact.predicate, fact.object] for fact in found.facts],
        }

    def process_memory(self, note: MemoryNote) -> tuple[bool, MemoryNote]:
        """A-Mem's ``process_memory``: evolve with a note; (whether anything evolved, the note as it is now).

        A note that is not stored yet is stored first.
        """
        if self.read(note.id) is None:
            receipt = self._add([NewNote(note.content, note.timestamp or None, None, _fields_of(note))])[0]
        else:
            receipt = self._enricher.enrich(note.id)
        stored = self.read(receipt.id)
        assert stored is not None
        return bool(receipt.links or receipt.evolved), stored

    def enrich(
        self,
        limit: int | None = None,
        *,
        upgrade: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """Finish notes whose analysis waits or failed, and learn from conversations and chats that wait for it.

        Safe beside other workers doing the same. With `upgrade` have a model redo the active notes that the offline
        rules analysed instead, but for what a person filled in or edited: an operation for each, so that each can be
        undone. Stopped half-way, it goes on where it was. Raises InvalidInput when there is no model for that.
        """
        if upgrade:
            report = self._upgrader.work(limit=limit, progress=progress)
        else:
            report = _of_chats(self._chats().work(limit=limit, progress=progress))
            for worker in (self._learner(), self._enricher):
                left = None if limit is None else max(0, limit - report.done - report.failed)
                report += worker.work(limit=left, progress=progress)
        embed_missing(self._store, self._vectorizer)
        return report

    # -- the log -----------------------------------------------------------------------------------------------

    def history(self, id: str) -> list[Version]:
        """Every version of a note, oldest first. Raises NoteNotFound."""
        with self._store.read() as session:
            return session.operations.history(id)

    def log(self, since: datetime | None = None, *, limit: int = 50, actor: str | None = None) -> list[Operation]:
        """What was written, linked and rewritten, newest first; each can be undone by its id."""
        with self._store.read() as session:
            return session.operations.log(since=since, limit=limit, actor=actor)

    def undo(self, operation: int | None = None) -> UndoReport:
        """Take back an operation with all it set off (None: the newest), but for what later work has changed since."""
        report = self._editor.undo(operation, self.actor)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def redo(self) -> UndoReport:
        """Do again what was undone last."""
        report = self._editor.redo(self.actor)
        embed_missing(self._store, self._vectorizer, [id for id, _ in report.reverted])
        return report

    def rollback(self, id: str, version: int) -> tuple[str, ...]:
        """Set a note back to an earlier version, as a new one; returns the fields that changed."""
        fields = self._editor.rollback(id, version, self.actor)
        embed_missing(self._store, self._vectorizer, [id])
        return fields

    def reviews(self) -> list[Review]:
        """Changes that machines proposed and a person has to decide."""
        with self._store.read() as session:
            return session.reviews.open()

    def accept(self, review: int) -> tuple[str, ...]:
        """Apply a proposed change; returns the fields it set. Raises ReviewNotFound or StaleNote."""
        fields = self._editor.accept(review, self.actor)
        embed_missing(self._store, self._vectorizer)
        return fields

    def reject(self, review: int) -> None:
        """Turn a proposed change down. Raises ReviewNotFound."""
        self._editor.reject(review, self.actor)

    # -- the collection ----------------------------------------------------------------------------------------

    def consolidate_memories(self) -> int:
        """Bring the index up to date, embedding only what changed; returns how many notes that were."""
        with self._store.read() as session:
            counter = session.counter
        embedded = embed_missing(self._store, self._vectorizer, after=self._progress.consolidated)
        self._progress.consolidated = counter
        self._dense.refresh()
        return embedded

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every note anew with the present model and recipe; returns how many."""
        return reindex(self._store, self._vectorizer, self.actor, progress=progress)

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Check the database, the index, the models and what waits; with `repair`, mend what can be mended."""
        return examine(self._store, self._dense, self._vectorizer, self.settings, repair=repair)

    def copy(self, name: str) -> Path:
        """Copy the collection, consistent even while it is written to, to a new one in the same home.

        Raises CollectionExists; a collection in memory cannot be copied.
        """
        if self._folder is None:
            raise InvalidInput("a collection in memory cannot be copied", hint="give the system a directory")
        target = folder_of(self.settings.home, name)
        if target.exists():
            raise CollectionExists(f"there is a collection {name!r} already", hint="choose another name")
        self._store.copy_to(target)
        return target

    def collections(self) -> list[str]:
        """Names of the collections in the home."""
        return collection_names(self.settings.home)

    @property
    def folder(self) -> Path | None:
        """The collection's folder; None in memory."""
        return self._folder

    @property
    def read_only(self) -> bool:
        """True when the collection can be read but not changed."""
        return self._store.read_only

    @property
    def model_name(self) -> str:
        """Name of the embedding model."""
        return self._vectorizer.embedder.name

    @property
    def evo_cnt(self) -> int:
        """How many notes have evolved something since the collection was opened."""
        return self._progress.evolutions

    @property
    def evo_threshold(self) -> int:
        """Evolutions between two consolidations."""
        return self.settings.evo_threshold

    @property
    def retriever(self) -> CollectionRetriever:
        """The collection as A-Mem's programs search it: Chroma's nested lists."""
        return CollectionRetriever(self._store, self._dense, self._vectorizer)

    @property
    def llm_controller(self) -> LLMController:
        """A-Mem's way to the language model the settings name."""
        if self._controller is None:
            from amem.llm_controller import LLMController

            self._controller = LLMController.of(self.settings)
        return self._controller

    def acting_as(self, actor: str) -> AgenticMemorySystem:
        """The same open collection under another name in the log; closing either closes both."""
        other = copy(self)
        other.actor = actor
        return other

    def tools(self) -> Toolbox:
        """JSON-schema definitions for function-calling agents, and the dispatcher that carries their calls out."""
        from amem.tools import Toolbox

        return Toolbox(self)

    # Last, because from here on `list` in an annotation of this class would mean the method.
    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> list[MemoryNote]:
        """Notes that pass the filter, newest first; `order` is time, recorded or importance."""
        with self._store.read() as session:
            return session.notes.page(filter or Filter(), limit=limit, offset=offset, order=order)


def _of_chats(learnt: Learnt) -> EnrichReport:
    """What learning from chats did, in turns."""
    failed = learnt.waiting + (learnt.turns if learnt.degraded else 0)
    errors = (f"chats: {learnt.error}",) if learnt.error else ()
    return EnrichReport(0 if learnt.degraded else learnt.turns, failed, failed, errors)


def _fields_of(note: MemoryNote) -> dict[str, Any]:
    names = ("id", "keywords", "context", "tags", "category", "entities", "facts", "metadata", "speaker", "links")
    return {name: value for name in names if (value := getattr(note, name))}

"""``AgenticMemorySystem``: what amem can do with a collection, delegated to the services in `amem.wiring.Parts`.

What one user of it may do stands in `amem.scoped`; here is what takes the whole collection.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from copy import copy as copy_of
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from amem.checks import validated
from amem.collection_folders import collection_names, existing_folder, folder_of
from amem.note import EVERYONE, MemoryNote, Receipt, Scope
from amem.scoped import ScopedMemory
from amem.settings import Settings, load_settings
from amem.wiring import Given, Parts

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date, datetime
    from types import TracebackType

    from amem.clock import Clock
    from amem.collection import Advice
    from amem.collection_retriever import CollectionRetriever, Memories
    from amem.errors import AmemError, StorageCorrupt
    from amem.forks.diff import ForkDiff
    from amem.forks.merge import MergeReport
    from amem.interop.settle import Debts
    from amem.llm_controller import LLMController
    from amem.maintenance.doctor import Finding
    from amem.maintenance.forgetting_preview import FadePreview
    from amem.maintenance.health import Health
    from amem.maintenance.phase import MaintenanceReport
    from amem.protocols import Analyst, ChatModel, Embedder, Reranker
    from amem.query import Filter
    from amem.storage.copies import Backup
    from amem.storage.links import Surroundings
    from amem.storage.note_lists import Card, Order, Shelf
    from amem.storage.operations import Deed, Doings, LogOrder, Operation
    from amem.storage.store import Session, Store
    from amem.storage.whole import FileNote
    from amem.vault.sync import Vault
    from amem.writing.intake import NewNote
    from amem.writing.restoring import Exported
    from amem.writing.revising import Change, Revised
    from amem.writing.worker import EnrichReport

#: A-Mem's programs import MemoryNote from here.
__all__ = ["AgenticMemorySystem", "MemoryNote"]


@validated
class AgenticMemorySystem(ScopedMemory):
    """One collection of notes that analyse, link and evolve themselves, and can be found again.

    The first five arguments are A-Mem's; None leaves each to the settings. `directory` is the home that holds the
    collections: without one (and without `settings`) the collection lives in memory and ends with the object.
    `create=False` refuses to make a collection that is not there. `actor` is who the log says it was: ``user``
    (``user:<name>``) for a person, ``agent`` (``agent:<name>``) for a program. `clock`, `embedder`, `analyst` and
    `reranker` replace the real ones; `notify` hears one line when something takes its time or a choice is made.
    ``background=False`` leaves what ``wait=False`` puts off to other processes (``amem work``). ``read_only=True``
    opens a collection that is there and refuses every write to it; what is found is not counted as used either.

    `catalogs` are collections of the home that are searched together with it and never written; into those of `publish`
    its notes may be copied (see `publish`). A catalog that is not there raises CollectionNotFound, one of another
    embedder EmbedderMismatch. `agent` is one of those that ``config.toml`` names, with its collection, catalogs and
    rights; it is the actor then, unless another is given.

    Whatever a method does is done by one of its `parts`; as a `ScopedMemory` it is that of everyone's notes.

    Safe to use from many threads. Close it, or use it in a ``with`` statement.
    """

    def __init__(
        self,
        model_name: str | None = None,
        llm_backend: str | None = None,
        llm_model: str | None = None,
        evo_threshold: int | None = None,
        api_key: str | None = None,
        *,
        directory: str | os.PathLike[str] | None = None,
        collection: str | None = None,
        agent: str | None = None,
        catalogs: Sequence[str] | None = None,
        publish: Sequence[str] | None = None,
        settings: Settings | None = None,
        actor: str | None = None,
        create: bool = True,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        analyst: Analyst | None = None,
        reranker: Reranker | None = None,
        notify: Callable[[str], None] | None = None,
        background: bool = True,
        read_only: bool = False,
    ) -> None:
        overrides = {
            "embed_model": model_name,
            "llm_backend": llm_backend,
            "llm_model": llm_model,
            "evo_threshold": evo_threshold,
            "api_key": api_key,
            "collection": collection,
            "agent": agent,
            "catalogs": catalogs,
            "publish": publish,
        }
        chosen = _settings(settings, directory, overrides)
        folder = None
        if directory is not None or settings is not None:
            locate = folder_of if create and not read_only else existing_folder
            folder = locate(chosen.home, chosen.collection)
        if folder is not None and not read_only:
            from amem.forks.fork import sweep

            sweep(chosen.home)
        given = Given(clock, embedder, analyst, reranker, notify, background, read_only)
        named = f"agent:{chosen.agent}" if chosen.agent else "user"
        self._hold(Parts(chosen, folder, given), actor or named, EVERYONE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Call off what is being done, write what caches are worth keeping, close every file. Twice is fine.

        What was not done waits in the collection: nothing is lost, and this takes no longer than two seconds.
        """
        self._parts.close()

    @property
    def parts(self) -> Parts:
        """The services behind these methods, for programs that build on amem's rooms (see `amem.wiring`)."""
        return self._parts

    def vault(self, folder: str | os.PathLike[str]) -> Vault:
        """A folder of Markdown files, such as an Obsidian vault, to be kept in step with the notes: see its `sync`."""
        from pathlib import Path

        from amem.vault.sync import Vault

        return Vault(self, self._store, self._clock, Path(folder), self._parts.dense.fed_later)

    # -- in ------------------------------------------------------------------------------------------------------------

    def add_notes(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        *,
        cause: str = "",
        action: str = "add",
        parent: int | None = None,
        wait: bool = True,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Remember many notes as one operation, embedded and committed in batches; receipts in order.

        One item that cannot be used raises before anything is stored, unless `on_refused` takes it (position, error)
        and it is left out. With a model all notes are stored first; then several are analysed at a time (setting
        ``llm_parallel``), and linked and evolved in order; `enrich` goes on where that was interrupted. `wait` is that
        of `add`. `progress` hears (done, of how many) after each batch, with a model after each note. What `at_last`
        does is committed with each batch; it is given the transaction and the batch's receipts. With `parent` this is a
        part of that operation, and undone with it.
        """
        how: dict[str, Any] = {"parent": parent, "progress": progress, "on_refused": on_refused, "at_last": at_last}
        return self._parts.writer.add(items, actor=self.actor, cause=cause, action=action, wait=wait, **how)

    def restore_notes(
        self,
        items: Sequence[Exported],
        *,
        cause: str = "",
        parent: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Put notes of an export back as they were, with their histories; `import` does so with an empty collection.

        Nothing is analysed or linked anew. The arguments are those of `add_notes`. Raises EmbedderMismatch.
        """
        return self._parts.restorer.restore(
            items,
            actor=self.actor,
            cause=cause,
            parent=parent,
            progress=progress,
            on_refused=on_refused,
            at_last=at_last,
        )

    def revise(
        self,
        changes: Sequence[Change],
        hidden: Sequence[str] = (),
        *,
        action: str = "update",
        cause: str = "",
        parent: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        at_last: Callable[[Session, int], None] | None = None,
    ) -> Revised:
        """Bring many notes up to date and hide others, as one operation in one commit; `import` does so.

        Those with another text are analysed again; `progress` hears (done, of how many). What `at_last` does with the
        transaction and the operation is committed with it. Raises EmbedderMismatch.
        """
        return self._parts.reviser.revise(
            changes,
            hidden,
            actor=self.actor,
            action=action,
            cause=cause,
            parent=parent,
            progress=progress,
            at_last=at_last,
        )

    def settle(self, debts: Debts, *, cause: str = "") -> int:
        """Pay what an import owes its stored notes (links, old standing), as one operation; returns how many links."""

        from amem.interop.settle import settle

        with self._store.write() as session:
            return settle(session, debts, actor=self.actor, cause=cause)

    def rename_tag(self, old: str, new: str) -> int:
        """Rename a tag everywhere, merging it into `new` where that is in use; returns how many notes changed."""
        return self._parts.editor.rename_tag(old, new, self.actor)

    def analyze_content(self, content: str) -> dict[str, Any]:
        """What the analyst makes of a text, as A-Mem's dictionary; stores nothing. Raises as `add` does."""
        return self._parts.writer.analyze(content, self._parts.models.analyst())

    def process_memory(self, note: MemoryNote) -> tuple[bool, MemoryNote]:
        """A-Mem's ``process_memory``: evolve with a note; (whether anything evolved, the note as it is now).

        A note that is not stored yet is stored first.
        """

        from amem.writing.pipeline import as_new

        if self.read(note.id) is None:
            receipt = self._parts.writer.add([as_new(note)], actor=self.actor)[0]
        else:
            receipt = self._parts.enricher.enrich(note.id)
        stored = self.read(receipt.id)
        assert stored is not None
        return bool(receipt.links or receipt.evolved), stored

    # -- what waits ----------------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> bool:
        """Until the background has tried all that ``wait=False`` left to it; False when `timeout` seconds pass first.

        What failed is ``degraded`` then and waits for `enrich`.
        """
        return self._parts.worker.wait(timeout)

    def work(self, *, once: bool = False, poll: float = 1.0, heard: Callable[[Receipt], None] | None = None) -> None:
        """Do what waits in the collection, whoever left it, looking for more every `poll` seconds until it is closed.

        With `once` only until nothing waits. `heard` is told of each note. Any number of processes may do this. Runs
        maintenance that is due when nobody has written for a while (settings ``nightly`` and ``idle_minutes``).
        """
        self._parts.work(once=once, poll=poll, heard=heard)

    def turns_waiting(self) -> int:
        """How many turns of chats are not learnt from yet; at ``chat_learning=night`` they wait for the day's end."""
        return self._parts.backlog.turns_waiting()

    def enrich(
        self,
        limit: int | None = None,
        *,
        upgrade: bool = False,
        progress: Callable[[int, int], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> EnrichReport:
        """Finish notes whose analysis waits or failed, and learn from conversations and chats that wait for it.

        With ``chat_learning=night`` from today's turns, too, which a worker (`work`) leaves until the day is over.
        Safe beside other workers doing the same. With `upgrade` have a model redo the active notes that the offline
        rules analysed instead, but for what a person filled in or edited: an operation for each, so that each can be
        undone. Stopped half-way, it goes on where it was; setting `cancelled` stops it after the note it is at. Raises
        InvalidInput when there is no model for that.
        """
        if upgrade:
            return self._parts.upgrader.work(limit=limit, cancelled=cancelled, progress=progress)
        return self._parts.backlog.work(limit, cancelled=cancelled, progress=progress)

    # -- lists ---------------------------------------------------------------------------------------------------------

    @property
    def memories(self) -> Memories:
        """A live mapping of id to note, as A-Mem's programs read it; changes go through `update` and `delete`."""

        from amem.collection_retriever import Memories

        return Memories(self._store)

    def count(self, filter: Filter | None = None) -> int:
        """How many notes pass the filter; without one, all that are not deleted."""
        with self._store.read() as session:
            return session.notes.count(None if filter is None else filter.in_zone(self._zone))

    def pulse(self) -> tuple[int, int]:
        """Two numbers, one of which grows with every write to the collection, whichever process makes it.

        The first counts changes, runs of maintenance (which may have found nothing to change) and turns of chats (which
        may have taught nothing), the second is the newest operation. Quick to ask for.
        """
        with self._store.read() as session:
            steps = session.runs.steps() + session.chats.steps()
            return session.counter + steps, session.operations.count()

    def shelf(self, filter: Filter | None = None, *, starting: str = "", order: Order = "time") -> Shelf:
        """The order of all notes that pass the filter, to be read with `cards`; its length is how many there are.

        `starting` narrows it to notes that hold these words, each of which may be unfinished; what has no letter or
        digit in it finds nothing. `order` is time, recorded, strength, recalls or importance, the greatest first, of
        equals the newest. Raises InvalidInput for another.
        """
        return self._parts.note_lists.shelf(filter, starting=starting, order=order)

    def cards(self, shelf: Shelf, start: int, stop: int) -> list[Card]:
        """The notes at these places of a shelf, as they are now; one that was purged since is missing."""
        return self._parts.note_lists.cards(shelf, start, stop)

    def cards_of(self, ids: Sequence[str]) -> dict[str, Card]:
        """The cards of notes by id, those of catalogs and deleted ones too, in the order asked for."""
        found = self._parts.note_lists.cards_of(ids)
        for each in self.catalogs.values():
            found |= each.cards_of([id for id in ids if id not in found])
        return {id: found[id] for id in ids if id in found}

    def place(self, shelf: Shelf, id: str) -> int | None:
        """Where a note stands on a shelf, counted from 0; None when it does not."""
        return self._parts.note_lists.place(shelf, id)

    def today(self) -> date:
        """The day it is, in the collection's time zone."""
        return self._clock.now().astimezone(self._zone).date()

    def scopes_of(self, ids: Sequence[str]) -> dict[str, Scope]:
        """Whose each of these notes is, deleted or not; those that there are."""
        with self._store.read() as session:
            return session.notes.scopes_of(list(ids))

    def surroundings(self, id: str) -> Surroundings:
        """How many links lead from a note and to it, how many sources it has, and who wrote it. Raises NoteNotFound."""
        with self.holder(id)._store.read() as session:
            return session.links.surroundings(id)

    def named(self, names: Sequence[str], inside: str | None = None) -> dict[str, str]:
        """The id of the note that each name means, as ``[[name]]`` has it; names that mean none are left out.

        A name is a title (that of the file a note came from, or a note's first line), an id or the beginning of one.
        `inside` is the id of the note whose text names them: what an import made of its links comes first.
        """

        from amem.storage.links import named

        with self._store.read() as session:
            return named(session, names, inside)

    def notes_of_sources(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these sources that is a note's very text that note, unless it is deleted."""
        with self._store.read() as session:
            return session.sources.notes_of(ids, own=True)

    def notes_titled(self, titles: Sequence[str]) -> dict[str, str]:
        """For each of these titles that the metadata of an active note holds the latest such note."""
        with self._store.read() as session:
            return session.notes.titled(titles, self.within())

    def file_notes(self) -> Sequence[FileNote]:
        """Every note that says which file it came from, deleted ones too, as an import compares them with the files."""

        from amem.storage.whole import file_notes

        with self._store.read() as session:
            return file_notes(session)

    def fade(self, days: float = 0, ids: Sequence[str] | None = None, *, most: int | None = None) -> FadePreview:
        """What ``maintain()`` would move between layers or archive so many days from now, and why, term by term.

        `ids` asks about these notes alone, and tells of those that stay as well. With `most` only the first so many of
        each sort are named, though all are counted: a large collection answers in half the time. Raises NoteNotFound,
        or InvalidInput for days below 0 and for a table of predicates that cannot be read.
        """

        from amem.maintenance.forgetting_preview import foresee

        with self._store.read() as session:
            return foresee(session, self.settings, self._parts.predicates(), days, ids, most=most)

    # -- the log -------------------------------------------------------------------------------------------------------

    def log_order(self, since: datetime | str | None = None, *, actor: str | None = None) -> LogOrder:
        """The order of the whole log, newest first, to be read with `operations`; days are the collection's.

        `since` may be in words: ``2026-03-01``, ``7d``, ``today``. Raises InvalidInput for others.
        """
        with self._store.read() as session:
            return session.operations.order(self._zone, since=self._since(since), actor=actor)

    def operations(self, ids: Sequence[int]) -> list[Operation]:
        """These operations, in this order; those that there are."""
        with self._store.read() as session:
            return session.operations.of([int(id) for id in ids])

    def actors(self, since: datetime | str | None = None) -> dict[str, int]:
        """Everyone who wrote anything since then (as for `log_order`), and how many operations, most first."""
        with self._store.read() as session:
            return session.operations.actors(since=self._since(since))

    def doings(self, operation: int, *, most: int = 50) -> Doings:
        """What one operation did, to no more than `most` notes, links and flags. Raises OperationNotFound."""
        with self._store.read() as session:
            return session.operations.doings(operation, most=most)

    def deeds(self, operation: int, most: int = 1_000) -> list[Deed]:
        """What an operation and all it set off did, note by note in the order it was done: a run of maintenance, say.

        The first `most` of it.
        """
        with self._store.read() as session:
            return session.operations.deeds(operation, limit=most)

    def own_undone(self) -> int | None:
        """The newest undo that this actor began through this open collection and that can be redone."""

        from amem.storage.undo import own_undone

        with self._store.read() as session:
            return own_undone(session, self.actor, self._store.begun)

    # -- looking after it ----------------------------------------------------------------------------------------------

    def consolidate_memories(self) -> int:
        """Bring the index up to date and merge rewordings; returns how many notes had to be embedded.

        Embeds what changed since the last consolidation, by whatever process. Merges what maintenance would merge,
        unless the setting ``nightly`` is off, as one operation that can be undone. Done by itself after every
        ``evo_threshold`` evolutions. Raises EmbedderMismatch and StorageError.
        """
        return self._parts.consolidation.run()

    def maintain_when_quiet(self, cancelled: threading.Event | None = None) -> MaintenanceReport | None:
        """Do what is due, as an assistant or a worker does it with nothing else to do. Raises Cancelled.

        None when nothing is due, another process is at it, somebody wrote or talked less than ``idle_minutes`` ago, or
        the setting ``nightly`` is off.
        """
        return self._parts.maintainer.when_quiet(cancelled)

    def maintenance_due(self) -> str | None:
        """The cycle of maintenance that is due now, the longest one; None when none is."""

        from amem.maintenance.cycle import due

        with self._store.read() as session:
            return due(session, self._zone)

    def propose_shared(self, other: AgenticMemorySystem) -> list[int]:
        """Propose for catalogs what another agent noted alike: the numbers of new reviews, which `accept` publishes.

        Of each catalog that this memory may publish to and the other reads; what it holds is left out. Where both may
        publish, the one whose collection's name comes first proposes.
        """
        from amem.maintenance.shared_notes import propose, same_notes

        made: list[int] = []
        theirs, mine = other.settings, self.settings
        for catalog in mine.publish:
            reads = catalog in (*theirs.catalogs, *theirs.publish) and catalog in self._parts.catalogs
            if not reads or (catalog in theirs.publish and theirs.collection < mine.collection):
                continue
            own = self._parts.collection
            shared = same_notes(own, other.parts.collection)
            there = same_notes(own, self._parts.catalogs[catalog].collection, list(shared))
            whose = other.settings.agent or other.settings.collection
            made += propose(own, {id: shared[id] for id in shared if id not in there}, catalog, whose)
        return made

    def finish_purges(self) -> str:
        """Do what purges still owe: no file holds what was purged then. Returns why it can't be done, '' when it is."""
        return self._parts.purges.finish()

    def health(self) -> Health:
        """How the notes are: what is stale, contradicts, hangs loose, waits; how they grow, and when they are due."""

        from amem.maintenance.health import look

        advice = self._parts.languages.always(first=True)
        return look(self._parts.collection, "" if advice is None else str(advice))

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Check the database, the index, the models and what waits; with `repair`, mend what can be mended."""
        from amem.conversation.rule_file import load_rules
        from amem.maintenance.doctor import examine

        return examine(
            self._parts.collection,
            repair=repair,
            rules=load_rules,
            language=self._parts.languages.always,
            finish_purges=self._parts.purges.finish,
        )

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every note anew with the present model and recipe; returns how many."""

        from amem.maintenance.upkeep import reindex

        return reindex(self._store, self._parts.vectorizer, self.actor, progress=progress)

    def feed_chroma(self, timeout: float = 600.0) -> bool:
        """Have the collection's Chroma folder hold every note now, which the background does in time.

        False where another process keeps the folder, where there is none (in memory, read-only, ``dense_base`` exact),
        and when it takes longer than `timeout` seconds.
        """
        return self._parts.dense.wait_for_chroma(timeout)

    def copy(self, name: str) -> Path:
        """Copy the collection, consistent even while it is written to, to a new one in the same home.

        The copy is a fork: it can be compared and merged, see `fork`. Raises CollectionExists; a collection in memory
        cannot be copied.
        """
        from amem.forks.fork import kept_fork

        return kept_fork(self._store, self.settings.home, name)

    def fork(self, name: str | None = None) -> AgenticMemorySystem:
        """A copy of the collection to try something in, open: ``with memory.fork() as private: ...``.

        Without a name it ends when it is closed; what a killed process leaves is swept later. With one it is a
        collection of the home like any other. `diff` says what each did since, `merge` brings the fork's part back.
        Raises as `copy`.
        """
        from amem.forks.fork import temporary_fork

        given, settings = self._parts.given, self.settings
        if name is not None:
            folder, drop = self.copy(name), None
        else:
            folder, drop = temporary_fork(self._store, settings.home)
            name = f"{settings.collection[:60]}.fork"
        fork = copy_of(self)
        try:
            fork._hold(
                Parts(settings.replaced(collection=name), folder, replace(given, read_only=False), ended=drop),
                self.actor,
                EVERYONE,
            )
        except BaseException:
            if drop is not None:
                drop()
            raise
        return fork

    def diff(self, fork: AgenticMemorySystem | str) -> ForkDiff:
        """What this collection and its fork (open, or by name) did since they were last the same.

        Raises CollectionNotFound, and InvalidInput for a collection that is no fork of this one.
        """
        from amem.forks.diff import diff

        with self._side(fork) as store:
            return diff(self._store, store)

    def merge(self, fork: AgenticMemorySystem | str, strategy: str = "review", *, dry_run: bool = False) -> MergeReport:
        """Bring in what a fork (open, or by name) did since both were last the same, as one operation.

        What only one side changed is taken. What both changed differently is settled by the `strategy` ``ours``,
        ``theirs`` or ``newest``, or waits in the review queue (``review``). A machine's change never takes the place of
        a person's edit: it waits. With `dry_run` nothing is kept. Raises InvalidInput for a collection that is no fork
        of this one, EmbedderMismatch, CollectionNotFound.
        """
        with self._side(fork) as store:
            return self._parts.merger.merge(store, strategy, self.actor, dry_run=dry_run)

    @contextmanager
    def _side(self, fork: AgenticMemorySystem | str) -> Iterator[Store]:
        from amem.storage.store import Store

        if isinstance(fork, AgenticMemorySystem):
            yield fork.parts.store
            return
        with closing(Store(existing_folder(self.settings.home, fork), self._clock, decay=self.settings.decay)) as store:
            yield store

    def backup(self, path: str | os.PathLike[str], *, replace: bool = False) -> Backup:
        """Write the collection to one file, whole even while it is written to, checked, with its SHA-256 beside it.

        `amem.collection_folders.restore_backup` makes a collection of it again. Raises InvalidInput for a file that is
        there (unless to `replace` it), StorageCorrupt when the collection is damaged, StorageFull and StorageReadOnly.
        """
        return self._store.back_up(Path(path), replace=replace)

    def collections(self) -> list[str]:
        """Names of the collections in the home."""
        return collection_names(self.settings.home)

    @property
    def folder(self) -> Path | None:
        """The collection's folder; None in memory."""
        return self._parts.folder

    @property
    def read_only(self) -> bool:
        """True when the collection can be read but not changed."""
        return self._store.read_only

    @property
    def passed_over(self) -> dict[str, StorageCorrupt]:
        """Rows that lists left out since the collection was opened, as they cannot be read, and why."""
        return dict(self._store.passed_over)

    def language_advice(self) -> Advice | None:
        """What to tell the user of the notes' language and the embedding model, once for a collection and model.

        None where that was told before, where nothing was asked or added in such a language, and where all is well.
        """
        return self._parts.advice()

    def survey(self) -> list[tuple[str, str]]:
        """Who reads notes and why, whether they can be reached, and what was spent today: (about, what) by line.

        Asks Ollama, which takes up to a few seconds where something else answers at its address or nothing does.
        """
        return self._parts.models.survey()

    def chat_model(self, settings: Settings | None = None, *, cancelled: threading.Event | None = None) -> ChatModel:
        """The chat model that the collection's settings name, or these; within the day's budget in either case.

        Setting `cancelled` (None: closing the collection) calls it off; a call made while it is set is called off at
        once, and one made after it was cleared is not. Raises InvalidInput with the ``offline`` backend,
        ServiceUnavailable when ``auto`` finds no model.
        """
        models = self._parts.models if cancelled is None else self._parts.models.called_off_by(cancelled)
        return models.chat(settings)

    @property
    def llm_controller(self) -> LLMController:
        """A-Mem's way to the language model the settings name."""
        return self._parts.llm_controller

    @property
    def retriever(self) -> CollectionRetriever:
        """The notes in Chroma, as A-Mem's programs search them."""
        return self._parts.retriever

    @property
    def model_name(self) -> str:
        """Name of the embedding model."""
        return self._parts.vectorizer.embedder.name

    @property
    def evo_cnt(self) -> int:
        """How many notes have evolved something, whatever process added them."""
        return self._parts.consolidation.evolutions.total

    @property
    def evo_threshold(self) -> int:
        """Evolutions between two consolidations."""
        return self.settings.evo_threshold

    def _since(self, since: datetime | str | None) -> datetime | None:
        from amem.language.times import moment_of

        if not isinstance(since, str):
            return since
        return moment_of(since, self._zone, self._clock.now())

    # The whole collection holds every note: whether there is one, the service that is asked says.

    def _own_of(self, ids: Sequence[str]) -> set[str]:
        return set(ids)


def _settings(
    settings: Settings | None, directory: str | os.PathLike[str] | None, overrides: dict[str, Any]
) -> Settings:
    given = {name: value for name, value in overrides.items() if value is not None}
    if settings is None:
        return load_settings(None if directory is None else os.fspath(directory), **given)
    if directory is not None:
        given["home"] = os.fspath(directory)
    if (name := given.pop("agent", None)) is not None:
        return settings.as_agent(name, **given)
    return settings.replaced(**given) if given else settings

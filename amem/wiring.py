"""Opens a collection and makes its services, each when it is first asked for."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Generic, Self, TypeVar, overload

from amem.clock import Clock, SystemClock, zone
from amem.collection_folders import existing_folder
from amem.embedding.embedder_choice import refuse_missing_folder
from amem.errors import CollectionNotFound, EmbedderMismatch, InvalidInput, StorageError
from amem.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from amem.analysts.models import Models, StoreLedger
    from amem.collection import Advice, Collection, LanguageAdvice, StoreFeed, Vectorizer
    from amem.collection_retriever import CollectionRetriever
    from amem.conflict.corrections import Corrector, Reweigher
    from amem.conflict.settling import Settler
    from amem.conversation.ingest import Backlog, Learner
    from amem.forks.merge import Merger
    from amem.index import DenseLeg
    from amem.language.predicates import Predicates
    from amem.llm_controller import LLMController
    from amem.maintenance.consolidation import Consolidation
    from amem.maintenance.maintainer import Maintainer
    from amem.maintenance.phase import MaintenanceReport
    from amem.maintenance.purges import Purges
    from amem.maintenance.topics import Topics
    from amem.note import Receipt
    from amem.protocols import Analyst, Embedder, Reranker
    from amem.retrieval.context import ContextBuilder
    from amem.retrieval.lookups import FactQueries, NoteLists
    from amem.retrieval.recall import JoinedRecall, Recall
    from amem.retrieval.tiers import TierReader
    from amem.settings import Settings
    from amem.storage.usage import Uses
    from amem.writing.edits import Editor
    from amem.writing.enrich import Enricher
    from amem.writing.fields import Canon
    from amem.writing.pipeline import Pipeline, Writer
    from amem.writing.publishing import Publisher
    from amem.writing.reanalysis import Thinker
    from amem.writing.restoring import Restorer
    from amem.writing.revising import Reviser
    from amem.writing.upgrade import Upgrader
    from amem.writing.worker import Worker

Made = TypeVar("Made")
_log = logging.getLogger("amem")
#: Seconds that closing waits for a call which is being called off.
_PATIENCE = 1.5
#: Seconds that closing takes at most; Chroma takes in the last notes in what is left of them.
_CLOSING = 2.0


@dataclass(frozen=True, slots=True)
class Given:
    """What a program puts in the place of the real thing (None: the real one), and how it wants the collection opened.

    `AgenticMemorySystem` says what each means.
    """

    clock: Clock | None = None
    embedder: Embedder | None = None
    analyst: Analyst | None = None
    reranker: Reranker | None = None
    notify: Callable[[str], None] | None = None
    background: bool = True
    read_only: bool = False


class service(Generic[Made]):  # read as a decorator, like property
    """A service of `Parts`, made with its imports when it is first asked for, and once, whatever threads ask.

    `functools.cached_property` holds no lock since Python 3.12.
    """

    def __init__(self, make: Callable[[Parts], Made]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, parts: None, owner: type) -> Self: ...
    @overload
    def __get__(self, parts: Parts, owner: type) -> Made: ...
    def __get__(self, parts: Parts | None, owner: type) -> Self | Made:
        if parts is None:
            return self
        with parts.making:
            if self._name not in vars(parts):
                vars(parts)[self._name] = self._make(parts)
            made: Made = vars(parts)[self._name]
            return made


class Parts:
    """The services of one open collection; `folder` None keeps it in memory.

    The store is opened at once; each service is made when it is first asked for, so that a program imports no more than
    it uses. Closing calls off what is under way, and calls `ended`.
    """

    def __init__(
        self, settings: Settings, folder: Path | None, given: Given, *, ended: Callable[[], None] | None = None
    ) -> None:
        self.clock = given.clock or SystemClock()
        self.settings, self.given, self._ended = settings, given, ended
        self.folder = folder
        self._check_catalogs()  # before a collection is made, that would be left empty
        self.store = Store(folder, self.clock, read_only=given.read_only, decay=settings.decay)
        self.called_off = threading.Event()
        self.making = threading.RLock()
        self._closed = False
        self.catalogs: dict[str, Parts] = {}
        # When first asked for: a table that cannot be read stops what needs it, not the collection from opening.
        self.predicates = cache(self._load_predicates)
        try:
            if given.embedder is None:
                refuse_missing_folder(settings.embed_model)
            self.catalogs = self._opened_catalogs()
        except BaseException:
            self.store.close()
            raise

    @property
    def zone(self) -> tzinfo:
        """That of times given without one."""
        return zone(self.settings.timezone)

    @service
    def vectorizer(self) -> Vectorizer:
        """Makes vectors of texts."""
        from amem.collection import Vectorizer
        from amem.embedding import make_embedder

        settings, given = self.settings, self.given
        embedder = given.embedder or make_embedder(settings, notify=given.notify)
        return Vectorizer(self.store, embedder, settings.embed_recipe, tokens=settings.late_weight > 0)

    @service
    def feed(self) -> StoreFeed:
        """The store as the dense leg sees it."""
        from amem.collection import StoreFeed

        return StoreFeed(self.store)

    @service
    def dense(self) -> DenseLeg:
        """Finds notes by their vectors."""
        from amem.index import DenseLeg

        # A folder that cannot be written to cannot hold a copy in Chroma either.
        base = "exact" if self.store.read_only else self.settings.dense_base
        return DenseLeg(self.feed, folder=self.folder, base=base)

    @service
    def collection(self) -> Collection:
        """What the services share."""
        from amem.collection import Collection

        dense, vectorizer = (lambda: self.dense), (lambda: self.vectorizer)
        return Collection(self.store, dense, vectorizer, self.settings, self.clock, self.predicates, self.folder)

    @service
    def uses(self) -> Uses:
        """Counts what is recalled and opened."""
        from amem.storage.usage import Uses

        return Uses(self.store, self.clock)

    def _load_predicates(self) -> Predicates:
        from amem.language.predicates import load_predicates

        return load_predicates(self.settings.home)

    @service
    def retriever(self) -> CollectionRetriever:
        """The notes in Chroma, as A-Mem's programs search them."""
        from amem.collection_retriever import CollectionRetriever

        return CollectionRetriever(self.store, self.dense, self.feed, self.vectorizer)

    def _check_catalogs(self) -> None:
        """Refuse catalogs that are not there or not searched together. Raises CollectionNotFound, InvalidInput."""
        settings = self.settings
        if settings.catalogs and settings.fusion != "convex":
            raise InvalidInput(
                f"catalogs are searched by convex fusion, not by {settings.fusion}: ranks of two collections say "
                "nothing of each other",
                hint="set fusion to convex, or open the collection without catalogs",
            )
        for name in settings.catalogs:
            self._catalog_folder(name)

    def _opened_catalogs(self) -> dict[str, Parts]:
        """The collections that are searched beside this one, by name, opened to be read with the same embedder."""
        found: dict[str, Parts] = {}
        try:
            for name in dict.fromkeys(self.settings.catalogs):
                found[name] = self._opened(name, read_only=True)
        except BaseException:
            for each in found.values():
                each.close()
            raise
        return found

    @contextmanager
    def _writing(self, catalog: str) -> Iterator[Writer]:
        """What adds notes to a catalog, for as long as it takes."""
        parts = self._opened(catalog, read_only=False)
        try:
            yield parts.writer
        finally:
            parts.close()

    def _catalog_folder(self, catalog: str) -> Path:
        """The folder of another collection of the home. Raises CollectionNotFound and InvalidInput."""
        from amem.forks.fork import archived

        home = self.settings.home
        if catalog == self.settings.collection:
            raise InvalidInput(f"{catalog!r} cannot be its own catalog", hint="name another collection")
        try:
            return existing_folder(home, catalog)
        except CollectionNotFound as error:
            hint = f'amem -c {catalog} add "..." makes it with its first note; amem collections lists those there are'
            if catalog in archived(home):
                hint = f"it is archived: amem collections unarchive {catalog} brings it back"
            raise CollectionNotFound(f"there is no catalog {catalog!r} in {home}", hint=hint) from error

    def _opened(self, catalog: str, *, read_only: bool) -> Parts:
        """Another collection of the home, with this one's embedder, clock and models.

        Raises CollectionNotFound, EmbedderMismatch and InvalidInput.
        """
        settings = self.settings
        folder = self._catalog_folder(catalog)
        given = replace(
            self.given, clock=self.clock, embedder=self.vectorizer.embedder, background=False, read_only=read_only
        )
        alone = settings.replaced(collection=catalog, catalogs=(), publish=(), dense_base="exact")
        parts = Parts(alone, folder, given)
        try:
            parts.vectorizer.check()
        except EmbedderMismatch as error:
            parts.close()
            hint = f"amem -c {catalog} reindex re-embeds the catalog; or take it from the catalogs"
            raise EmbedderMismatch(f"the catalog {catalog!r} cannot be searched: {error}", hint=hint) from error
        except BaseException:
            parts.close()
            raise
        return parts

    # -- models --------------------------------------------------------------------------------------------------------

    @service
    def ledger(self) -> StoreLedger:
        """What the models cost."""
        from amem.analysts.models import StoreLedger

        return StoreLedger(self.store, self.clock, self.zone)

    @service
    def models(self) -> Models:
        """The models that the settings name, each chosen when needed."""
        from amem.analysts.models import Models

        given = self.given
        return Models(self.settings, given.analyst, self.predicates, given.notify, self.ledger, self.called_off)

    @service
    def languages(self) -> LanguageAdvice:
        """Advice on the embedding model where it cannot read the notes' language."""
        from amem.collection import LanguageAdvice

        return LanguageAdvice(self.collection, self.given.notify)

    @service
    def merger(self) -> Merger:
        """What forks are merged by."""
        from amem.forks.merge import Merger

        return Merger(self.collection, self.reweigher)

    def advice(self) -> Advice | None:
        """What there is to say of the notes' language; None where nothing was asked or added since opening."""
        return self.languages.once() if "languages" in vars(self) else None

    @service
    def llm_controller(self) -> LLMController:
        """A-Mem's way to the chat model; making it chooses none yet."""
        from amem.llm_controller import LLMController

        return LLMController.of(self.settings, ledger=self.ledger, cancelled=self.called_off)

    # -- questions -----------------------------------------------------------------------------------------------------

    @service
    def recall(self) -> Recall:
        """Answers questions."""
        from amem.retrieval.recall import Recall

        return Recall(self.collection, reranker=self._reranker, uses=self.uses)

    def _reranker(self, fetch: bool) -> Reranker | None:
        from amem.llm.cross_encoders import find_reranker

        given = self.given
        return given.reranker or find_reranker(self.settings.rerank_model, fetch=fetch, notify=given.notify)

    @service
    def joined_recall(self) -> JoinedRecall:
        """Answers questions from this collection and its catalogs."""
        from amem.retrieval.recall import JoinedRecall

        return JoinedRecall(self.recall, [each.recall for each in self.catalogs.values()])

    @service
    def note_lists(self) -> NoteLists:
        """Counts and lists of any length."""
        from amem.retrieval.lookups import NoteLists

        return NoteLists(self.collection)

    @service
    def facts(self) -> FactQueries:
        """Facts of subjects, and since when they hold."""
        from amem.retrieval.lookups import FactQueries

        return FactQueries(self.collection)

    @service
    def context_builder(self) -> ContextBuilder:
        """Contexts for prompts."""
        from amem.retrieval.context import ContextBuilder

        return ContextBuilder(self.joined_recall, self.store, self.settings, self.predicates)

    @service
    def tiers(self) -> TierReader:
        """A large collection, read from the top."""
        from amem.retrieval.tiers import TierReader

        return TierReader(self.recall, self.store, self.context_builder)

    # -- what is true where notes disagree -----------------------------------------------------------------------------

    @service
    def settler(self) -> Settler:
        """Settles conflicts by what the judges say."""
        from amem.conflict.judges import Judges
        from amem.conflict.settling import Settler
        from amem.llm.cross_encoders import local_entailment

        entailment = cache(partial(local_entailment, self.settings.nli_model))
        return Settler(Judges(self.predicates, self.settings, entailment), self.predicates, self.settings)

    @service
    def reweigher(self) -> Reweigher:
        """Weighs changed notes again."""
        from amem.conflict.corrections import Reweigher

        return Reweigher(self.dense, self.settler, self.settings)

    @service
    def corrector(self) -> Corrector:
        """A person's word on what is so."""
        from amem.conflict.corrections import Corrector

        return Corrector(self.store, self.predicates, self.zone)

    # -- notes on their way in -----------------------------------------------------------------------------------------

    @service
    def worker(self) -> Worker:
        """The thread in the background."""
        from amem.storage.jobs import Owner
        from amem.writing.worker import Worker

        return Worker(lambda: self.backlog.hands(), Owner(), self.called_off, background=self.given.background)

    @service
    def canon(self) -> Canon:
        """The fields of notes by their canonical names."""
        from amem.writing.fields import Canon

        return Canon(self.predicates, self.settings.user_name)

    @service
    def thinker(self) -> Thinker:
        """Analyses notes that are stored."""
        from amem.writing.reanalysis import Thinker

        return Thinker(self.collection, self.models.analyst, self.models.rules, self.canon, self.called_off)

    @service
    def enricher(self) -> Enricher:
        """Finishes the analysis of notes that wait."""
        from amem.writing.enrich import Enricher

        return Enricher(self.collection, self.thinker, self.settler, self.worker, self.models.at_once)

    @service
    def upgrader(self) -> Upgrader:
        """Has a model redo what the rules analysed."""
        from amem.writing.upgrade import Upgrader

        return Upgrader(self.collection, self.thinker, self.settler, self.worker.owner, self.models.at_once)

    @service
    def pipeline(self) -> Pipeline:
        """The steps of adding notes."""
        from amem.writing.pipeline import Pipeline

        # Each when first asked for: a text that is known needs none of them.
        return Pipeline(
            self.collection, lambda: self.enricher, lambda: self.settler, self.canon, lambda: self.models.analyst()
        )

    @service
    def writer(self) -> Writer:
        """Adds notes, and does what follows from that."""
        from amem.writing.pipeline import Writer

        def follow(receipts: Sequence[Receipt], texts: Iterable[str]) -> None:
            self.consolidation.keep_up(receipts)  # which is made, as is the advice, with the first note that is stored
            self.languages.meet(texts)

        return Writer(self.collection, self.pipeline, lambda: self.worker, follow)

    @service
    def publisher(self) -> Publisher:
        """Copies notes into catalogs."""
        from amem.writing.publishing import Publisher

        return Publisher(self.collection, self._writing)

    @service
    def editor(self) -> Editor:
        """Changes by hand."""
        from amem.writing.edits import Editor

        return Editor(self.collection, self.reweigher, self.canon, self.enricher)

    @service
    def reviser(self) -> Reviser:
        """Many changes in one commit."""
        from amem.writing.revising import Reviser

        return Reviser(self.collection, self.reweigher, self.enricher)

    @service
    def restorer(self) -> Restorer:
        """Puts notes of an export back."""
        from amem.writing.restoring import Restorer

        return Restorer(self.collection)

    # -- what runs between times ---------------------------------------------------------------------------------------

    @service
    def topics(self) -> Topics:
        """Pages of topics."""
        from amem.maintenance.topics import Topics

        return Topics(self.collection, self.note_lists, self.reweigher, self.models.analyst)

    @service
    def purges(self) -> Purges:
        """Destroys notes for good."""
        from amem.maintenance.purges import Purges

        return Purges(self.collection, self.reweigher, self.enricher, self.topics, self._sum_up_again)

    @service
    def maintainer(self) -> Maintainer:
        """Runs cycles of maintenance."""
        from amem.maintenance.maintainer import Maintainer

        return Maintainer(self.collection, self.models, self.worker, self.reweigher, self.topics, self.purges)

    @service
    def consolidation(self) -> Consolidation:
        """Keeps up with evolutions."""
        from amem.maintenance.consolidation import Consolidation, EvolutionCount

        # The maintainer is made when there is something to merge, not with the first note.
        def maintain(cycle: str) -> MaintenanceReport:
            return self.maintainer.maintain(cycle)

        evolutions = EvolutionCount(self.store, self.settings.evo_threshold)
        return Consolidation(self.collection, evolutions, self.retriever, maintain, self.given.notify)

    @service
    def learner(self) -> Learner:
        """Learns from conversations."""
        from amem.conversation.ingest import Learner

        return Learner(self.collection, self.pipeline, self.enricher, self.recall, self.models)

    @service
    def backlog(self) -> Backlog:
        """What waits for an analyst, and who works on it."""
        from amem.conversation.ingest import Backlog

        return Backlog(self.collection, self.learner, self.enricher, self.worker, self.topics, self.consolidation)

    def work(self, *, once: bool, poll: float, heard: Callable[[Receipt], None] | None) -> None:
        """Do all that waits, in this thread; unless `once`, also maintenance that is due, until the collection closes.

        `heard` is told of each note that is analysed.
        """
        from amem.maintenance.maintainer import MaintenanceHand
        from amem.writing.worker import Worker

        maintenance = MaintenanceHand(self.maintainer.when_quiet, self.clock, self.given.notify)
        hands = [*self.backlog.hands(heard), *([] if once else [maintenance])]
        Worker(lambda: hands, self.worker.owner, self.called_off).run(once=once, poll=poll)

    def _sum_up_again(self, episodes: Sequence[str], operation: int) -> None:
        from amem.conversation.rule_file import load_rules

        self.learner.sum_up_again(episodes, load_rules(self.settings.home), operation)

    # --------------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Call off what is being done, write what caches are worth keeping, close every file. Twice is fine.

        What was not done waits in the collection: nothing is lost, and this takes no longer than two seconds.
        """
        if self._closed:
            return
        self._closed = True
        self.called_off.set()
        for each in self.catalogs.values():
            each.close()
        with self.making:  # a service that a thread is making now is closed like any other
            made = vars(self).keys()
        until = time.monotonic() + _CLOSING
        try:
            if "worker" in made:
                self.worker.close(_PATIENCE)
                self.worker.give_back(self.store)
            if "consolidation" in made:
                self.consolidation.evolutions.write()
        except StorageError as error:
            _log.warning("what evolved could not be counted: %s", error)
        finally:
            try:
                if "retriever" in made:
                    self.retriever.close()
                if "dense" in made:
                    self.dense.close(max(0.0, until - time.monotonic()))
            finally:
                self.store.close()
                if self._ended is not None:
                    self._ended()

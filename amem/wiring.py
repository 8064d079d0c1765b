"""Opens a collection and makes its services, in the order in which they build on each other."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from amem.analysts.models import Models
from amem.clock import SystemClock
from amem.collection import Collection, StoreFeed, existing_folder
from amem.collection_retriever import CollectionRetriever
from amem.conflict.corrections import Corrector, Reweigher
from amem.conflict.judges import Judges
from amem.conflict.settling import Settler
from amem.errors import CollectionNotFound, EmbedderMismatch, InvalidInput, StorageError
from amem.index import DenseLeg
from amem.language.predicates import load_predicates
from amem.ledger import StoreLedger
from amem.llm.cross_encoders import find_reranker, local_entailment
from amem.maintenance.consolidation import Consolidation
from amem.maintenance.maintainer import Maintainer, NightHand
from amem.maintenance.purges import Purges
from amem.maintenance.topics import Topics
from amem.retrieval.catalogs import JoinedRecall, Searched
from amem.retrieval.fact_queries import FactQueries
from amem.retrieval.languages import LanguageAdvice
from amem.retrieval.note_lists import NoteLists
from amem.retrieval.recall import Recall
from amem.storage.store import Store
from amem.vectorizer import Vectorizer
from amem.writing.edits import Editor
from amem.writing.enrich import Enricher
from amem.writing.fields import Canon
from amem.writing.pipeline import Pipeline
from amem.writing.reanalysis import Thinker
from amem.writing.restoring import Restorer
from amem.writing.revising import Reviser
from amem.writing.upgrade import Upgrader
from amem.writing.worker import Owner, Worker
from amem.writing.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from amem.clock import Clock
    from amem.conversation.backlog import Backlog
    from amem.conversation.ingest import Learner
    from amem.llm_controller import LLMController
    from amem.protocols import Analyst, Embedder, Reranker
    from amem.receipt import Receipt
    from amem.retrieval.context import Placing
    from amem.retrieval.tiers import TierReader
    from amem.settings import Settings
    from amem.writing.publishing import Publisher

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


class Parts:
    """The services of one open collection; `folder` None keeps it in memory.

    What few programs need is made when it is first asked for. Closing calls off what is under way.
    """

    def __init__(self, settings: Settings, folder: Path | None, given: Given) -> None:
        self.clock = given.clock or SystemClock()
        self.store = Store(folder, self.clock, read_only=given.read_only, decay=settings.decay)
        self.called_off = threading.Event()
        self._given = given
        self._closed = False
        self.catalogs: dict[str, Parts] = {}
        try:
            self._wire(settings, folder, given)
        except BaseException:
            self.store.close()
            raise

    def _wire(self, settings: Settings, folder: Path | None, given: Given) -> None:
        from amem.embedding import make_embedder

        # The ground: storage, vectors, models.
        store, clock = self.store, self.clock
        # When first asked for: a table that cannot be read stops what needs it, not the collection from opening.
        predicates = cache(partial(load_predicates, settings.home))
        embedder = given.embedder or make_embedder(settings, notify=given.notify)
        vectorizer = Vectorizer(store, embedder, settings.embed_recipe)
        feed = StoreFeed(store)
        # A folder that cannot be written to cannot hold a copy in Chroma either.
        dense = DenseLeg(feed, folder=folder, base="exact" if store.read_only else settings.dense_base)
        self.predicates, self.dense, self.vectorizer = predicates, dense, vectorizer
        self.collection = Collection(store, dense, vectorizer, settings, clock, predicates, folder)
        self.retriever = CollectionRetriever(store, dense, feed, vectorizer)
        self.languages = LanguageAdvice(self.collection, given.notify)
        self.ledger = StoreLedger(store, clock, self.collection.zone)
        self.models = Models(settings, given.analyst, predicates, given.notify, self.ledger, self.called_off)

        # Questions.
        def reranker(fetch: bool) -> Reranker | None:
            return given.reranker or find_reranker(settings.rerank_model, fetch=fetch, notify=given.notify)

        self.recall = Recall(self.collection, reranker=reranker)
        self.catalogs = self._opened_catalogs()
        own, others = Searched(settings.collection, self.recall, store), self.catalogs.items()
        self.joined_recall = JoinedRecall(own, [Searched(name, each.recall, each.store) for name, each in others])
        self.note_lists = NoteLists(self.collection)
        self.facts = FactQueries(self.collection)

        # Notes on their way in, and what is true where they disagree.
        judges = Judges(predicates, settings, cache(partial(local_entailment, settings.nli_model)))
        self.settler = Settler(judges, predicates, settings)
        self.reweigher = Reweigher(dense, self.settler, settings)
        self.corrector = Corrector(store, predicates, self.collection.zone)
        self.canon = Canon(predicates, settings.user_name)
        models, canon, off = self.models, self.canon, self.called_off
        thinker = Thinker(self.collection, models.analyst, models.rules, canon, off)
        self.worker = Worker(lambda: self.backlog.hands(), Owner(), off, background=given.background)
        self.enricher = Enricher(self.collection, thinker, self.settler, self.worker, models.at_once)
        self.upgrader = Upgrader(self.collection, thinker, self.settler, self.worker.owner, models.at_once)
        self.pipeline = Pipeline(self.collection, self.enricher, self.settler, canon, models.analyst)
        self.editor = Editor(self.collection, self.reweigher, canon, self.enricher)
        self.reviser = Reviser(self.collection, self.reweigher, self.enricher)
        self.restorer = Restorer(self.collection)

        # What runs between times.
        self.topics = Topics(self.collection, self.note_lists, self.reweigher, models.analyst)
        self.purges = Purges(self.collection, self.reweigher, self.enricher, self.topics, self._sum_up_again)
        self.maintainer = Maintainer(self.collection, models, self.worker, self.reweigher, self.topics, self.purges)
        self.consolidation = Consolidation(self.collection, self.retriever, self.maintainer.maintain, given.notify)
        keep_up = self.consolidation.keep_up
        self.writer = Writer(self.collection, self.pipeline, self.worker, keep_up, self.languages.meet)

    def _opened_catalogs(self) -> dict[str, Parts]:
        """The collections that are searched beside this one, by name, opened to be read with the same embedder."""
        settings = self.collection.settings
        if settings.catalogs and settings.fusion != "convex":
            raise InvalidInput(
                f"catalogs are searched by convex fusion, not by {settings.fusion}: ranks of two collections say "
                "nothing of each other",
                hint="set fusion to convex, or open the collection without catalogs",
            )
        found: dict[str, Parts] = {}
        try:
            for name in dict.fromkeys(settings.catalogs):
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

    def _opened(self, catalog: str, *, read_only: bool) -> Parts:
        """Another collection of the home, with this one's embedder, clock and models.

        Raises CollectionNotFound, EmbedderMismatch and InvalidInput.
        """
        settings = self.collection.settings
        if catalog == settings.collection:
            raise InvalidInput(f"{catalog!r} cannot be its own catalog", hint="name another collection")
        try:
            folder = existing_folder(settings.home, catalog)
        except CollectionNotFound as error:
            hint = f'amem -c {catalog} add "..." makes it with its first note; amem collections lists those there are'
            raise CollectionNotFound(f"there is no catalog {catalog!r} in {settings.home}", hint=hint) from error
        given = replace(
            self._given, clock=self.clock, embedder=self.vectorizer.embedder, background=False, read_only=read_only
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

    # -- made when first asked for ---------------------------------------------------------------------------------

    @cached_property
    def learner(self) -> Learner:
        """What learns from conversations: a program that opens a collection to read it learns nothing."""
        from amem.conversation.ingest import Learner

        return Learner(self.collection, self.pipeline, self.enricher, self.recall, self.models)

    @cached_property
    def backlog(self) -> Backlog:
        """What waits for an analyst, and who works on it."""
        from amem.conversation.backlog import Backlog

        return Backlog(self.collection, self.learner, self.enricher, self.worker, self.topics, self.consolidation)

    @cached_property
    def publisher(self) -> Publisher:
        """Copies notes into catalogs."""
        from amem.writing.publishing import Publisher

        return Publisher(self.collection, self._writing)

    @cached_property
    def placing(self) -> Placing:
        """Contexts for prompts."""
        from amem.retrieval.context import Placing

        return Placing(self.joined_recall, self.store, self.collection.settings, self.predicates)

    @cached_property
    def tiers(self) -> TierReader:
        """A large collection, read from the top."""
        from amem.retrieval.tiers import TierReader

        return TierReader(self.recall, self.store, self.placing)

    @cached_property
    def llm_controller(self) -> LLMController:
        """A-Mem's way to the chat model; making it chooses none yet."""
        from amem.llm_controller import LLMController

        return LLMController.of(self.collection.settings, ledger=self.ledger, cancelled=self.called_off)

    def work(self, *, once: bool, poll: float, heard: Callable[[Receipt], None] | None) -> None:
        """Do all that waits, in this thread; unless `once`, also maintenance that is due, until the collection closes.

        `heard` is told of each note that is analysed.
        """
        night = NightHand(self.maintainer.when_quiet, self.clock, self._given.notify)
        hands = [*self.backlog.hands(heard), *([] if once else [night])]
        Worker(lambda: hands, self.worker.owner, self.called_off).run(once=once, poll=poll)

    def _sum_up_again(self, episodes: Sequence[str], operation: int) -> None:
        from amem.conversation.rule_file import load_rules

        self.learner.sum_up_again(episodes, load_rules(self.collection.settings.home), operation)

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
        until = time.monotonic() + _CLOSING
        try:
            self.worker.close(_PATIENCE)
            self.enricher.give_back()
            self.consolidation.evolutions.write()
        except StorageError as error:
            _log.warning("what evolved could not be counted: %s", error)
        finally:
            try:
                self.retriever.close()
                self.dense.close(max(0.0, until - time.monotonic()))
            finally:
                self.store.close()

"""Opens a collection and wires its rooms together: storage, index, embedding, models, writing, retrieval, learning."""

from __future__ import annotations

import logging
import os
import threading
import time
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from amem.border import bordered
from amem.clock import SystemClock, zone
from amem.collection import StoreFeed, existing_folder, folder_of
from amem.collection_retriever import CollectionRetriever
from amem.errors import StorageError
from amem.index import DenseLeg
from amem.language.predicates import load_predicates
from amem.ledger import StoreLedger
from amem.llm.cross_encoders import find_reranker, local_entailment
from amem.maintenance.upkeep import embed_missing
from amem.retrieval.recall import Recall
from amem.settings import load_settings
from amem.storage.store import Store
from amem.system.evolutions import EvolutionCount
from amem.system.languages import LanguageAdvice
from amem.system.models import Models
from amem.vectorizer import Vectorizer
from amem.writing.conflict.corrections import Corrector, Reweigher
from amem.writing.conflict.judges import Judges
from amem.writing.conflict.settling import Settler
from amem.writing.edits import Editor
from amem.writing.enrich import Enricher
from amem.writing.fields import Canon
from amem.writing.pipeline import Pipeline
from amem.writing.reanalysis import Thinker
from amem.writing.restoring import Restorer
from amem.writing.revising import Reviser
from amem.writing.upgrade import Upgrader
from amem.writing.worker import JobHand, Owner, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from amem.clock import Clock
    from amem.conversation.chat_learning import ChatLearning
    from amem.conversation.ingest import Learner
    from amem.language.predicates import Predicates
    from amem.protocols import Analyst, Embedder, Reranker
    from amem.receipt import Receipt
    from amem.settings import Settings
    from amem.writing.worker import Hand

_log = logging.getLogger("amem")
#: Seconds that closing waits for a call which is being called off.
_PATIENCE = 1.5
#: Seconds that closing takes at most; Chroma takes in the last notes in what is left of them.
_CLOSING = 2.0


@bordered
class Wiring:
    """An open collection. `AgenticMemorySystem`, which it is the ground of, says what the arguments mean.

    What is handed to its public methods, and to those of the classes made of it, is checked at the border.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        bordered(cls)

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
        settings: Settings | None = None,
        actor: str = "user",
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
        }
        self.settings = _settings(settings, directory, overrides)
        self.actor = actor
        self._clock = clock or SystemClock()
        self._notify = notify
        self._folder = self._locate(in_memory=directory is None and settings is None, create=create and not read_only)
        self._closed = False
        self._called_off = threading.Event()
        self._background = background
        self._store = Store(self._folder, self._clock, read_only=read_only)
        self._evolutions = EvolutionCount(self._store, self.settings.evo_threshold)
        try:
            self._wire(embedder, analyst, reranker)
        except BaseException:
            self._store.close()
            raise

    def _locate(self, *, in_memory: bool, create: bool) -> Path | None:
        if in_memory:
            return None
        locate = folder_of if create else existing_folder
        return locate(self.settings.home, self.settings.collection)

    def _wire(self, embedder: Embedder | None, analyst: Analyst | None, reranker: Reranker | None) -> None:
        from amem.embedding import make_embedder

        settings, store = self.settings, self._store
        # When first asked for: a table that cannot be read stops what needs it, not the collection from opening.
        self._predicates: Callable[[], Predicates] = cache(partial(load_predicates, settings.home))
        made = embedder or make_embedder(settings, notify=self._notify)
        self._vectorizer = Vectorizer(store, made, settings.embed_recipe)
        feed = StoreFeed(store)
        # A folder that cannot be written to cannot hold a copy in Chroma either.
        base = "exact" if store.read_only else settings.dense_base
        self._dense = DenseLeg(feed, folder=self._folder, base=base)
        self._retriever = CollectionRetriever(store, self._dense, feed, self._vectorizer)
        self._recall = Recall(
            store,
            self._dense,
            made,
            settings,
            self._clock,
            predicates=self._predicates,
            reranker=lambda fetch: reranker or find_reranker(settings.rerank_model, fetch=fetch, notify=self._notify),
        )
        self._languages = LanguageAdvice(store, made, settings)
        ledger = StoreLedger(store, self._clock, zone(settings.timezone))
        self._models = models = Models(settings, analyst, self._predicates, self._notify, ledger, self._called_off)
        self._analyst = models.analyst
        self._owner = Owner()
        judges = Judges(self._predicates, settings, cache(partial(local_entailment, settings.nli_model)))
        self._settler = Settler(judges, self._predicates, settings)
        self._canon = canon = Canon(self._predicates, settings.user_name)
        thinker = Thinker(
            store,
            self._dense,
            self._vectorizer,
            models.analyst,
            models.rules,
            canon,
            settings,
            self._called_off,
        )
        ground = (store, thinker, self._vectorizer, self._settler, settings, self._owner, models.at_once)
        self._enricher = Enricher(*ground)
        self._upgrader = Upgrader(*ground, self._analyst)
        self._learner = cache(self._make_learner)
        self._worker = self._working()
        self._pipeline = Pipeline(
            store,
            self._dense,
            self._vectorizer,
            self._enricher,
            self._settler,
            canon,
            self._analyst,
            settings,
            self._clock,
        )
        self._reweigher = Reweigher(self._dense, self._settler, settings)
        self._editor = Editor(store, self._vectorizer, self._reweigher, canon, settings)
        self._restorer = Restorer(store, self._vectorizer, settings)
        self._reviser = Reviser(store, self._vectorizer, self._reweigher, settings)
        self._corrector = Corrector(store, self._predicates, zone(settings.timezone))

    def _working(self, heard: Callable[[Receipt], None] | None = None, after: Sequence[Hand] = ()) -> Worker:
        """A worker on all that may wait in the collection, and then on what comes `after`.

        `heard` is told of each note that is analysed.
        """

        def afterwards() -> None:
            if self.settings.embed_recipe != "content":  # else nothing that is embedded has changed
                embed_missing(self._store, self._vectorizer)

        def analysed(receipt: Receipt) -> None:
            # Whoever adds a note next consolidates, where that has become due.
            self._evolutions.count(int(bool(receipt.links or receipt.evolved)))
            if heard is not None:
                heard(receipt)

        def hands() -> list[Hand]:
            learning = JobHand(self._learner().work, self._clock)
            enriching = JobHand(partial(self._enricher.work, heard=analysed), self._clock, afterwards=afterwards)
            return [self._chats(), learning, enriching, *after]

        return Worker(hands, self._owner, self._called_off)

    def _chats(self) -> ChatLearning:
        from amem.conversation.chat_learning import ChatLearning

        return ChatLearning(self._store, self._clock, self._learner(), self.settings, owner=self._owner)

    def _make_learner(self) -> Learner:
        # Here, since whoever opens a collection to read it learns nothing.
        from amem.conversation.ingest import Learner

        return Learner(
            self._store,
            self._pipeline,
            self._enricher,
            self._vectorizer,
            self._recall,
            self._analyst,
            self._models.rules,
            self._predicates,
            self.settings,
            self._clock,
            self._owner,
        )

    def _hear(self, texts: Iterable[str]) -> None:
        """Take note of what the collection is asked and told in, and say it where the model cannot read that."""
        self._languages.meet(texts)
        if self._notify is not None and (advice := self._languages.once()) is not None:
            self._notify(str(advice))

    def close(self) -> None:
        """Call off what is being done, write what caches are worth keeping, close every file. Twice is fine.

        What was not done waits in the collection: nothing is lost, and this takes no longer than two seconds.
        """
        if self._closed:
            return
        self._closed = True
        self._called_off.set()
        until = time.monotonic() + _CLOSING
        try:
            self._worker.close(_PATIENCE)
            self._enricher.give_back()
            self._evolutions.write()
        except StorageError as error:
            _log.warning("what evolved could not be counted: %s", error)
        finally:
            try:
                self._retriever.close()
                self._dense.close(max(0.0, until - time.monotonic()))
            finally:
                self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _settings(
    settings: Settings | None, directory: str | os.PathLike[str] | None, overrides: dict[str, Any]
) -> Settings:
    given = {name: value for name, value in overrides.items() if value is not None}
    if settings is None:
        return load_settings(None if directory is None else os.fspath(directory), **given)
    if directory is not None:
        given["home"] = os.fspath(directory)
    return settings.replaced(**given) if given else settings

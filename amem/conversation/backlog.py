"""What waits for an analyst: turns of chats, episodes, notes. New conversations join it, or are learnt from at once."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.conversation.chat_learning import ChatLearning
from amem.errors import AmemError
from amem.writing.worker import EnrichReport, JobHand

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from amem.collection import Collection
    from amem.conversation.ingest import Learner, RememberReport
    from amem.conversation.reply import Learnt
    from amem.maintenance.consolidation import Consolidation
    from amem.maintenance.topics import Topics
    from amem.note import Message, Receipt
    from amem.writing.enrich import Enricher
    from amem.writing.worker import Hand, Worker

_log = logging.getLogger("amem")


class Backlog:
    """Learns from conversations, chats and notes of one collection, now or with `worker` in the background.

    `topics` and `consolidation` take in what was learnt.
    """

    def __init__(
        self,
        collection: Collection,
        learner: Learner,
        enricher: Enricher,
        worker: Worker,
        topics: Topics,
        consolidation: Consolidation,
    ) -> None:
        self._collection = collection
        self._vectorizer = collection.vectorizer
        self._learner = learner
        self._enricher = enricher
        self._worker = worker
        self._topics = topics
        self._consolidation = consolidation

    def remember(
        self, messages: Sequence[Message | Mapping[str, Any]], *, actor: str, wait: bool | None, **how: Any
    ) -> RememberReport:
        """Store what was said and learn from it; `how` as for `Learner.remember`.

        Without `wait` learning is left to the background, with None only what a model would have to be waited for.
        """
        report = self._learner.remember(
            messages,
            actor=actor,
            wait=self._enricher.is_quick if wait is None else wait,
            cancelled=self._worker.cancelled,
            **how,
        )
        if report.waiting:
            self._worker.wake()
        self._consolidation.keep_up(report.learnt)
        try:
            self._topics.take_in([receipt.id for receipt in report.learnt], report.operation)
        except AmemError as error:  # what was said is stored and learnt; maintenance makes up for it
            _log.warning("declared topics have not taken in what was learnt yet: %s", error)
        return report

    def turns_waiting(self) -> int:
        """How many turns of chats are not learnt from yet."""
        return self._chats().waiting()

    def work(
        self,
        limit: int | None = None,
        *,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """Do up to `limit` of what waits, here and now, today's turns of chats included."""
        chats = self._chats()
        learnt = chats.work(limit=limit, today=True, cancelled=cancelled, progress=progress)
        report = _of_chats(learnt, chats.waiting())
        for worker in (self._learner, self._enricher):
            left = None if limit is None else max(0, limit - report.done - report.failed)
            report += worker.work(limit=left, cancelled=cancelled, progress=progress)
        self._vectorizer.embed_missing()
        return report

    def hands(self, heard: Callable[[Receipt], None] | None = None) -> list[Hand]:
        """Hands of a worker for all that waits; `heard` is told of each note that is analysed."""

        def afterwards() -> None:
            if self._vectorizer.reads(["context", "tags"]):  # else nothing that is embedded has changed
                self._vectorizer.embed_missing()

        def analysed(receipt: Receipt) -> None:
            # Whoever adds a note next consolidates, where that has become due.
            self._consolidation.count([receipt])
            if heard is not None:
                heard(receipt)

        clock = self._collection.clock
        learning = JobHand(self._learner.work, clock)
        enriching = JobHand(partial(self._enricher.work, heard=analysed), clock, afterwards=afterwards)
        return [self._chats(), learning, enriching]

    def _chats(self) -> ChatLearning:
        store, clock, settings = self._collection.store, self._collection.clock, self._collection.settings
        return ChatLearning(store, clock, self._learner, settings, owner=self._worker.owner)


def _of_chats(learnt: Learnt, waiting: int) -> EnrichReport:
    """What learning from chats did, in turns."""
    failed = learnt.waiting + (learnt.turns if learnt.degraded else 0)
    errors = (f"chats: {learnt.error}",) if learnt.error else ()
    return EnrichReport(0 if learnt.degraded else learnt.turns, failed, waiting, errors)

"""The language models of one open collection, each chosen when it is first asked for, and what they cost by day."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from amem.analysts.choose import served_here, survey, told
from amem.errors import StorageError
from amem.note import Cost

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    from amem.clock import Clock
    from amem.language.predicates import Predicates
    from amem.llm.answering import Answerer, Orderer, Sufficer
    from amem.llm.guarded import Ledger
    from amem.protocols import Analyst, ChatModel
    from amem.settings import Settings
    from amem.storage.store import Store


#: Notes analysed at the same time by a model on another machine.
_REMOTE = 4


class Models:
    """What the settings name; `analyst` stands in for the one that they would give.

    All keep to the day's budget in `ledger`, and setting `cancelled` calls them off.
    """

    def __init__(
        self,
        settings: Settings,
        analyst: Analyst | None,
        predicates: Callable[[], Predicates],
        notify: Callable[[str], None] | None,
        ledger: Ledger,
        cancelled: threading.Event,
    ) -> None:
        self._settings = settings
        self._given = analyst
        self._predicates = predicates
        self._notify = notify
        self._ledger = ledger
        self._cancelled = cancelled
        self._choosing = threading.Lock()
        self._analyst: Analyst | None = None
        self._chat: ChatModel | None = None

    def called_off_by(self, cancelled: threading.Event) -> Models:
        """The same models for work that is called off by itself, while the collection stays open."""
        return Models(self._settings, self._given, self._predicates, None, self._ledger, cancelled)

    def analyst(self) -> Analyst:
        """What reads notes: a language model, or the offline rules."""
        if self._given is not None:
            return self._given
        with self._choosing:
            if self._analyst is None:
                from amem.analysts.choose import make_analyst

                self._analyst = make_analyst(
                    self._settings,
                    self._predicates,
                    notify=self._notify,
                    ledger=self._ledger,
                    cancelled=self._cancelled,
                )
            return self._analyst

    def rules(self) -> Analyst:
        """The offline rules, whatever the settings name: they stand in for a model that is not there."""
        from amem.analysts.rules.rule_analyst import OfflineAnalyst

        return OfflineAnalyst(self._predicates)

    def chat(self, settings: Settings | None = None) -> ChatModel:
        """The chat model; with `settings` one of its own, made anew. Raises InvalidInput, ServiceUnavailable."""
        if settings is not None:
            return self._make_chat(settings)
        with self._choosing:
            if self._chat is None:
                self._chat = self._make_chat(self._settings)
            return self._chat

    def _make_chat(self, settings: Settings) -> ChatModel:
        from amem.analysts.choose import make_chat

        # Whoever heard who analyses notes need not hear that it also answers.
        notify = self._notify if self._analyst is None else None
        return make_chat(settings, notify=notify, ledger=self._ledger, cancelled=self._cancelled)

    def answerer(self) -> Answerer:
        """What answers a question from notes, with the chat model. Raises as `chat` does."""
        from amem.llm.answering import Answerer

        return Answerer(self.chat(), self._settings.home / "prompts")

    def orderer(self) -> Orderer:
        """What picks the notes that help to answer. Raises as `chat` does."""
        from amem.llm.answering import Orderer

        return Orderer(self.chat(), self._settings.home / "prompts")

    def sufficer(self) -> Sufficer:
        """What says whether the notes read so far suffice. Raises as `chat` does."""
        from amem.llm.answering import Sufficer

        return Sufficer(self.chat(), self._settings.home / "prompts")

    def survey(self) -> list[tuple[str, str]]:
        """Who reads notes and why, whether they can be reached, and what was spent today: (about, what) by line."""
        return told(survey(self._settings), self._settings, self._ledger.spent_today())

    def at_once(self) -> int:
        """How many notes may be analysed at the same time: a model on this machine has one to think with."""
        if self._settings.llm_parallel:
            return self._settings.llm_parallel
        analyst = self.analyst()
        if self._given is not None:
            return int(getattr(analyst, "parallel", 1))
        return 1 if analyst.local or served_here(analyst.name, self._settings) else _REMOTE


_log = logging.getLogger(__name__)
#: Seconds that an answer waits for its cost to be written down, while others write; else the next entry holds it too.
_PATIENCE = 2.0


def day_of(moment: datetime, zone: tzinfo) -> str:
    """The day that what is spent at that time belongs to."""
    return moment.astimezone(zone).date().isoformat()


class StoreLedger:
    """The ledger of one collection; many processes may keep one each. Days begin at midnight in `zone`.

    An answer that has been paid for must not be lost because its cost could not be written down (a full disk, a
    read-only folder): that is logged, still counts in this process, and is written with the next entry that can be.
    """

    def __init__(self, store: Store, clock: Clock, zone: tzinfo) -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._lock = threading.Lock()
        self._unwritten: dict[tuple[str, str], Cost] = {}

    @property
    def today(self) -> str:
        """The day that is counted now, as ``2026-03-01``."""
        return day_of(self._clock.now(), self._zone)

    def spent_today(self) -> int:
        """Tokens read and written today, by every process."""
        today = self.today
        with self._lock:
            here = sum(
                spent.tokens_in + spent.tokens_out for (day, _), spent in self._unwritten.items() if day == today
            )
            with self._store.read() as session:
                return session.spending.of(today) + here

    def add(self, model: str, spent: Cost) -> None:
        """Count what calls to a model cost today."""
        key = (self.today, model)
        with self._lock:
            entries = self._unwritten | {key: self._unwritten.get(key, Cost()) + spent}
            try:
                with self._store.write(wait=_PATIENCE) as session:
                    for (day, name), each in entries.items():
                        session.spending.add(
                            day, name, calls=each.calls, tokens_in=each.tokens_in, tokens_out=each.tokens_out
                        )
            except StorageError as error:
                self._unwritten = entries
                _log.warning("what %s cost could not be written down: %s", model, error)
            else:
                self._unwritten = {}

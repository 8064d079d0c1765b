"""Learning from chats: after each turn in the background, or over a day's turns at once.

Which turns wait is kept in the database, so that a killed process forgets nothing: the next `learn_waiting` (or
``amem work``) takes them up. Turns are leased while they are learnt from, so that two processes never learn one twice.
"""

from __future__ import annotations

import logging
import os
import queue
import socket
import threading
import time
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conversation.reply import Learnt
from amem.conversation.segment import GAP, segment
from amem.errors import AmemError, Cancelled
from amem.message import Message, Role
from amem.storage.chats import Learning, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from amem.clock import Clock
    from amem.conversation.ports import Learner, Remembered
    from amem.settings import Settings
    from amem.storage import Store
    from amem.storage.chats import Turn

_log = logging.getLogger(__name__)

#: How long learning from one turn may take before somebody else may take it up: a slow model's worth of calls.
_LEASE_SECONDS = 900.0
#: Messages before a turn that are shown for context.
_EARLIER = 30
_LOOK_SECONDS = 0.05


class ChatLearning:
    """Learns from the chats of one collection. `learner` None means that nothing is ever learnt."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        learner: Learner | None,
        settings: Settings,
        *,
        on_learnt: Callable[[Learnt], None] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._learner = learner
        self._settings = settings
        self._on_learnt = on_learnt
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._queue: queue.Queue[Turn | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    @property
    def can_learn(self) -> bool:
        """False without a learner."""
        return self._learner is not None

    # -- in the background -------------------------------------------------------------------------------------

    def soon(self, turn: Turn) -> None:
        """Learn from the turn in the background, after those before it."""
        if self._learner is None or self._closing.is_set():
            return
        self._queue.put(turn)
        if self._thread is None:
            # A daemon: a model that hangs must not keep the terminal from closing. The turn stays queued.
            self._thread = threading.Thread(target=self._serve, name="amem-learning", daemon=True)
            self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all that was handed to `soon` is done; False when that takes longer than `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._queue.all_tasks_done.wait(left)
        return True

    def close(self, timeout: float) -> None:
        """Wait so long for what is being done, then call it off; what is not done stays queued."""
        if self._thread is None:
            return
        self.wait(timeout)
        self._closing.set()
        self._queue.put(None)
        self._thread.join(_LOOK_SECONDS if self._queue.unfinished_tasks > 1 else None)
        self._thread = None

    def _serve(self) -> None:
        while True:
            turn = self._queue.get()
            try:
                if turn is None:
                    return
                if not self._closing.is_set():
                    self._tell(self._learn([turn], episodes=False))
            except Exception as error:  # a thread has nobody to raise to; the turn waits for the next time
                _log.warning("a turn was not learnt from: %s", error, exc_info=True)
                self._tell(Learnt(error=str(error) or type(error).__name__, waiting=1))
            finally:
                self._queue.task_done()

    def _tell(self, learnt: Learnt) -> None:
        if self._on_learnt is not None and not self._closing.is_set():
            self._on_learnt(learnt)

    # -- what waits --------------------------------------------------------------------------------------------

    def work(
        self,
        owner: str = "",
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learnt:
        """Learn from what waits, as a worker does it: with ``chat_learning=night`` only from days that are over."""
        before = midnight(self._clock, self._settings) if self._settings.chat_learning == "night" else None
        return self.learn_waiting(before, limit=limit, cancelled=cancelled, progress=progress, owner=owner)

    def learn_waiting(
        self,
        before: datetime | None = None,
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
        owner: str = "",
    ) -> Learnt:
        """Learn from all waiting turns asked `before` then, a chat's together where that is how the settings want it.

        One call per episode then takes the place of one per turn. Goes on with the next chat when one fails (its turns
        go on waiting); `progress` hears (done, of how many) turns. Nobody is asked for more than `limit` turns.
        """
        if self._learner is None:
            return Learnt()
        with self._store.read() as session:
            waiting = session.chats.waiting(before=before, limit=limit)
        total, done = Learnt(), 0
        for turns in self._portions(waiting):
            if cancelled is not None and cancelled.is_set():
                break
            total += self._learn(turns, episodes=self._by_night, owner=owner, cancelled=cancelled)
            done += len(turns)
            if progress is not None:
                progress(done, len(waiting))
        return total

    @property
    def _by_night(self) -> bool:
        return self._settings.chat_learning == "night"

    def _portions(self, waiting: Sequence[Turn]) -> Iterable[list[Turn]]:
        """What is learnt from in one go: a chat's turns by night, else each turn alone."""
        if not self._by_night:
            return [[turn] for turn in waiting]
        chats: dict[str, list[Turn]] = {}
        for turn in waiting:
            chats.setdefault(turn.session, []).append(turn)
        return chats.values()

    # -- one portion -------------------------------------------------------------------------------------------

    def _learn(
        self,
        turns: Sequence[Turn],
        *,
        episodes: bool,
        owner: str = "",
        cancelled: threading.Event | None = None,
    ) -> Learnt:
        assert self._learner is not None
        with self._store.write() as session:
            got = session.chats.claim([turn.key for turn in turns], owner or self._owner, seconds=_LEASE_SECONDS)
        mine = [turn for turn in turns if turn.key in got]
        if not mine:
            return Learnt()
        keys = [turn.key for turn in mine]
        try:
            made = self._learner.remember(
                [message for turn in mine for message in self._messages(turn)],
                conversation=mine[0].session,
                earlier=self._before(mine[0]),
                episodes=episodes,
                cancelled=cancelled or self._closing,
            )
            learnt = self._settle(mine, made)
        except BaseException as error:
            with self._store.write() as session:
                session.chats.release(keys)
            if isinstance(error, AmemError):
                _log.info("%d turns go on waiting to be learnt from: %s", len(mine), error)
                return Learnt(error="" if isinstance(error, Cancelled) else str(error), waiting=len(mine))
            raise
        return learnt + self._close_episodes(mine[0].session)

    def _settle(self, turns: Sequence[Turn], made: Remembered) -> Learnt:
        state = Learning.DEGRADED if made.degraded else Learning.DONE
        with self._store.write() as session:
            session.chats.learnt([turn.key for turn in turns], state, operation=made.operation)
        self._assign(turns, made)
        return learnt_of(made, len(turns))

    def _assign(self, turns: Sequence[Turn], made: Remembered) -> int:
        """Tell turns which note sums up their episode; returns how many notes there are."""
        with self._store.write() as session:
            for id, sources in session.sources.of(made.episodes).items():
                held = {source.id for source in sources}
                keys = [turn.key for turn in turns if turn.message_id("user") in held]
                session.chats.summed_up(keys, id)
        return len(made.episodes)

    # -- episodes ----------------------------------------------------------------------------------------------

    def _close_episodes(self, chat: str) -> Learnt:
        """Make the notes of episodes that have ended: all but the last, and the last when it has been quiet for long.

        A turn that still waits to be learnt from ends what can be told: what comes after it is left for later.
        """
        assert self._learner is not None
        with self._store.read() as session:
            turns = [each for each in session.chats.turns(chat) if each.episode is None]
        open_ = _until(turns, lambda each: each.learning is Learning.WAITING)
        by_message = {message.id: turn for turn in open_ for message in self._messages(turn)}
        found = segment([message for turn in open_ for message in self._messages(turn)])
        quiet = bool(open_) and self._clock.now() - open_[-1].at > GAP
        total = Learnt()
        for episode in found if quiet and len(open_) == len(turns) else found[:-1]:
            made = self._learner.remember(
                episode.messages, conversation=chat, episodes=True, extract=False, cancelled=self._closing
            )
            held = list(dict.fromkeys(by_message[message.id].key for message in episode.messages))
            with self._store.write() as session:
                for id in made.episodes[:1]:
                    session.chats.summed_up(held, id)
            total += Learnt(episodes=len(made.episodes))
        return total

    # -- turns as messages -------------------------------------------------------------------------------------

    def _messages(self, turn: Turn) -> list[Message]:
        """The user's words and, where there are any, the assistant's."""
        name = self._settings.user_name
        said = [Message(Role.USER, turn.question, turn.at, name, turn.message_id("user"))] if turn.question else []
        if turn.answer.strip():
            said.append(Message(Role.ASSISTANT, turn.answer, turn.at, "assistant", turn.message_id("assistant")))
        return said

    def _before(self, turn: Turn) -> list[Message]:
        with self._store.read() as session:
            turns = [each for each in session.chats.turns(turn.session) if each.number < turn.number]
        return [message for each in turns[-_EARLIER:] for message in self._messages(each)][-_EARLIER:]


def learnt_of(made: Remembered, turns: int) -> Learnt:
    """What a learner's report comes to, as it is told to people."""
    return Learnt(
        remembered=made.stored,
        updated=made.updated,
        superseded=made.superseded,
        corroborated=made.corroborated,
        episodes=len(made.episodes),
        turns=turns,
        operations=() if made.operation is None else (made.operation,),
        degraded=made.degraded,
        error=made.error,
    )


def midnight(clock: Clock, settings: Settings) -> datetime:
    """When today began, in the zone of the settings."""
    return clock.now().astimezone(zone(settings.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)


def _until(turns: Sequence[Turn], stop: Callable[[Turn], bool]) -> list[Turn]:
    found: list[Turn] = []
    for turn in turns:
        if stop(turn) or turn.state is TurnState.ASKED:
            break
        found.append(turn)
    return found

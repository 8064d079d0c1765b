"""Work done in other threads: analyses some notes ahead; jobs taken one by one, by an owner, in the background."""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeVar

from amem.errors import Cancelled, StorageError
from amem.note import Summed
from amem.storage.jobs import Job, Owner, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from threading import Event

    from amem.clock import Clock
    from amem.storage.store import Store


# Slow work done some items ahead of whoever takes the results, which come in the order of the items.

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Iterable[Item], at_once: int) -> Iterator[tuple[Item, Future[Result]]]:
    """Each item with what `work` makes of it, in order; up to `at_once` are worked on at the same time.

    Items are taken, in the caller's thread, only when there is a thread for them; while the caller deals with a result,
    one fewer is worked on. With `at_once` 1 nothing happens in other threads. The threads are daemons: whoever is
    interrupted need not wait for a model to finish its sentence.
    """
    stream = iter(items)
    running: deque[tuple[Item, Future[Result]]] = deque()
    while True:
        for item in stream:
            running.append((item, _begun(work, item, aside=at_once > 1)))
            if len(running) >= at_once:
                break
        if not running:
            return
        yield running.popleft()


def _begun(work: Callable[[Item], Result], item: Item, *, aside: bool) -> Future[Result]:
    future: Future[Result] = Future()
    if aside:
        threading.Thread(target=_run, args=(work, item, future), name="amem-analyse", daemon=True).start()
    else:
        _run(work, item, future)
    return future


def _run(work: Callable[[Item], Result], item: Item, future: Future[Result]) -> None:
    try:
        result = work(item)
    except BaseException as error:  # whoever takes the result hears of it
        future.set_exception(error)
    else:
        future.set_result(result)


# Work that waits for an analyst: taken job by job, left in peace when it failed, reported round by round.

#: How long a note may be thought about before another worker may take it over; a slow model's worth of calls.
LEASE_SECONDS = 600.0
#: Seconds after which a job that failed is tried again by a worker that goes on running.
RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class EnrichReport(Summed):
    """What a round of enrichment did: notes finished, notes that failed again, notes that still wait."""

    done: int
    failed: int
    remaining: int
    errors: tuple[str, ...] = ()


def leased(
    store: Store, kind: str, owner: str, *, limit: int | None, tried: set[int], cancelled: Event | None
) -> Iterator[Job]:
    """The waiting jobs of a kind, each `owner`'s from when it is handed out; what owners that are gone held included.

    Ends when none is left, `limit` were handed out or `cancelled` is set. Jobs in `tried` are left alone, and those
    that are handed out join it.
    """
    with store.write() as session:
        session.jobs.give_back_of(is_gone)
    taken = 0
    while (limit is None or taken < limit) and not (cancelled is not None and cancelled.is_set()):
        with store.write() as session:
            job = session.jobs.lease(kind, owner, seconds=LEASE_SECONDS, skip=tried)
        if job is None:
            return
        taken += 1
        tried.add(job.id)
        yield job


class Patience:
    """Remembers what was tried a moment ago, so that what failed is left in peace for RETRY_SECONDS."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tried: dict[int, datetime] = {}

    def resting(self) -> set[int]:
        """What is not to be tried again yet."""
        now = self._clock.now()
        # A clock may be set back: what was tried "tomorrow" does not rest until then.
        self._tried = {key: at for key, at in self._tried.items() if abs((now - at).total_seconds()) < RETRY_SECONDS}
        return set(self._tried)

    def rest(self, keys: Iterable[int]) -> None:
        """These were tried just now."""
        self._tried |= dict.fromkeys(keys, self._clock.now())


# Work done in the background: a thread that is started when there is something to do, and stops when asked.
#
# What waits are rows in the database, not objects in this thread: what it does not come to, another process does
# (``amem work``, ``amem enrich``), also after this one was killed.

_log = logging.getLogger("amem")
#: Seconds that closing waits for others who write.
SHORT_WAIT = 0.3


class Hand(Protocol):
    """Does one kind of the work that waits in a collection."""

    def work(
        self,
        owner: str,
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> object:
        """Do what waits, in the name of `owner`, until nothing does, `limit` were tried or `cancelled` is set.

        What fails is left waiting. Raises Cancelled when it was called off in the middle; nothing is lost then.
        """
        ...


class JobHand:
    """Does jobs, a `round` at a time; what failed is left in peace for a while. `afterwards` follows what was done.

    A round takes what `Hand.work` takes, and `tried`: those jobs are left alone, and those that are tried join them.
    """

    def __init__(
        self, round: Callable[..., EnrichReport], clock: Clock, *, afterwards: Callable[[], object] | None = None
    ) -> None:
        self._round = round
        self._patience = Patience(clock)
        self._afterwards = afterwards

    def work(
        self,
        owner: str,
        *,
        limit: int | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """One round, which leaves what failed a moment ago alone. Raises Cancelled."""
        resting = self._patience.resting()
        tried = set(resting)
        try:
            report = self._round(owner, limit=limit, cancelled=cancelled, tried=tried, progress=progress)
        finally:
            self._patience.rest(tried - resting)
        if report.done and self._afterwards is not None:
            self._afterwards()
        return report


class Worker:
    """Lets `hands` work, one after the other: in a thread of its own (`wake`), or here and now (`run`).

    They are made when there is work for the first time: most programs that open a collection leave none. Whoever sets
    `cancelled` also calls off the model calls under way; `close` then waits for the thread. Without `background` what
    it would be woken for is left to other processes.
    """

    def __init__(
        self,
        hands: Callable[[], Sequence[Hand]],
        owner: Owner,
        cancelled: threading.Event,
        *,
        background: bool = True,
    ) -> None:
        self._hands = cache(hands)
        self.owner = owner
        self.cancelled = cancelled
        self._background = background
        self._state = threading.Condition()
        self._asked = 0
        self._done = 0
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """There is something to do; the thread is started when there is none yet."""
        with self._state:
            # A thread that is started while the program ends never comes to run, and whoever starts it waits for that.
            if not self._background or self.cancelled.is_set() or sys.is_finalizing():
                return
            self._asked += 1
            self._state.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="amem-worker", daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Until all that it was woken for has been tried; False when that takes longer, or it was stopped before."""
        with self._state:
            asked = self._asked
            self._state.wait_for(lambda: self._done >= asked or self.cancelled.is_set(), timeout)
            return self._done >= asked

    def close(self, timeout: float) -> bool:
        """Wait so long for the thread to end, once `cancelled` is set; False when it has not."""
        with self._state:
            self._state.notify_all()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def give_back(self, store: Store) -> None:
        """Let other workers have what this collection is still at, since it is about to be closed over it.

        This process may live on, and nobody would take it for gone.
        """
        if not self.owner.used:
            return
        name = self.owner.name
        try:
            with store.write(wait=SHORT_WAIT) as session:
                session.jobs.give_back(name)
                session.chats.give_back_of(lambda owner: owner.startswith(name))
                session.runs.give_back(name)
        except StorageError as error:  # then they are free when this process has ended, at the latest with their lease
            _log.warning("what was being analysed could not be given back yet: %s", error)

    def run(self, *, once: bool = False, poll: float = 1.0) -> None:
        """Work here until called off, looking every `poll` seconds for more; with `once` until nothing waits."""
        while not self.cancelled.is_set():
            began = monotonic()
            try:
                self._round()
            except (Cancelled, StorageError):
                if self.cancelled.is_set():  # closed under our hands
                    return
                raise
            if once:
                return
            self.cancelled.wait(max(0.0, poll - (monotonic() - began)))

    def _round(self) -> None:
        failure: Exception | None = None
        for hand in self._hands():
            if self.cancelled.is_set():
                break
            try:
                hand.work(self.owner.one_more(), cancelled=self.cancelled)
            except (Cancelled, StorageError):
                raise
            except Exception as error:  # what is wrong with one kind of work is not wrong with the others
                failure = failure or error
        if failure is not None:
            raise failure

    def _serve(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._done < self._asked or self.cancelled.is_set())
                asked = self._asked
            if self.cancelled.is_set():
                return
            try:
                self._round()
            except Cancelled:
                return
            except Exception:  # a thread has nobody to raise to; what it did not do waits in the database
                if self.cancelled.is_set():
                    return
                _log.exception("background work failed; amem enrich goes on with it")
            with self._state:
                self._done = asked
                self._state.notify_all()

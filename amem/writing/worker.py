"""Work done in the background: a thread that is started when there is something to do, and stops when asked.

What waits are rows in the database, not objects in this thread: what it does not come to, another process does
(``amem work``, ``amem enrich``), also after this one was killed.
"""

from __future__ import annotations

import logging
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from amem.errors import Cancelled, StorageError
from amem.writing.waiting import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.clock import Clock
    from amem.writing.owners import Owner
    from amem.writing.waiting import EnrichReport

_log = logging.getLogger("amem")


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


class Round(Protocol):
    """`Hand.work` over jobs: those in `tried` are left alone, and those that are tried join it."""

    def __call__(
        self,
        owner: str,
        *,
        limit: int | None,
        cancelled: threading.Event | None,
        tried: set[int],
        progress: Callable[[int, int], None] | None,
    ) -> EnrichReport: ...


class JobHand:
    """Does jobs, a `round` at a time; what failed is left in peace for a while. `afterwards` follows what was done."""

    def __init__(self, round: Round, clock: Clock, *, afterwards: Callable[[], object] | None = None) -> None:
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
    `cancelled` also calls off the model calls under way; `close` then waits for the thread.
    """

    def __init__(self, hands: Callable[[], Sequence[Hand]], owner: Owner, cancelled: threading.Event) -> None:
        self._make = hands
        self._hands: Sequence[Hand] | None = None
        self._owner = owner
        self._cancelled = cancelled
        self._state = threading.Condition()
        self._asked = 0
        self._done = 0
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """There is something to do; the thread is started when there is none yet."""
        with self._state:
            # A thread that is started while the program ends never comes to run, and whoever starts it waits for that.
            if self._cancelled.is_set() or sys.is_finalizing():
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
            self._state.wait_for(lambda: self._done >= asked or self._cancelled.is_set(), timeout)
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

    def run(self, *, once: bool = False, poll: float = 1.0) -> None:
        """Work here until called off, looking every `poll` seconds for more; with `once` until nothing waits."""
        while not self._cancelled.is_set():
            began = monotonic()
            try:
                self._round()
            except (Cancelled, StorageError):
                if self._cancelled.is_set():  # closed under our hands
                    return
                raise
            if once:
                return
            self._cancelled.wait(max(0.0, poll - (monotonic() - began)))

    def _round(self) -> None:
        if self._hands is None:
            self._hands = self._make()
        failure: Exception | None = None
        for hand in self._hands:
            if self._cancelled.is_set():
                break
            try:
                hand.work(self._owner.one_more(), cancelled=self._cancelled)
            except (Cancelled, StorageError):
                raise
            except Exception as error:  # what is wrong with one kind of work is not wrong with the others
                failure = failure or error
        if failure is not None:
            raise failure

    def _serve(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._done < self._asked or self._cancelled.is_set())
                asked = self._asked
            if self._cancelled.is_set():
                return
            try:
                self._round()
            except Cancelled:
                return
            except Exception:  # a thread has nobody to raise to; what it did not do waits in the database
                if self._cancelled.is_set():
                    return
                _log.exception("background work failed; amem enrich goes on with it")
            with self._state:
                self._done = asked
                self._state.notify_all()

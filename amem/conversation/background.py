"""What is done in a thread of its own while nobody says a word."""

from __future__ import annotations

import logging
import queue
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from amem.errors import AmemError, Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable


# One thing after the other in a thread of its own, without keeping the program from ending.

Item = TypeVar("Item")

#: How long a thread that was called off is waited for.
_PATIENCE = 0.5


class Background(Generic[Item]):
    """Hands each item to `do`, in order; the thread is started at the first. What `do` raises ends the thread."""

    def __init__(self, do: Callable[[Item], None], name: str) -> None:
        self._do = do
        self._name = name
        self._items: queue.Queue[Item | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        #: Set when what is being done should come to an end.
        self.called_off = threading.Event()

    def put(self, item: Item) -> None:
        """Do this after what was put before; nothing happens once it was closed, or while the program ends.

        A thread that is started while the program ends never comes to run, and whoever starts it waits for that.
        """
        with self._starting:
            if self.called_off.is_set() or sys.is_finalizing():
                return
            self._items.put(item)
            if self._thread is None:
                # A daemon: a model that hangs must not keep the terminal from closing.
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all is done; False when that takes longer than `timeout` seconds, or was called off before."""
        deadline = None if timeout is None else monotonic() + timeout
        with self._items.all_tasks_done:
            while self._items.unfinished_tasks:
                if self.called_off.is_set():
                    return False
                left = None if deadline is None else deadline - monotonic()
                if left is not None and left <= 0:
                    return False
                self._items.all_tasks_done.wait(left)
        return True

    def close(self, timeout: float) -> None:
        """Wait so long for what is to be done, then call it off. Twice is fine."""
        if self._thread is not None:
            self.wait(timeout)
        with self._starting:
            if self.called_off.is_set():
                return
            self.called_off.set()
        with self._items.all_tasks_done:
            self._items.all_tasks_done.notify_all()
        if self._thread is not None:
            self._items.put(None)
            self._thread.join(_PATIENCE)

    def _serve(self) -> None:
        while True:
            item = self._items.get()
            try:
                if item is None:
                    return
                if not self.called_off.is_set():
                    self._do(item)
            finally:
                self._items.task_done()


# What is done while nobody says a word, and stopped as soon as somebody does.

_log = logging.getLogger("amem")

#: Seconds between two looks for something to do, once nobody has said a word for long enough.
_BETWEEN = 60.0


class Idle:
    """Calls `do` in a thread of its own `after` seconds of silence, and every minute from then on, until `end`.

    `do` is handed an event that is set when it should stop. What it raises ends this silence's calls.
    """

    def __init__(self, do: Callable[[threading.Event], object], after: float) -> None:
        self._do = do
        self._after = after
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """It is quiet from now on."""
        self.end()
        self._stop = stop = threading.Event()
        # A thread that is started while the program ends never comes to run, and whoever starts it waits for that.
        if not sys.is_finalizing():
            self._thread = threading.Thread(target=self._serve, args=(stop,), name="amem-idle", daemon=True)
            self._thread.start()

    def end(self, timeout: float = 0.0) -> None:
        """It is not; what is being done is called off, and waited for so many seconds."""
        self._stop.set()
        if self._thread is not None and timeout:
            self._thread.join(timeout)

    def _serve(self, stop: threading.Event) -> None:
        pause = self._after
        while not stop.wait(pause):
            try:
                self._do(stop)
            except Cancelled:
                return
            except AmemError as error:  # a thread has nobody to raise to; the next silence tries again
                if not stop.is_set():
                    _log.warning("what was to be done meanwhile failed: %s", error)
                return
            pause = _BETWEEN

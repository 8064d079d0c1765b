"""One thing after the other in a thread of its own, without keeping the program from ending."""

from __future__ import annotations

import queue
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

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

"""What is done while nobody says a word, and stopped as soon as somebody does."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING

from amem.errors import AmemError, Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable

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

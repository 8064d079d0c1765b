"""Leaving a server alone for a while after it failed several times in a row."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from amem.errors import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable


class Breaker:
    """After `failures` calls in a row that found no server, refuses calls for `rest` seconds, then lets one try.

    Without it an import of a thousand notes would wait a thousand times for a server that hangs. Safe in many threads.
    """

    def __init__(self, *, failures: int = 3, rest: float = 30, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._until = 0.0
        self._last: ServiceUnavailable | None = None

    def check(self) -> None:
        """Raise ServiceUnavailable while the server is left alone."""
        with self._lock:
            if self._last is None or self._failed < self._most:
                return
            left = self._until - self._clock()
            if left > 0:
                raise ServiceUnavailable(
                    f"not asked again for {left:.0f} s, since {self._failed} calls in a row failed: {self._last}",
                    hint=self._last.hint,
                )
            # Whoever comes first tries; the others go on without until it knows more.
            self._until = self._clock() + self._rest

    def failed(self, error: ServiceUnavailable) -> None:
        """Count a call that found no server."""
        with self._lock:
            self._failed += 1
            self._last = error
            self._until = self._clock() + self._rest

    def answered(self) -> None:
        """The server answers: all is forgotten."""
        with self._lock:
            self._failed = 0
            self._last = None

"""HTTP calls that another thread can break off at once, even while they wait for the first byte."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class BreakableCall:
    """One call over connections of its own. `httpx_options` go to the httpx client that makes it.

    Closing a socket does not wake a thread that waits for it; shutting it down does. httpx tells of the sockets it
    opens through its request tracing, also before any answer has come.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[Any] = []
        self._broken = False

    @property
    def broken(self) -> bool:
        """Whether the call was broken off."""
        return self._broken

    @property
    def httpx_options(self) -> dict[str, Any]:
        return {"event_hooks": {"request": [self._follow]}}

    def break_off(self) -> None:
        """End the call: whoever waits for it sees the connection reset. May be repeated, and come from any thread."""
        with self._lock:
            self._broken = True
            for each in self._sockets:
                _shut(each)

    def _follow(self, request: Any) -> None:
        request.extensions["trace"] = self._trace

    def _trace(self, event: str, told: dict[str, Any]) -> None:
        # Encryption wraps the connection in another socket, which is the one to shut then.
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            opened = told["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.append(opened)
                if self._broken:
                    _shut(opened)


class BreakableCalls:
    """The calls under way in all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[BreakableCall] = set()

    @contextlib.contextmanager
    def begin(self) -> Iterator[BreakableCall]:
        """A new call, under way until the block ends."""
        call = BreakableCall()
        with self._lock:
            self._open.add(call)
        try:
            yield call
        finally:
            with self._lock:
                self._open.discard(call)

    def break_off(self) -> None:
        """Break off every call that is under way now."""
        with self._lock:
            calls = list(self._open)
        for call in calls:
            call.break_off()


def _shut(each: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already: there is nothing left to wait for
        each.shutdown(socket.SHUT_RDWR)

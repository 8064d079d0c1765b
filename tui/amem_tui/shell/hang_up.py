"""Ending the program when the terminal, or the page, that showed it is gone.

A window that vanishes may leave no more behind than an input that is at its end: Textual's input thread then reads
nothing, again and again, and what the app writes to say goodbye may wait for ever. So a thread that depends on neither
watches the input, asks the app to leave, and ends the process where it has not left within some seconds. Everything
that was acknowledged is stored by then.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds the app is given to leave by itself.
_GRACE = 3.0
#: Milliseconds between two looks at whether the watch is over.
_LOOK = 500
#: What a shell reports of a program that a hang-up ended (128 + SIGHUP).
_HUNG_UP = 129


@contextmanager
def leaving_on_hang_up(input: TextIO | None, leave: Callable[[], object]) -> Iterator[None]:
    """Within the block, call `leave` from a thread when the other end of `input`, a terminal or a page, is gone.

    The process then ends within seconds, whether the block does or not. Any other input may end as it likes. Without
    ``poll``, as on Windows, nothing is watched.
    """
    shown = input is not None and (input.isatty() or "TEXTUAL_DRIVER" in os.environ)
    if input is None or not shown or not hasattr(select, "poll"):
        yield
        return
    over = threading.Event()
    threading.Thread(target=_watch, args=(input.fileno(), leave, over), name="amem-hang-up", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(input: int, leave: Callable[[], object], over: threading.Event) -> None:
    watched = select.poll()
    # That the other end is gone is reported whatever is asked for; what can be read is the app's to read.
    watched.register(input, 0)
    while not over.is_set():
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in watched.poll(_LOOK)):
            # Not called off when the block ends: a thread that waits for the terminal may still hold up the end.
            end = threading.Timer(_GRACE, os._exit, (_HUNG_UP,))
            end.daemon = True
            end.start()
            leave()
            return

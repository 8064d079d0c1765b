"""Who holds a job: a name that says which process it is, so that the jobs of one that was killed are free at once."""

from __future__ import annotations

import itertools
import os
import socket
import uuid


class Owner:
    """Names for the work of one open collection: `name` begins each, `one_more` makes one for each piece of work."""

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}:"
        self._numbers = itertools.count(1)

    def one_more(self) -> str:
        """A name no other piece of work has."""
        return f"{self.name}{next(self._numbers)}"


def is_gone(owner: str) -> bool:
    """True when the owner is a process of this machine that runs no more; False when nobody can tell.

    A lease that is taken from a process which only cannot be seen (in another container of the same name) costs one
    analysis: what comes late is left out.
    """
    host, _, process = owner.rpartition(":")[0].rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not process.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it runs, as somebody else
        return False
    return False

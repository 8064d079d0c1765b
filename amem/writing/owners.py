"""Who holds a job: a name that says which process it is, so that the jobs of one that was killed are free at once."""

from __future__ import annotations

import itertools
import os
import socket
import uuid
from pathlib import Path


class Owner:
    """Names for the work of one open collection: `name` begins each, `one_more` makes one for each piece of work.

    `used` tells whether there was any.
    """

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()}:{_process(os.getpid())}:{uuid.uuid4().hex[:8]}:"
        self.used = False
        self._numbers = itertools.count(1)

    def one_more(self) -> str:
        """A name no other piece of work has."""
        self.used = True
        return f"{self.name}{next(self._numbers)}"


def is_gone(owner: str) -> bool:
    """True when the owner is a process of this machine that runs no more; False when nobody can tell.

    A lease that is taken from a process which only cannot be seen (in another container of the same name) costs one
    analysis: what comes late is left out.
    """
    host, _, process = owner.rpartition(":")[0].rpartition(":")[0].rpartition(":")
    number, _, began = process.partition("+")
    if host != socket.gethostname() or not number.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it runs, as somebody else
        pass
    now = _began(int(number))
    return bool(began and now is not None and now != began)


def _process(number: int) -> str:
    """A process by its number and, since another may be given the same (a container's first is always 1), its start."""
    began = _began(number)
    return str(number) if began is None else f"{number}+{began}"


def _began(number: int) -> str | None:
    """When that process was started, in ticks since the machine was; "" once it has ended; None where nobody can tell.

    A process that was killed is still listed until its parent has heard of it.
    """
    try:
        # The name of the program comes before these, in brackets, and may itself hold spaces and brackets.
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in ("Z", "X") else fields[19]

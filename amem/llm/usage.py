"""What the calls of a chat model cost: one counter that many threads may share."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls made, tokens read and tokens written."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.calls - other.calls, self.tokens_in - other.tokens_in, self.tokens_out - other.tokens_out)


class Usage:
    """Adds up what calls cost, in all and for each thread.

    What one piece of work cost, whatever other threads do meanwhile, is the difference of `here` after and before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total = Spent()
        self._thread = threading.local()

    def add(self, *, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Count one call of the current thread."""
        call = Spent(1, tokens_in, tokens_out)
        self._thread.spent = self.here + call
        with self._lock:
            self._total += call

    @property
    def total(self) -> Spent:
        """Every thread's calls."""
        with self._lock:
            return self._total

    @property
    def here(self) -> Spent:
        """The calls of the current thread."""
        spent: Spent = getattr(self._thread, "spent", Spent())
        return spent

    @property
    def calls(self) -> int:
        return self.total.calls

    @property
    def tokens_in(self) -> int:
        return self.total.tokens_in

    @property
    def tokens_out(self) -> int:
        return self.total.tokens_out


@runtime_checkable
class Metered(Protocol):
    """A chat model (or an analyst) that counts what its calls cost."""

    @property
    def usage(self) -> Usage: ...

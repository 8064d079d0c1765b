"""What the calls of a chat model cost: one counter that many threads may share."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from amem.errors import ServiceUnavailable

#: Tokens of one call that no model reads or writes.
_MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls made, tokens read and tokens written; `rungs` says how often each rung of the ladder gave the answer.

    `rungs` holds (rung, count) pairs in alphabetical order, none of them zero.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    rungs: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            _tally(self.rungs, other.rungs, 1),
        )

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            self.calls - other.calls,
            self.tokens_in - other.tokens_in,
            self.tokens_out - other.tokens_out,
            _tally(self.rungs, other.rungs, -1),
        )


def _tally(
    ours: tuple[tuple[str, int], ...], theirs: tuple[tuple[str, int], ...], sign: int
) -> tuple[tuple[str, int], ...]:
    counts = dict(ours)
    for rung, count in theirs:
        counts[rung] = counts.get(rung, 0) + sign * count
    return tuple(sorted((rung, count) for rung, count in counts.items() if count))


def counted(who: str, tokens: object) -> int:
    """Tokens as a server tells them; 0 where it does not. Raises ServiceUnavailable for a count that cannot be one."""
    if tokens is None:
        return 0
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= _MOST_TOKENS:
        raise ServiceUnavailable(
            f"{who} tells of a number of tokens that cannot be one", hint="see what listens there: no model answers so"
        )
    return tokens


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
        self._count(Spent(1, tokens_in, tokens_out))

    def rung(self, name: str) -> None:
        """Count that this rung of the ladder gave the current thread an answer."""
        self._count(Spent(rungs=((name, 1),)))

    def _count(self, spent: Spent) -> None:
        self._thread.spent = self.here + spent
        with self._lock:
            self._total += spent

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

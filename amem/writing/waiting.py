"""Work that waits for an analyst: taken job by job, left in peace when it failed, reported round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.writing.owners import is_gone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from threading import Event

    from amem.clock import Clock
    from amem.storage import Store
    from amem.storage.records import Job

#: How long a note may be thought about before another worker may take it over; a slow model's worth of calls.
LEASE_SECONDS = 600.0
#: Seconds after which a job that failed is tried again by a worker that goes on running.
RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What a round of enrichment did: notes finished, notes that failed again, notes that still wait."""

    done: int
    failed: int
    remaining: int
    errors: tuple[str, ...] = ()

    def __add__(self, other: EnrichReport) -> EnrichReport:
        return EnrichReport(
            self.done + other.done,
            self.failed + other.failed,
            self.remaining + other.remaining,
            (*self.errors, *other.errors),
        )


def leased(
    store: Store, kind: str, owner: str, *, limit: int | None, tried: set[int], cancelled: Event | None
) -> Iterator[Job]:
    """The waiting jobs of a kind, each `owner`'s from when it is handed out; what owners that are gone held included.

    Ends when none is left, `limit` were handed out or `cancelled` is set. Jobs in `tried` are left alone, and those
    that are handed out join it.
    """
    with store.write() as session:
        session.jobs.give_back_of(is_gone)
    taken = 0
    while (limit is None or taken < limit) and not (cancelled is not None and cancelled.is_set()):
        with store.write() as session:
            job = session.jobs.lease(kind, owner, seconds=LEASE_SECONDS, skip=tried)
        if job is None:
            return
        taken += 1
        tried.add(job.id)
        yield job


class Patience:
    """Remembers what was tried a moment ago, so that what failed is left in peace for RETRY_SECONDS."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tried: dict[int, datetime] = {}

    def resting(self) -> set[int]:
        """What is not to be tried again yet."""
        now = self._clock.now()
        # A clock may be set back: what was tried "tomorrow" does not rest until then.
        self._tried = {key: at for key, at in self._tried.items() if abs((now - at).total_seconds()) < RETRY_SECONDS}
        return set(self._tried)

    def rest(self, keys: Iterable[int]) -> None:
        """These were tried just now."""
        self._tried |= dict.fromkeys(keys, self._clock.now())

"""A clock that stands still until it is moved, and ids that are the same in every run."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

from amem.clock import parse_time

_NAMESPACE = uuid.UUID("5f0a3c1e-4b1d-4a67-9d0e-6a1c0f6f2b11")


class FrozenClock:
    """Shows `start` (a time without a zone means UTC) until `advance` moves it.

    Two clocks with the same `seed` make the same ids; give the clocks of one collection different ones.
    """

    def __init__(self, start: datetime | str = "2026-01-01T09:00", *, seed: str = "amem") -> None:
        self._now = parse_time(start, UTC)
        self._seed = seed
        self._lock = threading.Lock()
        #: How many ids it made.
        self.made = 0

    def now(self) -> datetime:
        return self._now

    def new_id(self) -> str:
        """The next id: a UUID that depends on the seed and the count alone."""
        with self._lock:
            number, self.made = self.made, self.made + 1
        return str(uuid.uuid5(_NAMESPACE, f"{self._seed}:{number}"))

    def advance(self, by: timedelta | None = None, *, days: float = 0, hours: float = 0, minutes: float = 0) -> None:
        """Move on by a timedelta, or by days, hours and minutes (backwards when negative)."""
        self._now += (by or timedelta()) + timedelta(days=days, hours=hours, minutes=minutes)

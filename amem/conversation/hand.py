"""Learning from waiting conversations as a worker does it (``amem.writing.worker.Hand``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.writing.worker import RETRY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from threading import Event

    from amem.clock import Clock
    from amem.conversation.remember import Learner
    from amem.writing.enrich import EnrichReport


class LearnHand:
    """Learns from the episodes that wait. One that failed is left in peace for RETRY_SECONDS."""

    def __init__(self, learner: Learner, clock: Clock) -> None:
        self._learner = learner
        self._clock = clock
        self._tried: dict[int, datetime] = {}

    def work(
        self,
        owner: str,
        *,
        limit: int | None = None,
        cancelled: Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """One round over what waits. Raises Cancelled."""
        now = self._clock.now()
        resting = {job: at for job, at in self._tried.items() if (now - at).total_seconds() < RETRY_SECONDS}
        tried = set(resting)
        try:
            return self._learner.work(owner, limit=limit, tried=tried, cancelled=cancelled, progress=progress)
        finally:
            self._tried = dict.fromkeys(tried, now) | resting

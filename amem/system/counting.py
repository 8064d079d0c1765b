"""What is counted of the whole collection, which is asked for often: kept until somebody writes."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from amem.clock import zone
from amem.query import Filter
from amem.storage.note_lists import Cards, Census, Ledger, read_ledger
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from amem.storage.store import Session

Found = TypeVar("Found")


class Seen:
    """What was last counted, and at which value of the collection's change counter."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Any]] = {}

    def since(self, counter: int, name: str, count: Callable[[], Found]) -> Found:
        """What was counted under that name; counted anew when the change counter has moved."""
        held = self._kept.get(name)
        if held is None or held[0] != counter:
            held = self._kept[name] = (counter, count())
        found: Found = held[1]
        return found


class Counting(Wiring):
    """Counts notes, all of them or those that meet conditions."""

    def census(self, filter: Filter | None = None, *, starting: str = "") -> Census:
        """How many notes one would see with each kind, layer, status, tag, topic or day chosen besides the filter.

        What the filter chooses in a group of them does not count there: with kinds chosen, `kinds` counts what passes
        all else. Tags narrow each other, since a note must carry all. `starting` is as for `shelf`; with it, deleted
        notes are counted only where the filter asks for these, as it takes a look at each of them.
        """
        wanted = (filter or Filter()).in_zone(zone(self.settings.timezone))
        with self._store.read() as session:
            holding = self._cards(session).holding(starting, wanted)
            return self._ledger(session).census(session, wanted, holding)

    def days(self, filter: Filter | None = None) -> dict[date, int]:
        """How many notes speak of each day, in the collection's time zone, the first day first."""
        local = zone(self.settings.timezone)
        wanted = (filter or Filter()).in_zone(local)
        with self._store.read() as session:
            count = partial(self._cards(session).days, wanted, local)
            return dict(self._seen.since(session.counter, "days", count) if wanted.is_default else count())

    def _ledger(self, session: Session) -> Ledger:
        read = partial(read_ledger, session, zone(self.settings.timezone))
        return self._seen.since(session.counter, "ledger", read)

    @cached_property
    def _seen(self) -> Seen:
        return Seen()

    def _cards(self, session: Session) -> Cards:
        return Cards(session, self.settings.decay_rate)

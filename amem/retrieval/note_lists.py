"""The collection as somebody looks through it: counts, lists of any length, what is near a note.

Looking counts as no use.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from amem.errors import NoteNotFound
from amem.note import EVERYONE
from amem.query import Filter
from amem.storage.note_lists import Cards, Census, Ledger, read_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from amem.collection import Collection
    from amem.note import Scope
    from amem.storage.note_lists import Card, Order, Shelf
    from amem.storage.store import Session

Found = TypeVar("Found")
#: Orders that change with the notes alone, not with time and use.
_STEADY = ("time", "recorded", "importance")


class NoteLists:
    """Counts and lists the notes of one collection, by the million; what is asked for often is kept until a write."""

    def __init__(self, collection: Collection) -> None:
        self._store = collection.store
        self._dense = collection.dense
        self._zone = collection.zone
        self._decay_rate = collection.settings.decay_rate
        self._kept: dict[str, tuple[int, Any]] = {}

    def since(self, counter: int, name: str, count: Callable[[], Found]) -> Found:
        """What was counted under that name; counted anew when the change counter has moved."""
        held = self._kept.get(name)
        if held is None or held[0] != counter:
            held = self._kept[name] = (counter, count())
        found: Found = held[1]
        return found

    def topic_sizes(self, session: Session) -> Mapping[str, int]:
        """How many active notes each topic's page has, by the id of the page."""
        return self._ledger(session).census(session, Filter()).topics

    def census(self, filter: Filter | None = None, *, starting: str = "") -> Census:
        """How many notes one would see with each kind, layer, status, tag, topic or day chosen besides the filter."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            holding = self._cards(session).holding(starting, wanted)
            return self._ledger(session).census(session, wanted, holding)

    def days(self, filter: Filter | None = None) -> dict[date, int]:
        """How many notes speak of each day, the first day first."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            count = partial(self._cards(session).days, wanted, self._zone)
            return dict(self.since(session.counter, "days", count) if wanted.is_default else count())

    def shelf(self, filter: Filter | None = None, *, starting: str = "", order: Order = "time") -> Shelf:
        """The order of all notes that pass the filter and hold words that are `starting` so."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            cards, every = self._cards(session), None
            if starting and wanted.is_default and order in _STEADY:  # at every letter that is typed
                every = self.since(session.counter, order, lambda: cards.shelf(wanted, order=order).keys)
            return cards.shelf(wanted, starting=starting, order=order, every=every)

    def cards(self, shelf: Shelf, start: int, stop: int) -> list[Card]:
        """The notes at these places of a shelf."""
        with self._store.read() as session:
            return self._cards(session).of(shelf.keys[max(0, start) : max(0, stop)].tolist())

    def cards_of(self, ids: Sequence[str]) -> dict[str, Card]:
        """The cards of notes by id, deleted ones too, in the order asked for."""
        with self._store.read() as session:
            keys = session.notes.keys_of(ids)
            found = {card.id: card for card in self._cards(session).of(list(keys.values()))}
        return {id: found[id] for id in ids if id in found}

    def place(self, shelf: Shelf, id: str) -> int | None:
        """Where a note stands on a shelf, counted from 0; None when it does not."""
        with self._store.read() as session:
            key = session.notes.keys_of([id]).get(id)
        found = [] if key is None else (shelf.keys == key).nonzero()[0].tolist()
        return found[0] if found else None

    def similar(self, id: str, k: int = 10, *, scope: Scope = EVERYONE) -> list[tuple[Card, float]]:
        """The scope's k active notes nearest in meaning, each with its cosine. Raises NoteNotFound."""
        with self._store.read() as session:
            key = session.notes.keys_of([id]).get(id)
        if key is None:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        self._dense.refresh()
        vector = self._dense.vectors([key])[0]
        if not len(vector) or np.isnan(vector).any():
            return []
        with self._store.read() as session:
            allowed = session.notes.met_by(scope)
        found = self._dense.search(vector, k + 1, allowed=allowed)
        near = [(int(other), float(cosine)) for other, cosine in zip(*found, strict=True) if other != key][:k]
        with self._store.read() as session:
            held = {card.key: card for card in self._cards(session).of([other for other, _ in near])}
        return [(held[other], cosine) for other, cosine in near if other in held]

    def _ledger(self, session: Session) -> Ledger:
        return self.since(session.counter, "ledger", partial(read_ledger, session, self._zone))

    def _cards(self, session: Session) -> Cards:
        return Cards(session, self._decay_rate)

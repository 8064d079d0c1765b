"""The collection as somebody looks through it: lists of any length, what is near a note, whose words are whose.

Looking counts as no use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.clock import zone
from amem.errors import NoteNotFound
from amem.note import EVERYONE
from amem.query import Filter
from amem.system.counting import Counting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from amem.note import Scope
    from amem.storage.note_lists import Card, Order, Shelf

#: Orders that change with the notes alone, not with time and use.
_STEADY = ("time", "recorded", "importance")


class Browsing(Counting):
    """Lists notes by the million, a screenful at a time."""

    def pulse(self) -> tuple[int, int]:
        """Two numbers, one of which grows with every write to the collection, whichever process makes it.

        The first counts changes, runs of maintenance (which may have found nothing to change) and turns of chats (which
        may have taught nothing), the second is the newest operation. Quick to ask for.
        """
        with self._store.read() as session:
            steps = session.runs.steps() + session.chats.steps()
            return session.counter + steps, session.operations.count()

    def shelf(self, filter: Filter | None = None, *, starting: str = "", order: Order = "time") -> Shelf:
        """The order of all notes that pass the filter, to be read with `cards`; its length is how many there are.

        `starting` narrows it to notes that hold these words, each of which may be unfinished; what has no letter or
        digit in it finds nothing. `order` is time, recorded, strength, recalls or importance, the greatest first, of
        equals the newest. Raises InvalidInput for another.
        """
        wanted = (filter or Filter()).in_zone(zone(self.settings.timezone))
        with self._store.read() as session:
            cards, every = self._cards(session), None
            if starting and wanted.is_default and order in _STEADY:  # at every letter that is typed
                every = self._seen.since(session.counter, order, lambda: cards.shelf(wanted, order=order).keys)
            return cards.shelf(wanted, starting=starting, order=order, every=every)

    def cards(self, shelf: Shelf, start: int, stop: int) -> list[Card]:
        """The notes at these places of a shelf, as they are now; one that was purged since is missing."""
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

    def today(self) -> date:
        """The day it is, in the collection's time zone."""
        return self._clock.now().astimezone(zone(self.settings.timezone)).date()

    def similar(self, id: str, k: int = 10, *, scope: Scope = EVERYONE) -> list[tuple[Card, float]]:
        """The scope's k active notes nearest in meaning, each with its cosine (-1..1), by the vectors that are stored.

        None at all while the note has no vector. Raises NoteNotFound.
        """
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

    def owned_fields(self, id: str) -> dict[str, str]:
        """Fields of a note whose words are a person's: ``given`` when it was added, or ``edited`` since.

        Raises NoteNotFound.
        """
        with self._store.read() as session:
            owned = session.notes.owned_fields([id])
        if id not in owned:
            raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
        return owned[id]

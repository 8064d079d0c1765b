"""Notes as lists show them: the order of all that pass a filter, rows of it, and how many there are of what.

An order is a column of keys, a few bytes a note, so that any place in a list of a million is as near as the first; it
is read as a column, too (``amem.storage.columns``), since a hundred thousand notes are too many to look at one by one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select

from amem.errors import InvalidInput
from amem.note import Enrichment, Kind, Layer, MemoryNote, Status
from amem.rendering import standing_text
from amem.storage import tables
from amem.storage.columns import columns
from amem.storage.filters import conditions
from amem.storage.fulltext import columns_of
from amem.storage.listed import listed
from amem.storage.local_days import local_days
from amem.storage.orders import ORDERS, Order, ordered
from amem.storage.prepared import Prepared
from amem.storage.rows import from_plain, read_moment
from amem.text import typed_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, tzinfo

    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage.session import Session
    from amem.text import Typed

__all__ = ["ORDERS", "Card", "Cards", "Order", "Shelf"]

_NOTES = tables.notes
#: Characters of a note's text that a list is given.
_SHOWN = 400
_CARDS = Prepared(
    "SELECT n.key, n.id, substr(n.content, 1, :shown), n.kind, n.layer, n.status, n.at, n.recorded_at, n.pinned,"
    " n.overturned,"
    " (SELECT count(*) FROM links WHERE source = n.id) + (SELECT count(*) FROM links WHERE target = n.id),"
    " coalesce(u.recalls, 0), n.speaker, n.analyst, n.enrichment,"
    " (SELECT o.actor FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    " WHERE v.note = n.key AND v.version = 1)"
    " FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value"
    " LEFT JOIN usage AS u ON u.note = n.key ORDER BY asked.key"
)
_DELETED = Prepared("SELECT key, content, keywords, tags, context FROM notes WHERE status = 'deleted'")


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a note, of any status.

    `text` is the beginning of its content as it stands (see ``amem.rendering``), `links` how many lead from and to it,
    `author` the actor who wrote it, `strength` (0 and up) what the forgetting curve makes of it now.
    """

    key: int
    id: str
    text: str
    kind: Kind
    layer: Layer
    status: Status
    at: datetime
    recorded_at: datetime
    pinned: bool
    strength: float
    links: int
    recalls: int
    speaker: str | None
    analyst: str
    enrichment: Enrichment
    author: str


@dataclass(frozen=True, eq=False)
class Shelf:
    """The order that the notes had when it was asked for; rows of it are read with `Cards.of`."""

    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


class Cards:
    """The lists of one transaction."""

    def __init__(self, session: Session, decay_rate: float | None) -> None:
        self._session = session
        self._decay_rate = decay_rate

    def shelf(
        self, wanted: Filter, *, starting: str = "", order: Order = "time", every: NDArray[np.int64] | None = None
    ) -> Shelf:
        """All notes that pass the filter and hold the words of `starting`, each of which may be unfinished.

        Newest, strongest, most recalled or most important first, of equals the one that came last. A `starting`
        without a letter or digit finds nothing, an empty one leaves all. `every` is that order without `starting`,
        for whoever knows it already. Raises InvalidInput for another order.
        """
        if order not in ORDERS:
            raise InvalidInput(f"cannot order by {order!r}", hint=f"use one of {', '.join(ORDERS)}")
        held = self.holding(starting, wanted)
        if held is not None and not len(held):
            return Shelf(held)
        keys = ordered(self._session, wanted, order, self._decay_rate) if every is None else every
        return Shelf(keys if held is None else keys[np.isin(keys, held, kind="table")])

    def holding(self, starting: str, wanted: Filter) -> NDArray[np.int64] | None:
        """Keys of the notes that hold the words of `starting`, whether or not they pass the filter; None for all.

        Deleted ones are among them only where the filter asks for these: it takes a look at each of them.
        """
        if not starting.strip():
            return None
        words = typed_words(starting)
        if not words:
            return np.empty(0, dtype=np.int64)
        held = self._session.text.typed(words)
        if Status.DELETED in wanted.statuses or wanted.known_at is not None:
            held = np.concatenate([held, self._deleted(words)])
        return held

    def of(self, keys: Sequence[int]) -> list[Card]:
        """The cards of these notes, in this order; none for a note that was purged."""
        rows = _CARDS.rows(self._session, keys=listed(int(key) for key in keys), shown=_SHOWN)
        standings = self._session.usage.standings([row[0] for row in rows])
        strong = dict(
            zip(
                standings.keys.tolist(),
                standings.strength(self._session.now, self._decay_rate).tolist(),
                strict=True,
            )
        )
        return [
            Card(
                key=key,
                id=id,
                text=standing_text(text, from_plain("overturned", json.loads(overturned))),
                kind=Kind(kind),
                layer=Layer(layer),
                status=Status(status),
                at=read_moment(at),
                recorded_at=read_moment(recorded),
                pinned=bool(pinned),
                strength=strong.get(key, 0.0),
                links=links,
                recalls=recalls,
                speaker=speaker,
                analyst=analyst,
                enrichment=Enrichment(enrichment),
                author=author or "",
            )
            for key, id, text, kind, layer, status, at, recorded, pinned, overturned, links, recalls, speaker, analyst,
            enrichment, author in rows
        ]  # fmt: skip

    def days(self, wanted: Filter, zone: tzinfo) -> dict[date, int]:
        """How many notes that pass the filter speak of each day, in that zone; the first day first."""
        statement = select(_NOTES.c.at).where(*conditions(wanted)).order_by(_NOTES.c.at)
        at = columns(self._session, statement, times=("at",))["at"]
        days, counts = np.unique(local_days(at, zone), return_counts=True)
        return dict(zip(days.tolist(), counts.tolist(), strict=True))

    def _deleted(self, words: Sequence[Typed]) -> NDArray[np.int64]:
        """Keys of the deleted notes that hold all of these words; full text has forgotten them."""
        found = []
        for key, content, keywords, tags, context in _DELETED.rows(self._session):
            note = MemoryNote(content, keywords=json.loads(keywords), tags=json.loads(tags), context=context)
            terms = " ".join(columns_of(note).values()).split()
            if all(word.held_by(terms, content) for word in words):
                found.append(key)
        return np.array(found, dtype=np.int64)

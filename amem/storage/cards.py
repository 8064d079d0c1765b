"""Notes as lists show them: the order of all that pass a filter, rows of it, and how many there are of what.

An order is a column of keys, a few bytes a note, so that any place in a list of a million is as near as the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from amem.errors import InvalidInput
from amem.note import Enrichment, Kind, Layer, Status
from amem.storage.listed import listed
from amem.storage.prepared import Prepared
from amem.storage.rows import read_moment, read_time
from amem.text import search_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, tzinfo

    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage.session import Session

Order = Literal["time", "recorded", "strength", "recalls", "importance"]
ORDERS: tuple[Order, ...] = get_args(Order)

#: Characters of a note's text that a list is given.
_SHOWN = 400
_CARDS = Prepared(
    "SELECT n.key, n.id, substr(n.content, 1, :shown), n.kind, n.layer, n.status, n.at, n.recorded_at, n.pinned,"
    " (SELECT count(*) FROM links WHERE source = n.id) + (SELECT count(*) FROM links WHERE target = n.id),"
    " coalesce(u.recalls, 0), n.speaker, n.analyst, n.enrichment,"
    " (SELECT o.actor FROM versions AS v JOIN operations AS o ON o.id = v.operation"
    " WHERE v.note = n.key AND v.version = 1)"
    " FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value"
    " LEFT JOIN usage AS u ON u.note = n.key ORDER BY asked.key"
)
_COUNTED = {
    "kinds": Prepared("SELECT kind, count(*) FROM notes WHERE status = 'active' GROUP BY kind"),
    "layers": Prepared("SELECT layer, count(*) FROM notes WHERE status = 'active' GROUP BY layer"),
    "statuses": Prepared("SELECT status, notes FROM note_counts WHERE notes > 0"),
    "waiting": Prepared("SELECT enrichment, count(*) FROM notes WHERE enrichment <> 'done' GROUP BY enrichment"),
}


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a note, of any status.

    `text` is the beginning of its content, `links` how many lead from and to it, `author` the actor who wrote it,
    `strength` (0 and up) what the forgetting curve makes of it now.
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


@dataclass(frozen=True, slots=True)
class Census:
    """How many notes there are: active ones by kind and layer, all by status, and those whose analysis waits."""

    kinds: Mapping[Kind, int]
    layers: Mapping[Layer, int]
    statuses: Mapping[Status, int]
    waiting: Mapping[Enrichment, int]


class Cards:
    """The lists of one transaction."""

    def __init__(self, session: Session, decay_rate: float | None) -> None:
        self._session = session
        self._decay_rate = decay_rate

    def shelf(self, wanted: Filter, *, starting: str = "", order: Order = "time") -> Shelf:
        """All notes that pass the filter and hold the words of `starting`, the last of them perhaps unfinished.

        Newest, strongest, most recalled or most important first. Raises InvalidInput for another order.
        """
        if order not in ORDERS:
            raise InvalidInput(f"cannot order by {order!r}", hint=f"use one of {', '.join(ORDERS)}")
        keys = np.array(self._session.notes.keys(wanted), dtype=np.int64)
        if starting.strip():
            held = self._session.text.starting_with(*_typed(starting), limit=-1)
            keys = keys[np.isin(keys, np.array(held, dtype=np.int64))]
        return Shelf(keys[self._places(keys, order)])

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
                text=text,
                kind=Kind(kind),
                layer=Layer(layer),
                status=Status(status),
                at=read_time(at) or read_moment(recorded),
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
            for key, id, text, kind, layer, status, at, recorded, pinned, links, recalls, speaker, analyst, enrichment,
            author in rows
        ]  # fmt: skip

    def census(self) -> Census:
        """What there is how many of."""
        found = {name: dict(statement.rows(self._session)) for name, statement in _COUNTED.items()}
        return Census(
            kinds={Kind(name): number for name, number in found["kinds"].items()},
            layers={Layer(name): number for name, number in found["layers"].items()},
            statuses={Status(name): number for name, number in found["statuses"].items()},
            waiting={Enrichment(name): number for name, number in found["waiting"].items()},
        )

    def days(self, wanted: Filter, zone: tzinfo) -> dict[date, int]:
        """How many notes that pass the filter speak of each day, in that zone; the first day first."""
        columns = self._session.notes.columns(self._session.notes.keys(wanted), ("at", "recorded_at"))
        found: dict[date, int] = {}
        for at, recorded in columns.values():
            day = datetime.fromisoformat(at or recorded).replace(tzinfo=UTC).astimezone(zone).date()
            found[day] = found.get(day, 0) + 1
        return dict(sorted(found.items()))

    def _places(self, keys: NDArray[np.int64], order: Order) -> NDArray[np.intp]:
        if order == "recorded":
            return np.argsort(-keys, kind="stable")
        asked = [int(key) for key in keys]
        if order == "time":
            times = self._session.notes.columns(asked, ("at",))
            said = np.array([times[key][0] or "" for key in asked], dtype=np.str_)
            return np.lexsort((keys, said))[::-1]
        standings = self._session.usage.standings(asked)
        by = {
            "strength": standings.strength(self._session.now, self._decay_rate),
            "recalls": standings.recalls,
            "importance": standings.importance,
        }[order]
        values = dict(zip(standings.keys.tolist(), by.tolist(), strict=True))
        return np.lexsort((-keys, [-values.get(key, 0.0) for key in asked]))


def _typed(words: str) -> tuple[str, list[str]]:
    """(the unfinished last token, the tokens before it) of what is being typed."""
    found = search_terms(words)
    if not found:
        return "", []
    return found[-1], found[:-1]

"""Notes as lists show them: rows in an order, and how many there are of each kind, tag, topic and day."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args

import numpy as np

from amem.errors import InvalidInput
from amem.language import Typed, typed_words
from amem.note import Enrichment, Kind, Layer, LinkType, MemoryNote, Status
from amem.query import Filter
from amem.rendering import standing_text
from amem.storage.rows import AUTHOR, ROLE, Part, coded, columns, conditions, from_plain, from_row, keys_from
from amem.storage.search_tables import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.storage.store import Session

    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]


# On which day something was for the people of a time zone, whose clocks may have been changed on that very day.

#: What a stretch of time is cut into where the clocks were changed within it.
_FINER = {"D": "h", "h": "m", "m": "s"}


def local_days(times: NDArray[np.datetime64], zone: tzinfo) -> NDArray[np.datetime64]:
    """The day (``datetime64[D]``) of each of these times (UTC), in that zone."""
    days = (times + _offsets(times, zone, "D")).astype("datetime64[D]")
    within: NDArray[np.datetime64] = np.clip(days, np.datetime64(date.min), np.datetime64(date.max))
    return within


def _offsets(times: NDArray[np.datetime64], zone: tzinfo, unit: str) -> NDArray[np.timedelta64]:
    """The zone's offset from UTC at each of these times: looked up once a day, and finer on days when it changed."""
    found = np.zeros(len(times), dtype="timedelta64[s]")
    begins, place = np.unique(times.astype(f"datetime64[{unit}]"), return_inverse=True)
    first = [_offset(each, zone) for each in begins.astype("datetime64[s]").tolist()]
    found[:] = np.array(first, dtype="timedelta64[s]")[place] if first else 0
    if unit in _FINER:
        last = [_offset(each, zone) for each in (begins + 1).astype("datetime64[s]").tolist()]
        changed = np.array([one != other for one, other in zip(first, last, strict=True)], dtype=np.bool_)[place]
        if changed.any():
            found[changed] = _offsets(times[changed], zone, _FINER[unit])
    return found


def _offset(moment: datetime | int, zone: tzinfo) -> timedelta:
    if isinstance(moment, int):  # what numpy makes of a time after the last date there is
        return timedelta()
    try:
        return moment.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta()
    except OverflowError:
        return timedelta()


# The orders in which notes are listed: for each the keys of all notes that pass a filter, the foremost first.

Order = Literal["time", "recorded", "strength", "recalls", "importance"]
ORDERS: tuple[Order, ...] = get_args(Order)


def ordered(session: Session, wanted: Filter, order: Order) -> Keys:
    """All that pass the filter: the latest, strongest, most recalled or most important first; of equals the newest."""
    where, values = conditions(wanted)
    if order == "time":
        return keys_from(session, f"SELECT key FROM notes WHERE {where} ORDER BY at DESC, key DESC", **values)
    if order == "importance":
        statement = f"SELECT key, importance FROM notes WHERE {where}"
        held = columns(session, statement, whole=("key",), real=("importance",), **values)
        return _greatest_first(held["key"], held["importance"])
    if order == "strength":
        standings = session.usage.standings_where(where, values)
        return _greatest_first(standings.keys, standings.strength(session.now))
    # Unordered, SQLite reads the narrow index instead of the notes.
    keys = np.sort(keys_from(session, f"SELECT key FROM notes WHERE {where}", **values))[::-1]
    return keys if order == "recorded" else _greatest_first(keys, _recalls(session, keys))


def _recalls(session: Session, keys: Keys) -> NDArray[np.int64]:
    used = columns(session, "SELECT note, recalls FROM usage WHERE recalls > 0", whole=("note", "recalls"))
    by_key = np.zeros(max(keys.max(initial=0), used["note"].max(initial=0)) + 1, dtype=np.int64)
    by_key[used["note"]] = used["recalls"]
    return by_key[keys]


def _greatest_first(keys: Keys, values: NDArray[np.float64] | NDArray[np.int64]) -> Keys:
    return keys[np.lexsort((-keys, -values))]


# Notes as lists show them: the order of all that pass a filter, rows of it, and how many there are of what.
#
# An order is a column of keys, a few bytes a note, so that any place in a list of a million is as near as the first;
# it is read as a column, too (``amem.storage.rows``), since a hundred thousand notes are too many to look at one
# by one.

__all__ = ["ORDERS", "Card", "Cards", "Order", "Shelf"]

#: Characters of a note's text that a list is given.
_SHOWN = 400
_CARDS = (
    "SELECT n.key, n.id, substr(n.content, 1, :shown) AS text, n.kind, n.layer, n.status, n.at, n.recorded_at,"
    " n.pinned, n.overturned, n.speaker, n.analyst, n.enrichment, coalesce(u.recalls, 0) AS recalls,"
    " (SELECT count(*) FROM links WHERE source = n.id) + (SELECT count(*) FROM links WHERE target = n.id) AS links,"
    f" coalesce({AUTHOR}, '') AS author"
    " FROM json_each(:keys) AS asked JOIN notes AS n ON n.key = asked.value"
    " LEFT JOIN usage AS u ON u.note = n.key ORDER BY asked.key"
)
_DELETED = "SELECT key, content, keywords, tags, context FROM notes WHERE status = 'deleted'"


@dataclass(frozen=True, slots=True)
class Card:
    """A note of any status as a list shows it.

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


class Cards(Part):
    """The lists of one transaction."""

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
        keys = ordered(self._session, wanted, order) if every is None else every
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
        rows = self._session.records(_CARDS, keys=keys, shown=_SHOWN)
        standings = self._session.usage.standings([row["key"] for row in rows])
        strength = standings.strength(self._session.now)
        strong = dict(zip(standings.keys.tolist(), strength.tolist(), strict=True))
        return [
            from_row(
                Card,
                row,
                text=standing_text(row["text"], from_plain("overturned", json.loads(row["overturned"]))),
                strength=strong.get(row["key"], 0.0),
            )
            for row in rows
        ]

    def days(self, wanted: Filter, zone: tzinfo) -> dict[date, int]:
        """How many notes that pass the filter speak of each day, in that zone; the first day first."""
        where, values = conditions(wanted)
        statement = f"SELECT at FROM notes WHERE {where} ORDER BY at"
        at = columns(self._session, statement, times=("at",), **values)["at"]
        days, counts = np.unique(local_days(at, zone), return_counts=True)
        return dict(zip(days.tolist(), counts.tolist(), strict=True))

    def _deleted(self, words: Sequence[Typed]) -> NDArray[np.int64]:
        """Keys of the deleted notes that hold all of these words; full text has forgotten them."""
        found = []
        for key, content, keywords, tags, context in self._session.rows(_DELETED):
            note = MemoryNote(content, keywords=json.loads(keywords), tags=json.loads(tags), context=context)
            terms = " ".join(columns_of(note).values()).split()
            if all(word.held_by(terms, content) for word in words):
                found.append(key)
        return np.array(found, dtype=np.int64)


# How many notes there are of each kind, tag, topic, day and so on under conditions, as faceted browsing counts them.
#
# A count says how many notes one would see with that value chosen. What is chosen among values that take each other's
# place, or are alternatives, leaves the other values of its group as they are; tags, of which a note must carry all,
# narrow each other too.
#
# What notes are counted by is read once for all of them (`read_ledger`), a few bytes a note. Which of them meet a
# condition is asked of SQLite, in the words that lists use (``amem.storage.rows``), and counting is one pass of
# numpy: a sixth of a second of grouping and joining for each group otherwise, at a hundred thousand notes.

Value = TypeVar("Value")

_CODED = {"kind": tuple(Kind), "layer": tuple(Layer), "status": tuple(Status)}
_EVERY = (
    "SELECT key, at, "
    + ", ".join(f"{coded(name, values, len(values))} AS {name}" for name, values in _CODED.items())
    + " FROM notes"
)
# No terms are kept of what was deleted: its tags stand in its row.
_TAGGED = (
    "SELECT term, count(*), group_concat(note) FROM ("
    f"SELECT term, note FROM note_terms WHERE role = {ROLE['tag']} AND typeof(note) = 'integer' UNION ALL"
    " SELECT DISTINCT lower(value), notes.key FROM notes, json_each(iif(json_valid(notes.tags), notes.tags, '[]'))"
    " WHERE notes.status = 'deleted') GROUP BY term"
)
# From the topics to their notes, never the other way.
_GATHERED = (
    "SELECT whole.id, count(*), group_concat(part.key) FROM notes AS whole"
    f" CROSS JOIN links ON links.target = whole.id AND links.type = '{LinkType.PART_OF}'"
    " CROSS JOIN notes AS part ON part.id = links.source"
    f" WHERE whole.kind = '{Kind.TOPIC}' AND whole.status = 'active' GROUP BY whole.key"
)
_ANY = Filter(statuses=tuple(Status))
#: What of a filter chooses within each group, and what it is when nothing is chosen there.
_OWN: Mapping[str, Mapping[str, Any]] = {
    "kinds": {"kinds": ()},
    "layers": {"layers": ()},
    "statuses": {"statuses": tuple(Status)},
    "topics": {"part_of": None},
    "days": {"since": None, "until": None},
}


@dataclass(frozen=True, slots=True)
class Census:
    """`notes` pass the filter; of each value there are so many that pass it but for what it chooses in that group.

    Values without any are left out. Tags (case-folded) and topics (by the ids of their notes) have the most first, days
    are those of the collection's time zone that notes speak of, the first one first.
    """

    notes: int
    kinds: Mapping[Kind, int]
    layers: Mapping[Layer, int]
    statuses: Mapping[Status, int]
    tags: Mapping[str, int]
    topics: Mapping[str, int]
    days: Mapping[date, int]


@dataclass(frozen=True, eq=False, slots=True)
class _Group(Generic[Value]):
    """The value in each place by its number; `rows` are the notes there, None for one place for each note."""

    values: Sequence[Value]
    which: NDArray[np.int64]
    rows: NDArray[np.int64] | None = None

    def count(self, passing: Mask) -> dict[Value, int]:
        held = self.which[passing if self.rows is None else passing[self.rows]]
        numbers = np.bincount(held, minlength=len(self.values))[: len(self.values)].tolist()
        return {value: number for value, number in zip(self.values, numbers, strict=True) if number}


@dataclass(frozen=True, eq=False, slots=True)
class Ledger:
    """The values that notes are counted by, as of one value of the change counter; `rows` are their places by key."""

    notes: int
    rows: NDArray[np.int64]
    kinds: _Group[Kind]
    layers: _Group[Layer]
    statuses: _Group[Status]
    tags: _Group[str]
    topics: _Group[str]
    days: _Group[date]

    def census(self, session: Session, wanted: Filter, holding: Keys | None = None) -> Census:
        """Count the notes that pass the filter and are among `holding`, in a session of the same counter."""
        rest = wanted
        chosen: dict[str, Mask] = {}
        for group, free in _OWN.items():
            own = {name: getattr(wanted, name) for name in free}
            if group == "statuses":  # those that notes had then
                own |= {"as_of": wanted.as_of, "known_at": wanted.known_at}
            if (alone := replace(_ANY, **own)) != _ANY:
                chosen[group] = self._passing(session, alone)
            rest = replace(rest, **free)
        others = [] if rest == _ANY else [self._passing(session, rest)]
        others += [] if holding is None else [self._mask(holding)]

        def under(but: str) -> Mask:
            masks = [*others, *(mask for group, mask in chosen.items() if group != but)]
            return reduce(np.logical_and, masks, np.ones(self.notes, dtype=np.bool_))

        every = under("")
        return Census(
            notes=int(every.sum()),
            kinds=self.kinds.count(under("kinds")),
            layers=self.layers.count(under("layers")),
            statuses=self.statuses.count(under("statuses")),
            tags=_most_first(self.tags.count(every)),
            topics=_most_first(self.topics.count(under("topics"))),
            days=self.days.count(under("days")),
        )

    def _passing(self, session: Session, wanted: Filter) -> Mask:
        where, values = conditions(wanted)
        return self._mask(keys_from(session, f"SELECT key FROM notes WHERE {where}", **values))

    def _mask(self, keys: Keys) -> Mask:
        mask = np.zeros(self.notes, dtype=np.bool_)
        mask[self.rows[keys]] = True
        return mask


def read_ledger(session: Session, zone: tzinfo) -> Ledger:
    """Read the ledger of the collection as it is now; days are those of the zone."""
    held = columns(session, _EVERY, whole=("key", *_CODED), times=("at",))
    keys = held["key"]
    rows = np.zeros(keys.max(initial=0) + 1, dtype=np.int64)
    rows[keys] = np.arange(len(keys))
    days, which = np.unique(local_days(held["at"], zone), return_inverse=True)
    return Ledger(
        notes=len(keys),
        rows=rows,
        kinds=_Group(tuple(Kind), held["kind"]),
        layers=_Group(tuple(Layer), held["layer"]),
        statuses=_Group(tuple(Status), held["status"]),
        tags=_carried(session, _TAGGED, rows),
        topics=_carried(session, _GATHERED, rows),
        days=_Group(days.tolist(), which),
    )


def _carried(session: Session, statement: str, rows: NDArray[np.int64]) -> _Group[str]:
    """Values that a note may have several of: the statement gives each with how many notes have it, and which."""
    found = session.rows(statement)
    keys = np.fromstring(",".join(text for _, _, text in found), dtype=np.int64, sep=",")
    which = np.repeat(np.arange(len(found)), [number for _, number, _ in found])
    there = (keys >= 0) & (keys < len(rows))
    return _Group([value for value, _, _ in found], which[there], rows[keys[there]])


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1]))

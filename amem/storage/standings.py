"""Use of notes, and what the formulas of ``amem.strength`` need to know of them, column by column."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from amem import strength
from amem.note import Kind, Layer, Status
from amem.storage.filters import conditions
from amem.storage.rows import moment_or_never, read_time, time_text
from amem.storage.sql_values import coded, columns, listed
from amem.strength import Strength

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.query import Filter
    from amem.storage.store import Session
    from amem.strength import Decay


# What the formulas of ``amem.strength`` need to know of notes, column by column: of a few, or of all at once.

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

_KINDS = tuple(Kind)
_CODES = {str(kind): code for code, kind in enumerate(_KINDS)}
_DAY = np.timedelta64(1, "D")
_USED = "LEFT JOIN usage AS used ON used.note = notes.key"
_LATEST = "max(notes.recorded_at, coalesce(used.last_access, ''))"
_COUNTED = "coalesce(used.recalls, 0) AS recalls, coalesce(used.growth, 1.0) AS growth"
_ABOUT = "coalesce(notes.at, notes.recorded_at)"
# As `_STANDING` has them, for all notes at once.
_AGREED = (
    "SELECT held.note AS key, count(DISTINCT held.who) AS number FROM corroborations AS held"
    " JOIN operations ON operations.id = held.operation WHERE operations.undone_by IS NULL GROUP BY held.note"
)
_DISPUTED = (
    "SELECT notes.key, count(*) AS number FROM links JOIN notes ON notes.id = links.target"
    " LEFT JOIN notes AS against ON against.id = links.source"
    " WHERE links.type = 'contradicts' AND coalesce(against.status, '') <> 'deleted' GROUP BY notes.key"
)


@dataclass(frozen=True)
class Standings:
    """Columns with a row for each note.

    `kinds` are places in ``Kind``, `bases` the days of their stability; `arrived` and `used` (from when on they are
    forgotten: see ``amem.strength.Decay``) are UTC; `reliability` is what trust starts from (0..1), `growth` what uses
    made of stability.
    """

    keys: NDArray[np.int64]
    active: NDArray[np.bool_]
    kinds: NDArray[np.int64]
    bases: Floats
    long_term: NDArray[np.bool_]
    pinned: NDArray[np.bool_]
    importance: Floats
    reliability: Floats
    recalls: Floats
    growth: Floats
    arrived: NDArray[np.datetime64]
    used: NDArray[np.datetime64]
    corroborations: Floats
    contradictions: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, rows: NDArray[np.bool_]) -> Standings:
        """These rows alone."""
        columns = self.__dataclass_fields__
        return Standings(**{name: getattr(self, name)[rows] for name in columns})

    def layered(self, long_term: NDArray[np.bool_]) -> Standings:
        """The same notes in other layers."""
        return replace(self, long_term=long_term)

    def of_kind(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Which notes are of one of these kinds."""
        return np.isin(self.kinds, [_KINDS.index(kind) for kind in kinds])

    @cached_property
    def stability(self) -> Floats:
        """Days; infinite for what does not decay."""
        grown = strength.stability(self.bases, self.growth)
        return np.where(self.pinned, np.inf, grown)

    def idle(self, at: datetime) -> Floats:
        """Days since the later of arrival and last use, of what ages by its own time since then; at least 0."""
        return _days(self.used, at)

    def trust(self, at: datetime) -> Floats:
        """How far each is believed then, 0..1."""
        return strength.trust(self.reliability, _days(self.arrived, at), self.corroborations, self.contradictions)

    def retention(self, at: datetime, decay_rate: float | None) -> Floats:
        """What is remembered of each then, 0..1."""
        beta = np.where(self.long_term, strength.BETA[Layer.LONG_TERM], strength.BETA[Layer.SHORT_TERM])
        return strength.retention(self.idle(at), self.stability, beta, decay_rate=decay_rate)

    def fresh(self, at: datetime) -> Floats:
        """The strength that each would have then if it had just been used or had just arrived."""
        return strength.strength(self.importance, self.trust(at), self.recalls, np.ones(len(self)))

    def strength(self, at: datetime, decay_rate: float | None) -> Floats:
        """The strength of each then."""
        return self.fresh(at) * self.retention(at, decay_rate)

    def terms(self, at: datetime, decay_rate: float | None) -> list[Strength]:
        """As `strength`, each with what makes it so."""
        columns = zip(
            self.importance.tolist(),
            self.trust(at).tolist(),
            self.recalls.tolist(),
            self.idle(at).tolist(),
            self.stability.tolist(),
            self.retention(at, decay_rate).tolist(),
            self.long_term.tolist(),
            strict=True,
        )
        return [
            Strength(
                importance=importance,
                trust=trust,
                recalls=int(recalls),
                age_days=idle,
                stability_days=stability,
                retention=retention,
                layer=Layer.LONG_TERM if long_term else Layer.SHORT_TERM,
                decay_rate=decay_rate,
            )
            for importance, trust, recalls, idle, stability, retention, long_term in columns
        ]


def standings(session: Session, keys: Sequence[int] | None = None) -> Standings:
    """The standing of each of these notes that exists; of every active note when `keys` is None."""
    if keys is None:
        return _of(session.rows(_EVERY), session.decay)
    return _of(session.rows(_SOME, keys=listed(int(key) for key in keys)), session.decay)


def standings_among(session: Session, wanted: Filter) -> Standings:
    """The standing of each note that passes the filter, in no order: column by column, for lists of all there is.

    Times are cut to the second, numbers to 15 digits.
    """
    where, values = conditions(wanted)
    statement = (
        "SELECT notes.key, pinned, importance, reliability, status = 'active' AS active,"
        f" layer = 'long_term' AS long_term, {coded('kind', _KINDS, 0)} AS kinds, {_COUNTED},"
        f" recorded_at AS arrived, {_LATEST} AS used, {_ABOUT} AS about"
        f" FROM notes {_USED} WHERE {where}"
    )
    held = columns(
        session,
        statement,
        whole=("key", "active", "long_term", "pinned", "kinds"),
        real=("importance", "reliability", "recalls", "growth"),
        times=("arrived", "used", "about"),
        **values,
    )
    keys = held.pop("key")
    for name in ("active", "long_term", "pinned"):
        held[name] = held[name].astype(np.bool_)
    for name, query in (("corroborations", _AGREED), ("contradictions", _DISPUTED)):
        counted = columns(session, query, whole=("key", "number"))
        by_key = np.zeros(max(keys.max(initial=0), counted["key"].max(initial=0)) + 1)
        by_key[counted["key"]] = counted["number"]
        held[name] = by_key[keys]
    held["growth"] = _grown(held["growth"])
    held["bases"], held["used"] = _paced(session.decay, held["kinds"], held["used"], held.pop("about"))
    return Standings(keys=keys, **held)


_STANDING = (
    f"SELECT notes.key, status, kind, layer, pinned, importance, reliability, {_COUNTED}, recorded_at,"
    f" {_LATEST}, {_ABOUT},"
    # What was undone counts no more, and counts again when it is redone.
    " (SELECT count(DISTINCT held.who) FROM corroborations AS held JOIN operations ON operations.id = held.operation"
    " WHERE held.note = notes.key AND operations.undone_by IS NULL),"
    # Nor does a witness that was deleted.
    " (SELECT count(*) FROM links LEFT JOIN notes AS against ON against.id = links.source"
    " WHERE links.target = notes.id AND links.type = 'contradicts' AND coalesce(against.status, '') <> 'deleted')"
    f" FROM notes {_USED} "
)
_SOME = _STANDING + "WHERE notes.key IN (SELECT value FROM json_each(:keys))"
_EVERY = _STANDING + "WHERE notes.status = 'active' ORDER BY notes.key"


def _paced(
    decay: Decay, kinds: NDArray[np.int64], used: NDArray[np.datetime64], about: NDArray[np.datetime64]
) -> tuple[Floats, NDArray[np.datetime64]]:
    """The base of each note's stability in days, and from when on it is forgotten."""
    bases = np.array([decay.days(kind) for kind in _KINDS])
    own = np.array([decay.own_time(kind) for kind in _KINDS])
    return bases[kinds], np.where(own[kinds], about, used)


def _of(rows: Sequence[tuple[Any, ...]], decay: Decay) -> Standings:
    columns = list(zip(*rows, strict=True)) or [()] * 14
    keys, states, named, layers, pinned, importance, reliability, recalls, growth, *rest = columns
    arrived, latest, about, agreed, disputed = rest
    kinds = np.array([_CODES.get(kind, 0) for kind in named], dtype=np.int64)
    bases, used = _paced(decay, kinds, _moments(latest), _moments(about))
    return Standings(
        keys=np.array(keys, dtype=np.int64),
        active=np.array([state == Status.ACTIVE for state in states], dtype=np.bool_),
        kinds=kinds,
        bases=bases,
        long_term=np.array([layer == Layer.LONG_TERM for layer in layers], dtype=np.bool_),
        pinned=_numbers(pinned) != 0,
        importance=_numbers(importance),
        reliability=_numbers(reliability),
        recalls=_numbers(recalls),
        growth=_grown(_numbers(growth)),
        arrived=_moments(arrived),
        used=used,
        corroborations=np.array(agreed, dtype=np.float64),
        contradictions=np.array(disputed, dtype=np.float64),
    )


def _numbers(values: Sequence[Any]) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, TypeError):  # one of a row that cannot be read
        return np.array([each if isinstance(each, int | float) else 0.0 for each in values], dtype=np.float64)


def _grown(growth: Floats) -> Floats:
    """How much each grew; what cannot be so did not grow."""
    return np.where(growth > 0, growth, 1.0)


def _moments(texts: Sequence[str]) -> NDArray[np.datetime64]:
    # numpy's times have no zone and want none: all that is stored is UTC.
    try:
        return np.array([text[:-1] for text in texts], dtype="datetime64[us]")
    except (ValueError, TypeError):  # one of a row that cannot be read
        return np.array(
            [moment_or_never(text).astimezone(UTC).replace(tzinfo=None) for text in texts], dtype="datetime64[us]"
        )


def _days(since: NDArray[np.datetime64], at: datetime) -> Floats:
    moment = np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
    days: Floats = (moment - since) / _DAY
    return np.maximum(days, 0.0)


# What was recalled, how often and when: best effort, at most once per note and day, never versioned.

#: Uses that bring an archived note back.
_CALLED_FOR = 2
_TOUCH = (
    "INSERT INTO usage (note, recalls, last_access, growth, since_archived)"
    " SELECT notes.key, 1, :now, :growth, notes.status = 'archived'"
    " FROM notes JOIN json_each(:keys) AS used ON notes.key = used.value WHERE true"
    " ON CONFLICT (note) DO UPDATE SET recalls = recalls + 1, last_access = :now, growth = growth * :growth,"
    " since_archived = CASE excluded.since_archived WHEN 0 THEN 0 ELSE since_archived + 1 END"
    " WHERE last_access < :today"
    " RETURNING note, since_archived"
)


class Usage:
    """The usage counters of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def touch(self, keys: Sequence[int]) -> int:
        """Count one use today for each of these notes; returns how many had not been counted today.

        An archived note that is used for the second time since it was archived comes back, as an operation of its own.
        """
        if not keys:
            return 0
        now = time_text(self._session.now)
        used = json.dumps(sorted({int(key) for key in keys}))
        given = {"keys": used, "now": now, "today": now[:10], "growth": strength.USE_GROWTH}
        counted = self._session.rows(_TOUCH, **given)
        self._bring_back(counted)
        return len(counted)

    def latest(self) -> datetime | None:
        """When anything was last written, or a note last used; None of an empty collection."""
        sql = "SELECT max(at) FROM (SELECT max(at) AS at FROM operations UNION ALL SELECT max(last_access) FROM usage)"
        return read_time(self._session.value(sql))

    def archived(self, key: int) -> None:
        """Begin to count anew the uses that would bring this note back."""
        self._session.update("usage", {"since_archived": 0}, note=key)

    def carry_over(self, key: int, recalls: int, last_access: str, *, growth: float = 1.0) -> None:
        """Start a note's counters from what was counted elsewhere: by another program, of the notes it was made of."""
        row = {"note": key, "recalls": recalls, "last_access": last_access, "growth": growth, "since_archived": 0}
        self._session.insert("usage", row)

    def standings(self, keys: Sequence[int] | None = None) -> Standings:
        """What ``amem.strength`` needs to know of these notes; of every active one when `keys` is None."""
        return standings(self._session, keys)

    def _bring_back(self, counted: Sequence[tuple[int, int]]) -> None:
        called_for = [note for note, since_archived in counted if since_archived >= _CALLED_FOR]
        for id in self._session.notes.ids_of(called_for).values() if called_for else ():
            operation = self._session.begin("return", "amem", "recalled twice since it was archived")
            self._session.notes.change(id, {"status": str(Status.ACTIVE)}, operation)

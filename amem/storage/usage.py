"""Use of notes, counted at most once a day and never versioned; and their standing, as ``amem.strength`` needs it.

NumPy is imported by what fills columns: what only counts uses, or reads a list of notes, needs none of it."""

from __future__ import annotations

import logging
import math
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from amem import strength
from amem.errors import StorageBusy, StorageFull, StorageReadOnly
from amem.note import Kind, Layer, Status
from amem.storage.rows import Part, coded, columns, moment_or_never, patched, read_time, time_text
from amem.strength import USE_GROWTH, Strength, stability, trust

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.clock import Clock
    from amem.storage.store import Session, Store

    Floats = NDArray[np.float64]


logger = logging.getLogger("amem.retrieval")

#: What is counted of a note, and who speaks for and against it.
USED = "LEFT JOIN usage AS used ON used.note = notes.key"
COUNTED = "coalesce(used.recalls, 0) AS recalls, coalesce(used.growth, 1.0) AS growth"
WITNESSES = (
    # What was undone counts no more, and counts again when it is redone.
    " (SELECT count(DISTINCT held.who) FROM corroborations AS held JOIN operations ON operations.id = held.operation"
    " WHERE held.note = notes.key AND operations.undone_by IS NULL) AS corroborations,"
    # Nor does a witness that was deleted.
    " (SELECT count(*) FROM links LEFT JOIN notes AS against ON against.id = links.source"
    " WHERE links.target = notes.id AND links.type = 'contradicts' AND coalesce(against.status, '') <> 'deleted')"
    " AS contradictions"
)
_BELIEVED = (
    f"SELECT notes.key, kind, pinned, reliability, {COUNTED}, recorded_at, {WITNESSES} FROM notes {USED}"
    " WHERE notes.key IN :keys"
)
#: Longest that an answer waits for its use to be counted, in seconds.
_PATIENCE = 0.25
#: Uses that bring an archived note back.
_CALLED_FOR = 2
_DAY = timedelta(days=1)
_TOUCH = (
    "INSERT INTO usage (note, recalls, last_access, growth, since_archived)"
    " SELECT notes.key, 1, :now, :growth, notes.status = 'archived'"
    " FROM notes JOIN json_each(:keys) AS used ON notes.key = used.value WHERE true"
    " ON CONFLICT (note) DO UPDATE SET recalls = recalls + 1, last_access = :now, growth = growth * :growth,"
    " since_archived = CASE excluded.since_archived WHEN 0 THEN 0 ELSE since_archived + 1 END"
    " WHERE last_access < :today RETURNING note, since_archived"
)


class Usage(Part):
    """The usage counters of one transaction."""

    def touch(self, keys: Sequence[int]) -> int:
        """Count one use today for each of these notes; returns how many had not been counted today.

        An archived note that is used for the second time since it was archived comes back, as an operation of its own.
        """
        if not keys:
            return 0
        now = self._session.now
        today = time_text(now)[:10]
        counted = self._session.rows(_TOUCH, keys=sorted(set(keys)), now=now, today=today, growth=USE_GROWTH)
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

    def beliefs(self, keys: Sequence[int]) -> dict[int, tuple[float, float]]:
        """The stability in days and the trust (0..1) of each of these notes now, by its key."""
        found = {}
        now, decay = self._session.now, self._session.decay
        for key, kind, pinned, reliability, _, growth, arrived, agreed, disputed in self._session.rows(
            _BELIEVED, keys=keys
        ):
            base = decay.days(Kind(kind) if kind in _CODES else Kind.EPISODE)
            age = max(0.0, (now - moment_or_never(arrived)) / _DAY)
            grown = growth if _number(growth) > 0 else 1.0
            stays = math.inf if pinned else stability(base, grown)
            found[key] = stays, trust(_number(reliability), age, float(agreed), float(disputed))
        return found

    def standings(self, keys: Sequence[int] | None = None) -> Standings:
        """The standing of these notes, for ``amem.strength``; of every active one when `keys` is None.

        Of those that there are, in no order. Times are cut to the second, numbers to 15 digits.
        """
        if keys is None:
            return self.standings_where("status = 'active' ORDER BY notes.key", {})
        return self.standings_where("notes.key IN :keys", {"keys": keys}, few=True)

    def standings_where(self, where: str, values: Mapping[str, Any], *, few: bool = False) -> Standings:
        """As `standings` of the notes that meet a condition; of `few` the witnesses are looked up one by one."""
        import numpy as np

        named = ("corroborations", "contradictions")
        statement = (
            "SELECT notes.key, pinned, importance, reliability, status = 'active' AS active,"
            f" layer = 'long_term' AS long_term, {coded('kind', _KINDS, 0)} AS kinds, {COUNTED},"
            f" recorded_at AS arrived, {_LATEST} AS used, {_ABOUT} AS about{f', {WITNESSES}' if few else ''}"
            f" FROM notes {USED} WHERE {where}"
        )
        held = columns(
            self._session,
            statement,
            whole=("key", "active", "long_term", "pinned", "kinds"),
            real=("importance", "reliability", "recalls", "growth", *(named if few else ())),
            times=("arrived", "used", "about"),
            **values,
        )
        keys = held.pop("key")
        for name in ("active", "long_term", "pinned"):
            held[name] = held[name].astype(np.bool_)
        for name, query in () if few else zip(named, (_AGREED, _DISPUTED), strict=True):
            counted = columns(self._session, query, whole=("key", "number"))
            by_key = np.zeros(max(keys.max(initial=0), counted["key"].max(initial=0)) + 1)
            by_key[counted["key"]] = counted["number"]
            held[name] = by_key[keys]
        held["growth"] = np.where(held["growth"] > 0, held["growth"], 1.0)  # what cannot be so did not grow
        decay = self._session.decay
        bases, own = (np.array([of(kind) for kind in _KINDS]) for of in (decay.days, decay.own_time))
        held["used"] = np.where(own[held["kinds"]], held.pop("about"), held["used"])
        return Standings(keys=keys, bases=bases[held["kinds"]], **held, decay_rate=decay.rate)

    def _bring_back(self, counted: Sequence[tuple[int, int]]) -> None:
        called_for = [note for note, since_archived in counted if since_archived >= _CALLED_FOR]
        for id in self._session.notes.ids_of(called_for).values() if called_for else ():
            operation = self._session.begin("return", "amem", "recalled twice since it was archived")
            self._session.notes.change(id, {"status": str(Status.ACTIVE)}, operation)


def _number(value: Any) -> float:
    """A value, 0 where a damaged row holds none."""
    return value if isinstance(value, int | float) else 0.0


class Uses:
    """Counts at most one use per note and day; remembers today's, so that most searches write nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._day = ""
        self._counted: set[int] = set()

    def count(self, keys: Sequence[int]) -> None:
        """Count these notes as used; nothing happens in a collection that cannot be written now."""
        fresh = self._fresh(keys)
        if not fresh or self._store.read_only:
            return
        try:
            with self._store.write(wait=_PATIENCE) as session:
                session.usage.touch(fresh)
        except (StorageBusy, StorageFull, StorageReadOnly) as error:
            logger.warning("the use of %d notes was not counted: %s", len(fresh), error)
            return
        with self._lock:
            self._counted.update(fresh)

    def opened(self, ids: Sequence[str]) -> None:
        """Count notes that were read by their id as used."""
        with self._store.read() as session:
            keys = list(session.notes.keys_of(ids).values())
        self.count(keys)

    def _fresh(self, keys: Sequence[int]) -> list[int]:
        today = self._clock.now().date().isoformat()
        with self._lock:
            if today != self._day:
                self._day, self._counted = today, set()
            return [key for key in dict.fromkeys(keys) if key not in self._counted]


# What the formulas need to know of notes, column by column: of a few, or of all at once.

_KINDS = tuple(Kind)
_CODES = {str(kind): code for code, kind in enumerate(_KINDS)}
_LATEST = "max(notes.recorded_at, coalesce(used.last_access, ''))"
_ABOUT = "coalesce(notes.at, notes.recorded_at)"
# As `WITNESSES` has them, for all notes at once.
_AGREED = (
    "SELECT held.note AS key, count(DISTINCT held.who) AS number FROM corroborations AS held"
    " JOIN operations ON operations.id = held.operation WHERE operations.undone_by IS NULL GROUP BY held.note"
)
_DISPUTED = (
    "SELECT notes.key, count(*) AS number FROM links JOIN notes ON notes.id = links.target"
    " LEFT JOIN notes AS against ON against.id = links.source"
    " WHERE links.type = 'contradicts' AND coalesce(against.status, '') <> 'deleted' GROUP BY notes.key"
)


_STATUSES = tuple(Status)
_STATES = f"SELECT key, {coded('status', _STATUSES, -1)} AS status, {coded('kind', _KINDS, -1)} AS kind FROM notes"


@dataclass(frozen=True, slots=True)
class States:
    """The status and the kind of notes by key, as places in ``Status`` and ``Kind``; 2 bytes a note.

    As of the value `seq` of the change counter; -1 for a key without a note.
    """

    seq: int
    statuses: NDArray[np.int8]
    kinds: NDArray[np.int8]

    @classmethod
    def of(cls, session: Session, held: States | None = None) -> States:
        """The states of all notes that the session sees: `held` as it is, or brought up to date."""

        if held is None or held.seq > session.counter:
            # By the index that holds all of it, and not from the notes themselves.
            return cls._of_none(session)._with(session, "INDEXED BY notes_at")
        if held.seq == session.counter:
            return held
        gone = session.vectors.states(held.seq)[0]
        return held._with(session, "WHERE seq > :after", gone=gone, after=held.seq)

    @classmethod
    def of_some(cls, session: Session, keys: NDArray[np.int64]) -> States:
        """The states of these notes alone."""
        return cls._of_none(session)._with(session, "WHERE key IN :keys", keys=keys.tolist())

    @classmethod
    def _of_none(cls, session: Session) -> States:
        import numpy as np

        none = np.empty(0, dtype=np.int8)
        return cls(session.counter, none, none)

    def active(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these notes are active."""
        found: NDArray[np.bool_] = _at(self.statuses, keys) == _STATUSES.index(Status.ACTIVE)
        return found

    def of_kind(self, kind: Kind, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these notes are of that kind."""
        found: NDArray[np.bool_] = _at(self.kinds, keys) == _KINDS.index(kind)
        return found

    def _with(self, session: Session, which: str, *, gone: NDArray[np.int64] | None = None, **given: Any) -> States:
        read = columns(session, f"{_STATES} {which}", whole=("key", "status", "kind"), **given)
        held = (
            patched(column, read["key"], read[name], gone)
            for column, name in ((self.statuses, "status"), (self.kinds, "kind"))
        )
        return States(session.counter, *held)


def _at(column: NDArray[np.int8], keys: NDArray[np.int64]) -> NDArray[np.int8]:
    """The value of each key; -1 for one beyond the last."""
    import numpy as np

    found = np.full(len(keys), -1, dtype=np.int8)
    known = keys < len(column)
    found[known] = column[keys[known]]
    return found


@dataclass(frozen=True)
class Standings:
    """Columns with a row for each note.

    `kinds` are places in ``Kind``, `bases` the days of their stability; `arrived` and `used` (from when on they are
    forgotten: see ``amem.strength.Decay``) are UTC; `reliability` is what trust starts from (0..1), `growth` what uses
    made of stability. `decay_rate` is that of all, if there is one.
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
    decay_rate: float | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, rows: NDArray[np.bool_]) -> Standings:
        """These rows alone."""
        columns = self.__dataclass_fields__.keys() - {"decay_rate"}
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def layered(self, long_term: NDArray[np.bool_]) -> Standings:
        """The same notes in other layers."""
        return replace(self, long_term=long_term)

    def of_kind(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Which notes are of one of these kinds."""
        import numpy as np

        return np.isin(self.kinds, [_KINDS.index(kind) for kind in kinds])

    @cached_property
    def stability(self) -> Floats:
        """Days; infinite for what does not decay."""
        import numpy as np

        grown = strength.stability(self.bases, self.growth)
        return np.where(self.pinned, np.inf, grown)

    def idle(self, at: datetime) -> Floats:
        """Days since the later of arrival and last use, of what ages by its own time since then; at least 0."""
        return _days(self.used, at)

    def trust(self, at: datetime) -> Floats:
        """How far each is believed then, 0..1."""
        return strength.trust(self.reliability, _days(self.arrived, at), self.corroborations, self.contradictions)

    def retention(self, at: datetime) -> Floats:
        """The share of each that is still remembered then, 0..1."""
        import numpy as np

        beta = np.where(self.long_term, strength.BETA[Layer.LONG_TERM], strength.BETA[Layer.SHORT_TERM])
        return strength.retention(self.idle(at), self.stability, beta, decay_rate=self.decay_rate)

    def fresh(self, at: datetime) -> Floats:
        """The strength that each would have then if it had just been used or had just arrived."""
        import numpy as np

        return strength.strength(self.importance, self.trust(at), self.recalls, np.ones(len(self)))

    def strength(self, at: datetime) -> Floats:
        """The strength of each then."""
        return self.fresh(at) * self.retention(at)

    def terms(self, at: datetime) -> list[Strength]:
        """As `strength`, each with what makes it so."""
        layers = (Layer.LONG_TERM if long_term else Layer.SHORT_TERM for long_term in self.long_term.tolist())
        held = (self.trust(at), self.recalls.astype(int), self.idle(at), self.stability, self.retention(at))
        made = partial(Strength, decay_rate=self.decay_rate)
        return [*map(made, self.importance.tolist(), *(column.tolist() for column in held), layers)]


def _days(since: NDArray[np.datetime64], at: datetime) -> Floats:
    import numpy as np

    moment = np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
    days: Floats = (moment - since) / np.timedelta64(1, "D")
    return np.maximum(days, 0.0)

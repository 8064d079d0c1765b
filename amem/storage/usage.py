"""Use of notes: what was recalled, how often and when. Best effort, at most once per note and day, never versioned."""

from __future__ import annotations

import json
import logging
import math
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from amem.errors import StorageBusy, StorageFull, StorageReadOnly
from amem.note import Kind, Status
from amem.storage.rows import listed, moment_or_never, read_time, time_text
from amem.strength import USE_GROWTH, stability, trust

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.clock import Clock
    from amem.storage.standings import Standings
    from amem.storage.store import Session, Store

logger = logging.getLogger("amem.retrieval")

#: What is counted of a note, and who speaks for and against it.
USED = "LEFT JOIN usage AS used ON used.note = notes.key"
COUNTED = "coalesce(used.recalls, 0) AS recalls, coalesce(used.growth, 1.0) AS growth"
WITNESSES = (
    # What was undone counts no more, and counts again when it is redone.
    " (SELECT count(DISTINCT held.who) FROM corroborations AS held JOIN operations ON operations.id = held.operation"
    " WHERE held.note = notes.key AND operations.undone_by IS NULL),"
    # Nor does a witness that was deleted.
    " (SELECT count(*) FROM links LEFT JOIN notes AS against ON against.id = links.source"
    " WHERE links.target = notes.id AND links.type = 'contradicts' AND coalesce(against.status, '') <> 'deleted')"
)
_BELIEVED = (
    f"SELECT notes.key, kind, pinned, reliability, {COUNTED}, recorded_at, {WITNESSES} FROM notes {USED}"
    " WHERE notes.key IN (SELECT value FROM json_each(:keys))"
)
#: Longest that an answer waits for its use to be counted, in seconds.
_PATIENCE = 0.25
#: Uses that bring an archived note back.
_CALLED_FOR = 2
_DAY = timedelta(days=1)
_KINDS = frozenset(map(str, Kind))
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
        given = {"keys": used, "now": now, "today": now[:10], "growth": USE_GROWTH}
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

    def beliefs(self, keys: Sequence[int]) -> dict[int, tuple[float, float]]:
        """The stability in days and the trust (0..1) of each of these notes now, by its key."""
        found = {}
        now, decay = self._session.now, self._session.decay
        for key, kind, pinned, reliability, _, growth, arrived, agreed, disputed in self._session.rows(
            _BELIEVED, keys=listed(int(key) for key in keys)
        ):
            base = decay.days(Kind(kind) if kind in _KINDS else Kind.EPISODE)
            age = max(0.0, (now - moment_or_never(arrived)) / _DAY)
            grown = growth if _number(growth) > 0 else 1.0
            stays = math.inf if pinned else stability(base, grown)
            found[key] = stays, trust(_number(reliability), age, float(agreed), float(disputed))
        return found

    def standings(self, keys: Sequence[int] | None = None) -> Standings:
        """What ``amem.strength`` needs to know of these notes; of every active one when `keys` is None."""
        from amem.storage.standings import standings

        return standings(self._session, keys)

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

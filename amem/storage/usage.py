"""What was recalled, how often and when: best effort, at most once per note and day, never versioned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, text, update

from amem import strength
from amem.note import Status
from amem.storage import tables
from amem.storage.rows import time_text
from amem.storage.standings import Standings, standings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from amem.storage.session import Session

_USAGE = tables.usage
#: Uses that bring an archived note back.
_CALLED_FOR = 2
_TOUCH = text(
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
        self._run = session.connection.execute

    def touch(self, keys: Sequence[int]) -> int:
        """Count one use today for each of these notes; returns how many had not been counted today.

        An archived note that is used for the second time since it was archived comes back, as an operation of its own.
        """
        if not keys:
            return 0
        now = time_text(self._session.now)
        used = json.dumps(sorted({int(key) for key in keys}))
        given = {"keys": used, "now": now, "today": now[:10], "growth": strength.USE_GROWTH}
        counted = self._run(_TOUCH, given).all()
        self._bring_back(counted)
        return len(counted)

    def archived(self, key: int) -> None:
        """Begin to count anew the uses that would bring this note back."""
        self._run(update(_USAGE).where(_USAGE.c.note == key).values(since_archived=0))

    def carry_over(self, key: int, recalls: int, last_access: str, *, growth: float = 1.0) -> None:
        """Start a note's counters from what was counted elsewhere: by another program, of the notes it was made of."""
        self._run(insert(_USAGE).values(note=key, recalls=recalls, last_access=last_access, growth=growth))

    def standings(self, keys: Sequence[int] | None = None) -> Standings:
        """What ``amem.strength`` needs to know of these notes; of every active one when `keys` is None."""
        return standings(self._session, keys)

    def _bring_back(self, counted: Sequence[Row[Any]]) -> None:
        called_for = [row.note for row in counted if row.since_archived >= _CALLED_FOR]
        for id in self._session.notes.ids_of(called_for).values():
            operation = self._session.begin("return", "amem", "recalled twice since it was archived")
            self._session.notes.change(id, {"status": str(Status.ACTIVE)}, operation)

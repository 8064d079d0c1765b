"""What was recalled, how often and when: best effort, at most once per note and day, never versioned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, text

from amem import strength
from amem.storage import tables
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage.session import Session

_USAGE = tables.usage


class Usage:
    """The usage counters of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def touch(self, keys: Sequence[int]) -> int:
        """Count one use today for each of these notes; returns how many had not been counted today."""
        if not keys:
            return 0
        now = time_text(self._session.now)
        fresh = self._not_yet_today([int(key) for key in keys], now[:10])
        if not fresh:
            return 0
        statement = text(
            "INSERT INTO usage (note, recalls, last_access, growth) VALUES (:note, 1, :now, :grown)"
            " ON CONFLICT (note) DO UPDATE SET recalls = recalls + 1, last_access = :now, growth = growth * :grown"
        ).bindparams(bindparam("now", now), bindparam("grown", strength.grown(1.0)))
        self._run(statement, [{"note": key} for key in fresh])
        return len(fresh)

    def carry_over(self, key: int, recalls: int, last_access: str) -> None:
        """Start a note's counters from what another program had counted."""
        self._run(insert(_USAGE).values(note=key, recalls=recalls, last_access=last_access, growth=1.0))

    def _not_yet_today(self, keys: Sequence[int], day: str) -> list[int]:
        counted = self._run(select(_USAGE.c.note).where(_USAGE.c.note.in_(keys), _USAGE.c.last_access >= day)).scalars()
        done = set(counted)
        return [key for key in dict.fromkeys(keys) if key not in done]

"""What was recalled, how often and when: best effort, at most once per note and day, never versioned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, text

from amem import strength
from amem.note import Kind, Layer, LinkType
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.hydrate import age_days
from amem.storage.rows import read_time, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Select

    from amem.storage.session import Session

_USAGE = tables.usage


def _standing() -> Select[Any]:
    notes, links, witnesses, operations = tables.notes, tables.links, tables.corroborations, tables.operations
    agreed = (
        select(func.count())
        .select_from(witnesses.join(operations, operations.c.id == witnesses.c.operation))
        .where(witnesses.c.note == notes.c.key, operations.c.undone_by.is_(None))
        .scalar_subquery()
    )
    disputed = (
        select(func.count())
        .where(links.c.target == notes.c.id, links.c.type == str(LinkType.CONTRADICTS))
        .scalar_subquery()
    )
    return (
        select(notes.c.key, notes.c.kind, notes.c.layer, notes.c.pinned, notes.c.reliability, notes.c.recorded_at)
        .add_columns(_USAGE.c.recalls, _USAGE.c.growth, _USAGE.c.last_access)
        .add_columns(agreed.label("agreed"), disputed.label("disputed"))
        .select_from(notes.outerjoin(_USAGE, _USAGE.c.note == notes.c.key))
        .where(notes.c.key.in_(bindparam("keys", expanding=True)))
    )


# Built once, as it is on the path of every search.
_STANDING = _standing()


@dataclass(frozen=True, slots=True)
class Standing:
    """What the formulas of ``amem.strength`` need to know of a note; `age_days` since arrival, `idle_days` since the
    later of arrival and last use."""

    kind: Kind
    layer: Layer
    pinned: bool
    reliability: float
    recalls: int
    growth: float
    age_days: float
    idle_days: float
    corroborations: int
    contradictions: int


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

    def standing(self, keys: Sequence[int]) -> dict[int, Standing]:
        """The standing of each of these notes that exists."""
        found: dict[int, Standing] = {}
        for some in chunks([int(key) for key in keys]):
            for row in self._run(_STANDING, {"keys": some}):
                age = age_days(read_time(row.recorded_at), self._session.now)
                used = row.last_access is not None
                found[row.key] = Standing(
                    kind=Kind(row.kind),
                    layer=Layer(row.layer),
                    pinned=bool(row.pinned),
                    reliability=row.reliability,
                    recalls=row.recalls if used else 0,
                    growth=row.growth if used else 1.0,
                    age_days=age,
                    idle_days=min(age, age_days(read_time(row.last_access), self._session.now)) if used else age,
                    corroborations=row.agreed,
                    contradictions=row.disputed,
                )
        return found

    def _not_yet_today(self, keys: Sequence[int], day: str) -> list[int]:
        counted = self._run(select(_USAGE.c.note).where(_USAGE.c.note.in_(keys), _USAGE.c.last_access >= day)).scalars()
        done = set(counted)
        return [key for key in dict.fromkeys(keys) if key not in done]

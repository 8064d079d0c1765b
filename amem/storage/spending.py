"""What model calls cost, by day and model: kept with the collection, so that a budget holds over processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, select, text

from amem.storage import tables

if TYPE_CHECKING:
    from amem.storage.session import Session

_SPENDING = tables.spending
_ADD = text(
    "INSERT INTO spending (day, model, calls, tokens_in, tokens_out)"
    " VALUES (:day, :model, :calls, :tokens_in, :tokens_out)"
    " ON CONFLICT (day, model) DO UPDATE SET calls = calls + :calls,"
    " tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out"
)
_TOKENS = select(func.coalesce(func.sum(_SPENDING.c.tokens_in + _SPENDING.c.tokens_out), 0)).where(
    _SPENDING.c.day == bindparam("on")
)


@dataclass(frozen=True, slots=True)
class DaySpent:
    """What one model cost on one day (``2026-03-01``, in the collection's time zone)."""

    day: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int


class Spending:
    """The spending rows of one transaction. Not versioned and not in the change counter: no note changes."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def add(self, day: str, model: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Add to what a model cost on a day."""
        row = {"day": day, "model": model, "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}
        self._run(_ADD, row)

    def of(self, day: str) -> int:
        """Tokens that all models together read and wrote on that day."""
        return int(self._run(_TOKENS, {"on": day}).scalar_one())

    def report(self, days: int) -> list[DaySpent]:
        """The newest `days` days on which anything was spent, newest first, models by name."""
        newest = select(_SPENDING.c.day).distinct().order_by(_SPENDING.c.day.desc()).limit(days)
        rows = self._run(
            select(_SPENDING).where(_SPENDING.c.day.in_(newest)).order_by(_SPENDING.c.day.desc(), _SPENDING.c.model)
        )
        return [DaySpent(row.day, row.model, row.calls, row.tokens_in, row.tokens_out) for row in rows]

"""What model calls cost: by day and model, and for each add, chat turn and `remember`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, select, text

from amem.storage import tables

if TYPE_CHECKING:
    from amem.storage.store import Session


# What one add, one chat turn and one `remember` cost in model calls: sums since the collection was begun.

_META = tables.meta
_TURNS = tables.turns
#: What calls are made for: a note that is added, learning from a chat turn, a conversation that is remembered, and the
#: drafts of merged notes in one run of maintenance.
ADD, LEARNING, REMEMBER, MERGING = "add", "chat learning", "remember", "merging"
#: The answers of chats are counted where the turns are kept.
ANSWER = "chat answer"


@dataclass(frozen=True, slots=True)
class PurposeCost:
    """Calls and tokens that `times` pieces of work for one purpose took; `most_calls` is the most that one took."""

    purpose: str
    times: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    most_calls: int = 0


class Costs:
    """The costs by purpose, in one transaction. Not versioned and not in the change counter: no note changes."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def add(self, purpose: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        """Count one piece of work."""
        held = self._of(purpose)
        now = PurposeCost(
            purpose,
            held.times + 1,
            held.calls + calls,
            held.tokens_in + tokens_in,
            held.tokens_out + tokens_out,
            max(held.most_calls, calls),
        )
        self._run(_META.delete().where(_META.c.key == _key(purpose)))
        self._run(_META.insert().values(key=_key(purpose), value=json.dumps(asdict(now))))

    def report(self) -> list[PurposeCost]:
        """Every purpose that anything was spent on."""
        columns = (func.count(), func.sum(_TURNS.c.tokens_in), func.sum(_TURNS.c.tokens_out))
        answered = self._run(select(*columns).where(_TURNS.c.tokens_in > 0)).one()
        answers = PurposeCost(ANSWER, answered[0], answered[0], answered[1] or 0, answered[2] or 0, 1)
        found = [self._of(ADD), answers, self._of(LEARNING), self._of(REMEMBER), self._of(MERGING)]
        return [each for each in found if each.times]

    def _of(self, purpose: str) -> PurposeCost:
        value = self._run(select(_META.c.value).where(_META.c.key == _key(purpose))).scalar()
        return PurposeCost(**json.loads(value)) if value else PurposeCost(purpose)


def _key(purpose: str) -> str:
    return f"cost {purpose}"


# What model calls cost, by day and model: kept with the collection, so that a budget holds over processes.

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
